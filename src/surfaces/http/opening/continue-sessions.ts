import { isDeepStrictEqual } from "node:util";

import { OWNER } from "../../../model/caller.ts";
import { CLIENT_NAMES } from "../../mcp/opening/index.ts";
import type { HttpServices } from "../services.ts";
import type { EarlyServer } from "./index.ts";

/**
 * Continues the sessions that an early server has begun. When the methods are known, stores the texts for the next start,
 * and notifies the clients whose list of tools was another.
 */
export async function continueSessions(
  early: EarlyServer,
  { mcp, runtime, settings }: Pick<HttpServices, "mcp" | "runtime" | "settings">,
): Promise<void> {
  const { expose, names, budgetTokens } = settings;
  const asker = { caller: OWNER, exposure: { expose, names, budgetTokens } };
  const clients = early.takeClients();
  await Promise.all(
    clients.map(async ({ sessionId, messages }) => {
      if (sessionId !== undefined) await mcp.restoreSession(sessionId, messages, asker);
    }),
  );
  void runtime.known.then(() => {
    for (const name of CLIENT_NAMES) early.store(name, mcp.getTexts(asker, name));
    for (const { clientName, sessionId, tools } of clients)
      if (tools !== undefined && !isDeepStrictEqual(tools, mcp.getTexts(asker, clientName).tools))
        mcp.announceTools(sessionId);
  });
}
