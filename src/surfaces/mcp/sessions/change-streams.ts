import { AsyncLocalStorage } from "node:async_hooks";

import type { ServerEvent, ServerEventBus } from "@modelcontextprotocol/server";

type OnEvent = (event: ServerEvent) => void;

/** Begins to send events to a client that listens; returns what stops that. */
type Follow = (send: OnEvent) => () => void;

/**
 * The streams on which clients of 2026-07-28 listen. The SDK knows one source of events for all of them; here each stream gets the
 * events of its own client.
 */
export class ChangeStreams implements ServerEventBus {
  readonly #opening = new AsyncLocalStorage<Follow>();
  readonly #streams = new Set<OnEvent>();

  /** Answers the request by which a client begins to listen. */
  open<Answer>(follow: Follow, answer: () => Answer): Answer {
    return this.#opening.run(follow, answer);
  }

  /** Sends an event to every client. */
  publish(event: ServerEvent): void {
    for (const send of this.#streams) send(event);
  }

  /** Is called by the SDK for each stream, while the request that opens it is answered. */
  subscribe(send: OnEvent): () => void {
    this.#streams.add(send);
    const stop = this.#opening.getStore()?.(send);
    return () => {
      this.#streams.delete(send);
      stop?.();
    };
  }
}
