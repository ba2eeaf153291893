import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

import type { ReadContext } from "../../../model/mcp-features.ts";
import { truncateText } from "../../../shared/format-text.ts";
import type { Library } from "./resources.ts";

/** Maximum number of subscriptions of one client, or of one stream that it listens to. */
const MAX_SUBSCRIPTIONS = 1_000;

/** The resources whose changes one client follows, by the addresses that it has. */
export class ClientSubscriptions {
  /** The end of each subscription; `undefined` while the server is asked. */
  readonly #stops = new Map<string, (() => void) | undefined>();
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
    if (this.#stops.size >= MAX_SUBSCRIPTIONS && !this.#stops.has(uri)) throw createExcessError();
    const before = this.#stops.get(uri);
    this.#stops.set(uri, before);
    const listener = (changed: string): void => this.#notify(uri + changed.slice(found.uri.length), uri);
    try {
      const stop = await found.offers.subscribe?.(found.uri, listener, context);
      if (this.#isClosed) return stop?.();
      this.#stops.get(uri)?.();
      this.#stops.set(uri, stop);
    } catch (error) {
      if (before === undefined) this.#stops.delete(uri);
      throw error;
    }
  }

  remove(uri: string): void {
    this.#stops.get(uri)?.();
    this.#stops.delete(uri);
  }

  close(): void {
    this.#isClosed = true;
    for (const uri of this.#stops.keys()) this.remove(uri);
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
