import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";

import { messageOf } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import type { Connection } from "./connection.ts";

/** A server with more pages than this does not know where its list ends. */
const MOST_PAGES = 100;

/** What a server answers to `tools/list`, its pages put together; not looked at yet. */
export interface ListedTools {
  readonly tools: readonly unknown[];
  /** How long the list is good for, as the server says; 0 if it does not. */
  readonly ttlMs: number;
  /** Why the list may not be whole. */
  readonly incomplete?: string;
}

/** Asks for all tools. What was listed before something went wrong is kept. */
export async function listTools(connection: Connection, signal: AbortSignal): Promise<ListedTools> {
  const tools: unknown[] = [];
  const names = new Set<unknown>();
  let page: Page = { tools: [], ttlMs: 0, nextCursor: undefined };
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    try {
      page = await pageOf(connection, page.nextCursor, signal);
    } catch (thrown) {
      if (pages === 0) throw thrown;
      return {
        tools,
        ttlMs: page.ttlMs,
        incomplete: `tools/list ended after ${tools.length} tools: ${messageOf(thrown)}`,
      };
    }
    const known = names.size;
    for (const tool of page.tools) {
      tools.push(tool);
      names.add(isRecord(tool) ? tool["name"] : tool);
    }
    if (page.nextCursor === undefined) return { tools, ttlMs: page.ttlMs };
    if (names.size === known) break;
  }
  return { tools, ttlMs: page.ttlMs, incomplete: `tools/list has no end, its first ${tools.length} tools are used` };
}

interface Page {
  readonly tools: readonly unknown[];
  readonly ttlMs: number;
  readonly nextCursor: string | undefined;
}

async function pageOf(connection: Connection, cursor: string | undefined, signal: AbortSignal): Promise<Page> {
  const result = await connection
    .request("tools/list", cursor === undefined ? {} : { cursor }, signal)
    .catch((thrown: unknown) => {
      if (isUnknownMethod(thrown)) return { tools: [] };
      throw thrown;
    });
  const { tools, ttlMs, nextCursor } = isRecord(result) ? result : {};
  if (!Array.isArray(tools)) throw new Error("the server answers tools/list without a list of tools");
  return {
    tools,
    ttlMs: typeof ttlMs === "number" && ttlMs > 0 ? ttlMs : 0,
    nextCursor: typeof nextCursor === "string" && nextCursor !== "" ? nextCursor : undefined,
  };
}

/** A server without tools: it may have resources and prompts only. */
function isUnknownMethod(thrown: unknown): boolean {
  return thrown instanceof ProtocolError && thrown.code === (ProtocolErrorCode.MethodNotFound as number);
}
