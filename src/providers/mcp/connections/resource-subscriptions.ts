import type { Client, McpSubscription, StandardSchemaV1 } from "@modelcontextprotocol/client";

import { isRecord } from "../../../model/json.ts";
import { waitAtMost } from "../../../shared/run-with-timeout.ts";

/** Receives the URI of a resource that has changed: the one that is watched, or one below it. */
export type OnUpdated = (uri: string) => void;

interface Watched {
  readonly listeners: Set<OnUpdated>;
  /** Settles when the server has accepted the subscription. */
  readonly accepted: Promise<unknown>;
}

/** How long to wait before a lost subscription is renewed. */
const RENEW_MS = 5_000;

/** Accepts any value: a malformed notification still reports that something happened. */
export const ANYTHING: StandardSchemaV1 = {
  "~standard": { version: 1, vendor: "skillgate", validate: (value) => ({ value }) },
};

/** The resources of one connection that are watched. The server is asked for the first listener of a resource. */
export class ResourceSubscriptions {
  readonly #client: Client;
  readonly #closed: Promise<void>;
  readonly #watched = new Map<string, Watched>();
  /** Since 2026-07-28, one request is for all resources. */
  #listening: McpSubscription | undefined;
  #changing: Promise<unknown> = Promise.resolve();
  /** The next request to listen, which is for all changes until then. */
  #nextListen: Promise<unknown> | undefined;

  constructor(client: Client, closed: Promise<void>) {
    this.#client = client;
    this.#closed = closed;
    client.setNotificationHandler("notifications/resources/updated", { params: ANYTHING }, (params) => {
      const uri = isRecord(params) ? params["uri"] : undefined;
      if (typeof uri === "string") this.#notify(uri);
    });
  }

  /** Watches a resource until the signal aborts or the connection is lost. Rejects if the server refuses. */
  async watch(uri: string, { onUpdated, onAccepted, signal }: WatchOptions): Promise<void> {
    const watched = this.#watched.get(uri) ?? this.#begin(uri);
    watched.listeners.add(onUpdated);
    try {
      await watched.accepted;
      onAccepted();
      await Promise.race([this.#closed, whenAborted(signal)]);
    } finally {
      watched.listeners.delete(onUpdated);
      if (watched.listeners.size === 0 && this.#watched.get(uri) === watched) this.#end(uri);
    }
  }

  get #isModern(): boolean {
    return this.#client.getProtocolEra() === "modern";
  }

  #begin(uri: string): Watched {
    const watched: Watched = { listeners: new Set(), accepted: this.#ask("resources/subscribe", uri) };
    this.#watched.set(uri, watched);
    return watched;
  }

  #end(uri: string): void {
    this.#watched.delete(uri);
    this.#ask("resources/unsubscribe", uri).catch(() => {}); // the connection is lost
  }

  #ask(method: "resources/subscribe" | "resources/unsubscribe", uri: string): Promise<unknown> {
    return this.#isModern
      ? this.#listenInTurn()
      : this.#inTurn(() => this.#client.request({ method, params: { uri } }, ANYTHING));
  }

  #listenInTurn(): Promise<unknown> {
    this.#nextListen ??= this.#inTurn(() => {
      this.#nextListen = undefined;
      return this.#listen();
    });
    return this.#nextListen;
  }

  /** The requests are sent one after the other, so that the last one counts. */
  #inTurn(ask: () => Promise<unknown>): Promise<unknown> {
    const done = this.#changing.then(ask);
    this.#changing = done.catch(() => {});
    return done;
  }

  /** Listens to the resources that are watched now. */
  async #listen(): Promise<void> {
    const before = this.#listening;
    const uris = [...this.#watched.keys()];
    this.#listening = uris.length === 0 ? undefined : await this.#client.listen({ resourceSubscriptions: uris });
    if (this.#listening !== undefined) void this.#renew(this.#listening);
    await before?.close();
  }

  async #renew(listening: McpSubscription): Promise<void> {
    if ((await listening.closed) !== "remote") return;
    await waitAtMost(RENEW_MS, this.#closed);
    if (this.#listening === listening && this.#client.transport !== undefined)
      await this.#listenInTurn().catch(() => {}); // the server refuses now
  }

  #notify(uri: string): void {
    for (const [watched, { listeners }] of this.#watched)
      if (uri.startsWith(watched)) for (const onUpdated of listeners) onUpdated(uri);
  }
}

export interface WatchOptions {
  readonly onUpdated: OnUpdated;
  readonly onAccepted: () => void;
  readonly signal: AbortSignal;
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
