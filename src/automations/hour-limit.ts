import type { AutomationTable, OccurrenceChange, OpenOccurrences } from "../store/index.ts";
import type { StartRules } from "./choose-occurrences.ts";

const HOUR_MS = 3_600_000;

/** True if a delivery, or what a person asked for, waits because no further run may begin in this hour. */
export function isHourFull(
  { due, startedInHour }: Pick<OpenOccurrences, "due" | "startedInHour">,
  changes: readonly OccurrenceChange[],
  { runsPerHour }: Pick<StartRules, "runsPerHour">,
): boolean {
  const begun = changes.filter(({ changes: { state } }) => state === "running").length;
  const changed = new Set(changes.map(({ id }) => id));
  return startedInHour + begun >= runsPerHour && due.some(({ id, kind }) => kind !== "slot" && !changed.has(id));
}

/** Returns when the next run of an automation may begin, in milliseconds since 1970; `undefined` if it may at once. */
async function findNextStart(
  automation: string,
  { runsPerHour }: Pick<StartRules, "runsPerHour">,
  { automations, now }: { readonly automations: Pick<AutomationTable, "listOccurrences">; readonly now: number },
): Promise<number | undefined> {
  const [first] = await automations.listOccurrences(
    { automation, started: { gt: now - HOUR_MS, lt: now + HOUR_MS } },
    { order: "started", descending: true, limit: 1, offset: runsPerHour - 1 },
  );
  return first === undefined || first.started === null ? undefined : first.started + HOUR_MS;
}

/** Says that deliveries wait for their runs: `3 deliveries wait: 120 runs an hour are reached; the next begins at 12:00`. */
export function describeWaiting(
  { deliveries, next, runsPerHour }: WaitingDeliveries,
  formatTime: (time: number) => string,
): string {
  const text = deliveries === 1 ? "1 delivery waits" : `${deliveries} deliveries wait`;
  if (next === undefined) return text;
  const runs = runsPerHour === 1 ? "1 run an hour is" : `${runsPerHour} runs an hour are`;
  return `${text}: ${runs} reached; the next begins at ${formatTime(next)}`;
}

/** The deliveries of an automation that wait for their runs. */
export interface WaitingDeliveries {
  readonly deliveries: number;
  readonly runsPerHour: number;
  /** When the next run may begin, in milliseconds since 1970; missing unless the runs of an hour are reached. */
  readonly next?: number;
}

/** Finds the deliveries of an automation that wait; `undefined` if none does. */
export async function findWaiting(
  automation: string,
  { runsPerHour }: Pick<StartRules, "runsPerHour">,
  parts: { readonly automations: Pick<AutomationTable, "countOccurrences" | "listOccurrences">; readonly now: number },
): Promise<WaitingDeliveries | undefined> {
  const deliveries = await parts.automations.countOccurrences({ automation, kind: "delivery", state: "due" });
  if (deliveries === 0) return undefined;
  const next = await findNextStart(automation, { runsPerHour }, parts);
  return { deliveries, runsPerHour, ...(next !== undefined && { next }) };
}

/** Logs that the deliveries of automations wait because the runs of an hour are reached, once for each automation and hour. */
export function createHourLog(
  log: (text: string) => void,
): (
  automation: string,
  ...parts: [Pick<StartRules, "runsPerHour">, Parameters<typeof findWaiting>[2]]
) => Promise<void> {
  const loggedAt = new Map<string, number>();
  return async (automation, rules, parts) => {
    const { now } = parts;
    if (Math.abs(now - (loggedAt.get(automation) ?? -Infinity)) < HOUR_MS) return;
    loggedAt.set(automation, now);
    const waiting = await findWaiting(automation, rules, parts);
    if (waiting?.next === undefined) return;
    log(`The automation ${automation}: ${describeWaiting(waiting, (time) => new Date(time).toISOString())}`);
  };
}
