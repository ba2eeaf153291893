import { existsSync } from "node:fs";

import { getMessage } from "../../../errors.ts";
import type { AutomationFacts } from "../../../runtime/api/view.ts";
import type { Runtime } from "../../../runtime.ts";
import { isRecord } from "../../../model/json.ts";
import type { CliSession } from "../session.ts";
import type { DoctorCheck } from "../text/output.ts";

/** Automations that are named with their reasons. */
const MAX_NAMED = 10;

/** The states in which an automation does not do its work. */
const STOPPED: ReadonlySet<AutomationFacts["state"]> = new Set(["failing", "held", "paused", "proposed", "unaccepted"]);

/** Counts the automations by state, and names those that a person must look at. Creates no store. */
export async function checkAutomations(session: CliSession): Promise<readonly DoctorCheck[]> {
  const { hasDatabase } = await import("../../../store/index.ts");
  if (!(await hasDatabase((await session.folders()).database)))
    return existsSync("automations") ? [createCheck("warning", "none was accepted yet")] : [];
  try {
    return await checkStates(await session.openRuntime());
  } catch (thrown) {
    if (session.signal.aborted) throw thrown;
    return [createCheck("error", getMessage(thrown))];
  }
}

async function checkStates(runtime: Runtime): Promise<readonly DoctorCheck[]> {
  const { automations, sections } = runtime;
  const all = await automations.list();
  if (all.length === 0) return [];
  const stopped = all.filter(({ state }) => STOPPED.has(state));
  const flaws = [
    ...(isOff(sections["runs"])
      ? ["runs.record is off in the settings: no automation runs; write runs: { record: effects }"]
      : []),
    ...((await runtime.database()).kind === "memory"
      ? ["The store is in memory: the states and the history of automations end with their process"]
      : []),
    ...stopped.slice(0, MAX_NAMED).map(({ name, state, reason }) => `${name}: ${state}${reason ? `, ${reason}` : ""}`),
    ...(stopped.length > MAX_NAMED ? [`and ${stopped.length - MAX_NAMED} more; see: skillgate automation list`] : []),
  ];
  return [createCheck(flaws.length === 0 ? "ok" : "warning", countStates(all), flaws.join("\n"))];
}

function isOff(section: unknown): boolean {
  const record = isRecord(section) ? section["record"] : section;
  return record === "off" || record === false;
}

/** `2 enabled, 1 held` */
function countStates(all: readonly AutomationFacts[]): string {
  const counts = new Map<string, number>();
  for (const { state } of all) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${state}`).join(", ");
}

function createCheck(status: DoctorCheck["status"], says: string, details = ""): DoctorCheck {
  return { kind: "automation", subject: "Automations", status, says, details };
}
