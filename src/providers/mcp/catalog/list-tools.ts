import { getMessage } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import type { ServerRequests } from "../connections/connection.ts";

/** Requests to a server of which lists are read. */
type ListRequests = Pick<ServerRequests, "request">;

/** Maximum number of pages of a list; a longer list is taken for endless. */
const MAX_PAGES = 100;

/** A list method, the key of the items in its result, and the key that identifies an item. */
export interface ListKind {
  readonly method: string;
  readonly key: string;
  readonly identity: string;
  /** Sent with the request of each page. */
  readonly params?: Readonly<Record<string, unknown>>;
}

/** The items of all pages of a list, not validated yet. */
export interface ListedItems {
  readonly items: readonly unknown[];
  /** How long the server says that the list is valid; 0 if it does not say. */
  readonly ttlMs: number;
  /** Why the list may be incomplete. */
  readonly incomplete?: string;
}

/** The result of `tools/list`, all pages together. */
export interface ListedTools extends Omit<ListedItems, "items"> {
  readonly tools: readonly unknown[];
}

/** Lists all tools. If a later page fails, returns the tools of the pages before it. */
export async function listTools(server: ListRequests, signal: AbortSignal): Promise<ListedTools> {
  const { items, ...rest } = await listPages(server, TOOLS, signal);
  return { tools: items, ...rest };
}

const TOOLS: ListKind = { method: "tools/list", key: "tools", identity: "name" };

/** Requests a whole list, page by page. */
export async function listPages(server: ListRequests, kind: ListKind, signal: AbortSignal): Promise<ListedItems> {
  const { method, key, identity } = kind;
  const items: unknown[] = [];
  const cursors = new Set<unknown>();
  let page: ListPage = { items: [], ttlMs: 0, nextCursor: undefined };
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    try {
      page = await fetchPage(server, kind, page.nextCursor, signal);
    } catch (thrown) {
      if (pages === 0) throw thrown;
      const incomplete = `${method} ended after ${items.length} ${key}: ${getMessage(thrown)}`;
      return { items, ttlMs: page.ttlMs, incomplete };
    }
    const before = cursors.size;
    for (const item of page.items) {
      items.push(item);
      cursors.add(isRecord(item) ? item[identity] : item);
    }
    if (page.nextCursor === undefined) return { items, ttlMs: page.ttlMs };
    if (cursors.size === before) break;
  }
  return { items, ttlMs: page.ttlMs, incomplete: `${method} has no end, its first ${items.length} ${key} are used` };
}

interface ListPage {
  readonly items: readonly unknown[];
  readonly ttlMs: number;
  readonly nextCursor: string | undefined;
}

async function fetchPage(
  server: ListRequests,
  { method, key, params = {} }: ListKind,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ListPage> {
  const result = await server
    .request(method, cursor === undefined ? params : { ...params, cursor }, signal)
    .catch((thrown: unknown) => {
      if (isUnknownMethod(thrown)) return { [key]: [] };
      throw thrown;
    });
  const { [key]: items, ttlMs, nextCursor } = isRecord(result) ? result : {};
  if (!Array.isArray(items)) throw new Error(`the server answers ${method} without a list of ${key}`);
  return {
    items,
    ttlMs: typeof ttlMs === "number" && ttlMs > 0 ? ttlMs : 0,
    nextCursor: typeof nextCursor === "string" && nextCursor !== "" ? nextCursor : undefined,
  };
}

/** The JSON-RPC code. */
const METHOD_NOT_FOUND = -32_601;

/** The server does not support this request; it may support others. */
function isUnknownMethod(thrown: unknown): boolean {
  return isRecord(thrown) && thrown["code"] === METHOD_NOT_FOUND;
}
