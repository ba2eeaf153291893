import { CLIENT_REQUESTS, type ClientRequest } from "../../../model/client-requests.ts";
import { isRecord } from "../../../model/json.ts";

/** Tools that a server lists only to clients that answer its requests. */
export interface CapableTools {
  /** As the server lists them, not validated yet. */
  readonly tools: readonly unknown[];
  /** The requests that a client must answer to get a tool, by the name of the tool. */
  readonly needs: Readonly<Record<string, readonly ClientRequest[] | undefined>>;
}

export const NO_CAPABLE_TOOLS: CapableTools = { tools: [], needs: {} };

/**
 * Finds the tools that a server adds for clients with capabilities. `listFor` lists the tools for a client that answers some
 * requests; most servers are asked once.
 */
export async function findCapableTools(
  tools: readonly unknown[],
  listFor: (requests: readonly ClientRequest[]) => Promise<readonly unknown[]>,
): Promise<CapableTools> {
  const names = new Set(tools.map(getName));
  const added = (await listFor(CLIENT_REQUESTS)).filter((tool) => !names.has(getName(tool)));
  if (added.length === 0) return NO_CAPABLE_TOOLS;
  const needs = new Map<unknown, readonly ClientRequest[]>();
  for (const request of CLIENT_REQUESTS) {
    for (const name of (await listFor([request])).map(getName)) if (!needs.has(name)) needs.set(name, [request]);
  }
  if (added.some((tool) => !needs.has(getName(tool)))) {
    // A tool that needs several capabilities is in this list again; a tool that came and went is not.
    for (const name of (await listFor(CLIENT_REQUESTS)).map(getName))
      if (!needs.has(name)) needs.set(name, CLIENT_REQUESTS);
  }
  const capable = added.filter((tool) => getName(tool) !== undefined && needs.has(getName(tool)));
  return {
    tools: capable,
    needs: Object.fromEntries(capable.map((tool) => [getName(tool), needs.get(getName(tool))])),
  };
}

function getName(tool: unknown): string | undefined {
  const name = isRecord(tool) ? tool["name"] : undefined;
  return typeof name === "string" ? name : undefined;
}
