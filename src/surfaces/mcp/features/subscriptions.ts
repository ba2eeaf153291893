import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

import type { ReadContext } from "../../../model/mcp-features.ts";
import { truncateText } from "../../../shared/format-text.ts";
import type { Library } from "./resources.ts";

/** Maximum number of subscriptions of one client, or of one stream that it listens to. */
const MAX_SUBSCRIPTIONS = 1_000;

interface Subscription {
  /** Ends it at the server; `undefined` while the server is asked. */
  stop: (() => void) | undefined;
}

/** The resources whose changes one client follows, by the addresses that it has. */
export class ClientSubscriptions {
  readonly #followed = new Map<string, Subscription>();
  readonly #notify: (changed: string, subscribed: string) => void;
  #isClosed = false;

  /** `notify` receives the address of a resource that has changed, and the subscribed one, which may be above it. */
  constructor(notify: (changed: string, subscribed: string) => void) {
    this.#notify = notify;
  }

  /** Subscribes at the server that has the resource. Throws `MethodNotFound` if it has no subscriptions. */
  async add(uri: string, library: Library, context: ReadContext): Promise<void> {
    const found = library.offers.find(uri).find(({ offers }) => offers.subscribe !== undefined);
    if (found === undefined) throw createUnableError(uri);
    if (this.#followed.size >= MAX_SUBSCRIPTIONS && !this.#followed.has(uri)) throw createExcessError();
    const subscription: Subscription = { stop: this.#followed.get(uri)?.stop };
    this.#followed.set(uri, subscription);
    const listener = (changed: string): void => this.#notify(uri + changed.slice(found.uri.length), uri);
    try {
      const stop = await found.offers.subscribe?.(found.uri, listener, context);
      // The client may have unsubscribed, or subscribed once more, meanwhile.
      const current = this.#isClosed ? undefined : this.#followed.get(uri);
      if (current === undefined) return stop?.();
      current.stop?.();
      current.stop = stop;
    } catch (error) {
      if (subscription.stop === undefined && this.#followed.get(uri) === subscription) this.#followed.delete(uri);
      throw error;
    }
  }

  remove(uri: string): void {
    this.#followed.get(uri)?.stop?.();
    this.#followed.delete(uri);
  }

  close(): void {
    this.#isClosed = true;
    for (const uri of this.#followed.keys()) this.remove(uri);
  }
}

function createUnableError(uri: string): ProtocolError {
  const message = `No server announces changes of ${truncateText(uri, 200)}; read it again instead`;
  return new ProtocolError(ProtocolErrorCode.MethodNotFound, message);
}

function createExcessError(): ProtocolError {
  const message = `A client can have ${MAX_SUBSCRIPTIONS} subscriptions; unsubscribe from some first`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
