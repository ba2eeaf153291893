import { CLIENT_INFO_META_KEY, type Server, type ServerContext } from "@modelcontextprotocol/server";

import { isRecord } from "../../../model/json.ts";

/** The answers of the SDK to the first request of a client, of each generation of the protocol. */
interface OpeningAnswers {
  _oninitialize(request: unknown): Promise<Readonly<Record<string, unknown>>>;
  _ondiscover(): Readonly<Record<string, unknown>>;
}

/** Returns the instructions for a client by the name that it states, which may be anything. */
export type GetInstructions = (clientName: unknown) => string;

/**
 * Adds instructions to the first answer of a server. The SDK takes them when it creates the server, before it knows the
 * client and its skills. Called when the server connects: the SDK sets handlers of its own before.
 */
export function serveInstructions(server: Server, getInstructions: GetInstructions): void {
  const answers = server as unknown as OpeningAnswers;
  server.setRequestHandler("initialize", async (request, context) => {
    const answer = await answers._oninitialize(request);
    return { ...answer, instructions: getInstructions(getClientName(server, context)) } as never;
  });
  server.setRequestHandler("server/discover", (_request, context) => {
    return { ...answers._ondiscover(), instructions: getInstructions(getClientName(server, context)) } as never;
  });
}

/** The name that a client states in `initialize`, or in each request since the 2026 protocol. */
export function getClientName(server: Server, { mcpReq }: ServerContext): unknown {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const info = envelope[CLIENT_INFO_META_KEY];
  return isRecord(info) ? info["name"] : server.getClientVersion()?.name;
}
