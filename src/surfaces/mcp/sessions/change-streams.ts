import type { ServerEvent, ServerEventBus } from "@modelcontextprotocol/server";

type OnEvent = (event: ServerEvent) => void;

/** Begins to send events to a client that listens; returns what stops that. */
type Follow = (send: OnEvent) => () => void;

/**
 * The streams on which clients of 2026-07-28 listen. The SDK knows one source of events for all of them; here each stream gets the
 * events of its own client.
 */
export class ChangeStreams implements ServerEventBus {
  readonly #streams = new Set<OnEvent>();
  /** The function of the request that the SDK answers now. */
  #opening: Follow | undefined;
  #lastOpened: Promise<unknown> = Promise.resolve();

  /**
   * Answers the request by which a client begins to listen. One at a time, because the SDK does not say for which of them it
   * subscribes; it waits for nothing before it does.
   */
  open<Answer>(follow: Follow, answer: () => Promise<Answer>): Promise<Answer> {
    const opened = this.#lastOpened.then(() => this.#answer(follow, answer));
    this.#lastOpened = opened.catch(() => undefined);
    return opened;
  }

  /** Sends an event to every client. */
  publish(event: ServerEvent): void {
    for (const send of this.#streams) send(event);
  }

  /** Is called by the SDK for each stream, while the request that opens it is answered. */
  subscribe(send: OnEvent): () => void {
    this.#streams.add(send);
    const stop = this.#opening?.(send);
    return () => {
      this.#streams.delete(send);
      stop?.();
    };
  }

  async #answer<Answer>(follow: Follow, answer: () => Promise<Answer>): Promise<Answer> {
    this.#opening = follow;
    try {
      return await answer();
    } finally {
      this.#opening = undefined;
    }
  }
}
