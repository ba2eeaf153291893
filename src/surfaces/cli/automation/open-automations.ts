import type { Runtime } from "../../../runtime.ts";
import { requireLasting } from "../commands/require-lasting.ts";
import type { CliSession } from "../session.ts";

/** Opens the automations of the project; with `known`, after the tools of all servers are known. Refuses a store in memory. */
export async function openAutomations(session: Pick<CliSession, "openRuntime">, until?: "known"): Promise<Runtime> {
  const runtime = await session.openRuntime(until === undefined ? {} : { until });
  requireLasting(await runtime.database(), "the states of automations");
  return runtime;
}
