import { sentence, SkillgateError } from "../../../errors.ts";
import type { Runtime } from "../../../runtime.ts";
import { formatInstall } from "../../../shared/package/optional-package.ts";
import type { CliSession } from "../session.ts";

/** Opens the automations of the project; with `known`, after the tools of all servers are known. Refuses a store in memory. */
export async function openAutomations(session: Pick<CliSession, "openRuntime">, until?: "known"): Promise<Runtime> {
  const runtime = await session.openRuntime(until === undefined ? {} : { until });
  requireLasting(await runtime.database());
  return runtime;
}

/** Throws `STORE_UNAVAILABLE` for a store that ends with its process. */
export function requireLasting({ kind }: Pick<Awaited<ReturnType<Runtime["database"]>>, "kind">): void {
  if (kind !== "memory") return;
  const values = `the states of automations need a database; use Node 22.13 or newer, or run: ${formatInstall("libsql")}`;
  throw new SkillgateError("STORE_UNAVAILABLE", sentence("STORE_UNAVAILABLE", values));
}
