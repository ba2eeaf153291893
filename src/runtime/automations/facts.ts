import {
  type AutomationFile,
  describeSchedule,
  findNextSlot,
  findWaiting,
  type WaitingDeliveries,
} from "../../automations/index.ts";
import type { AutomationRow, AutomationTable, OccurrenceRow } from "../../store/index.ts";
import type { AutomationFiles } from "./automation-files.ts";

/** `failing`: enabled, and its last occurrence has failed; `unaccepted`: a file that was not accepted yet. */
export type AutomationState = AutomationRow["state"] | "failing" | "unaccepted";

/** Facts about an automation, for people. Times are in milliseconds since 1970. */
export interface AutomationFacts {
  readonly name: string;
  readonly state: AutomationState;
  /** Why it does not run; missing if it does. */
  readonly reason?: string;
  readonly description?: string;
  /** The API key with whose rights it runs. */
  readonly key?: string;
  /** When it runs by itself, in words. */
  readonly schedule?: string;
  /** Its next slot; missing for one that does not run, and after the end of its schedule. */
  readonly next?: number;
  /** The last part of the URL of its webhook. */
  readonly webhook?: string;
  /** Its deliveries that wait for their runs; missing if none does. */
  readonly waiting?: WaitingDeliveries;
  /** Failures in succession. */
  readonly failures: number;
  /** The person who has accepted it, or the caller who has proposed it. */
  readonly by?: string;
  readonly last?: OccurrenceRow;
}

export interface FactParts {
  readonly files: Pick<AutomationFiles, "get">;
  readonly rows: ReadonlyMap<string, AutomationRow>;
  readonly automations: Pick<AutomationTable, "countOccurrences" | "listOccurrences">;
}

export async function describeAutomation(
  name: string,
  { files, rows, automations }: FactParts,
): Promise<AutomationFacts> {
  const entry = files.get(name);
  const row = rows.get(name);
  const [last] = await automations.listOccurrences({ automation: name }, { limit: 1 });
  const file = entry?.kind === "file" ? entry.file : undefined;
  const { state, reason } = findState(row, entry);
  const schedule = file?.schedule;
  const now = Date.now();
  const next = schedule !== undefined && isRunning(state) ? findNextSlot(schedule, now) : undefined;
  const waiting = file?.webhook === undefined ? undefined : await findWaiting(name, file.limits, { automations, now });
  return {
    name,
    state,
    ...(reason !== undefined && { reason }),
    ...(file !== undefined && describeFile(name, file)),
    ...(next !== undefined && { next }),
    ...(waiting !== undefined && { waiting }),
    failures: row?.failures ?? 0,
    ...(row !== undefined && { by: row.by }),
    ...(last !== undefined && { last }),
  };
}

/** Describes what the file of an automation, or of a proposal, says. */
export function describeFile(
  name: string,
  { description, key, schedule, webhook }: AutomationFile,
): Pick<AutomationFacts, "description" | "key" | "schedule" | "webhook"> {
  return {
    description,
    key,
    ...(schedule !== undefined && { schedule: describeSchedule(schedule) }),
    ...(webhook !== undefined && { webhook: webhook.id ?? name }),
  };
}

/** True for the states in which the slots of an automation begin. */
export function isRunning(state: AutomationState): boolean {
  return state === "enabled" || state === "failing";
}

export function findState(
  row: AutomationRow | undefined,
  entry: ReturnType<AutomationFiles["get"]>,
): Pick<AutomationFacts, "state" | "reason"> {
  if (row?.state === "proposed" && entry === undefined) return { state: "proposed", reason: "a person must accept it" };
  if (entry?.kind === "unusable") return { state: "held", reason: entry.why };
  if (row === undefined || row.digest === null) return { state: "unaccepted", reason: "it was not accepted yet" };
  if (entry === undefined) return { state: "held", reason: "its file is gone" };
  if (row.state === "paused") return { state: "paused", reason: row.reason ?? "" };
  if (entry.digest !== row.digest) return { state: "held", reason: "its file has changed since it was accepted" };
  if (row.state === "held") return { state: "held", reason: row.reason ?? "" };
  return { state: row.failures > 0 ? "failing" : "enabled" };
}
