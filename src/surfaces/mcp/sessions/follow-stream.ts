import { CLIENT_CAPABILITIES_META_KEY, type JSONRPCMessage, type ServerEvent } from "@modelcontextprotocol/server";

import { isRecord } from "../../../model/json.ts";
import { ClientSubscriptions } from "../features/subscriptions.ts";
import { openLibrary } from "../gateway.ts";
import type { ConnectedClient, GatewayContext } from "./client-session.ts";
import { cancelledBy } from "./open-requests.ts";
import { followLists } from "./follow-lists.ts";

/** The changes that a client of 2026-07-28 follows. */
interface ListenFilter {
  readonly id: unknown;
  readonly uris: readonly string[];
  /** The capabilities that it has declared. */
  readonly declared: unknown;
}

/** Returns the wishes of a client that begins to listen; `undefined` for any other message. */
export function getListenFilter(message: unknown): ListenFilter | undefined {
  if (!isRecord(message) || message["method"] !== "subscriptions/listen" || !isRecord(message["params"]))
    return undefined;
  const { notifications, _meta: meta } = message["params"];
  const uris = isRecord(notifications) ? notifications["resourceSubscriptions"] : undefined;
  return {
    id: message["id"],
    uris: Array.isArray(uris) ? [...new Set(uris.filter((uri) => typeof uri === "string"))] : [],
    declared: isRecord(meta) ? meta[CLIENT_CAPABILITIES_META_KEY] : undefined,
  };
}

/** Sends a client the changes that it follows: the stream leaves out the rest. Returns what stops that. */
export function followStream(
  shared: GatewayContext,
  mcpClient: ConnectedClient,
  { uris, declared }: ListenFilter,
  send: (event: ServerEvent) => void,
): () => void {
  const client = { mcpClient, getDeclared: () => declared, getName: () => undefined };
  const unfollow = followLists(shared, client, (list) => send({ kind: `${list}_list_changed` }));
  const stop = subscribeAll(shared, mcpClient, uris, (uri) => send({ kind: "resource_updated", uri }));
  return () => {
    unfollow();
    stop();
  };
}

/** Maximum number of streams that a client listens to over pipes; further ones are silent. */
const MAX_STREAMS = 20;

/** Follows the resources that a client of 2026-07-28 over pipes listens to; its lists are followed without that. */
export class PipeSubscriptions {
  readonly #stops = new Map<unknown, () => void>();

  /** Takes a message of the client. */
  take(
    message: JSONRPCMessage,
    shared: GatewayContext,
    mcpClient: ConnectedClient,
    notify: (uri: string) => void,
  ): void {
    const filter = getListenFilter(message);
    if (filter !== undefined) {
      this.#end(filter.id);
      if (this.#stops.size >= MAX_STREAMS) return;
      this.#stops.set(filter.id, subscribeAll(shared, mcpClient, filter.uris, notify));
    } else this.#end(cancelledBy(message));
  }

  close(): void {
    for (const id of this.#stops.keys()) this.#end(id);
  }

  #end(id: unknown): void {
    this.#stops.get(id)?.();
    this.#stops.delete(id);
  }
}

/** Subscribes to several resources; those that no server announces are left out. Returns what stops that. */
function subscribeAll(
  shared: GatewayContext,
  mcpClient: ConnectedClient,
  uris: readonly string[],
  notify: (uri: string) => void,
): () => void {
  const { caller, requestValues } = mcpClient;
  const end = new AbortController();
  const context = {
    caller,
    signal: end.signal,
    ...(requestValues && { requestValues }),
    log: () => {},
    progress: () => {},
  };
  // The stream has the addresses that the client gave, also where a resource below one of them has changed.
  const subscriptions = new ClientSubscriptions((_changed, uri) => notify(uri));
  const begin = async (): Promise<void> => {
    const library = await openLibrary(shared, mcpClient, requestValues);
    const add = (uri: string): Promise<void> => subscriptions.add(uri, library, context).catch(() => {}); // it says nothing then
    await Promise.all(uris.map(add));
  };
  if (uris.length > 0) begin().catch(() => {}); // the store or a server is down
  return () => {
    end.abort();
    subscriptions.close();
  };
}
