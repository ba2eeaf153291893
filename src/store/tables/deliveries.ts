import type { StoreEngine } from "../database/table.ts";
import {
  isKnownAutomation,
  lockAutomation,
  OCCURRENCE_INPUTS,
  type OccurrenceRow,
  OCCURRENCES,
  PAST_DELIVERIES,
} from "./automation-rows.ts";

/** Deliveries that are added together. */
export interface DeliveryBatch {
  readonly deliveries: readonly DeliveryToAdd[];
  /** The most that are added. */
  readonly free: number;
}

/** An occurrence of the kind `delivery` with its input as JSON. */
export interface DeliveryToAdd {
  readonly occurrence: OccurrenceRow;
  readonly input: string;
}

/** `repeated`: one with its id was there before; `full`: the limit was reached; `unknown`: the automation was removed. */
export type AddedDelivery = "new" | "repeated" | "full" | "unknown";

export async function addDeliveries(
  engine: StoreEngine,
  automation: string,
  { deliveries, free }: DeliveryBatch,
): Promise<readonly AddedDelivery[]> {
  const ids = deliveries.map(({ occurrence }) => occurrence.id);
  return engine.transaction(lockAutomation(automation), async (rows) => {
    if (!(await isKnownAutomation(rows, automation))) return deliveries.map(() => "unknown");
    const stored = await rows.select(OCCURRENCES, { automation, id: { in: ids } });
    const past = await rows.select(PAST_DELIVERIES, { automation, id: { in: ids } });
    const knownIds = new Set([...stored, ...past].map(({ id }) => id));
    const added: DeliveryToAdd[] = [];
    const results = deliveries.map((delivery): AddedDelivery => {
      const { id } = delivery.occurrence;
      if (knownIds.has(id)) return "repeated";
      if (added.length >= free) return "full";
      knownIds.add(id);
      added.push(delivery);
      return "new";
    });
    if (added.length === 0) return results;
    const list = added.map(({ occurrence }) => occurrence);
    await rows.insert(OCCURRENCES, list);
    const inputs = added.map(({ occurrence: { id }, input }) => ({ automation, id, input }));
    await rows.insert(OCCURRENCE_INPUTS, inputs);
    return results;
  });
}

/** Days for which the ids of deliveries are kept, from the receipt on, and the most of one automation: the newest. */
const PAST_DAYS = 400;
const MAX_PAST = 100_000;

const DAY_MS = 86_400_000;
const PRUNED_AT_ONCE = 500;

/** Deletes the occurrences that ended before a time, and returns how many these were. Of deliveries, their ids stay. */
export async function pruneOccurrences(
  engine: StoreEngine,
  { time, now, maxPast = MAX_PAST }: { readonly time: number; readonly now: number; readonly maxPast?: number },
): Promise<number> {
  let count = 0;
  const pruned = new Set<string>();
  for (;;) {
    const oldest = await engine.select(OCCURRENCES, { ended: { lt: time } }, { order: "ended", limit: PRUNED_AT_ONCE });
    for (const automation of new Set(oldest.map((row) => row.automation))) {
      pruned.add(automation);
      const rows = oldest.filter((row) => row.automation === automation);
      count += await deleteOccurrences(engine, automation, rows);
    }
    if (oldest.length < PRUNED_AT_ONCE) break;
  }
  await engine.delete(PAST_DELIVERIES, { received: { lt: now - PAST_DAYS * DAY_MS } });
  for (const automation of pruned) await deleteOldestPast(engine, automation, maxPast);
  return count;
}

async function deleteOccurrences(
  engine: StoreEngine,
  automation: string,
  occurrences: readonly OccurrenceRow[],
): Promise<number> {
  const ids = occurrences.map(({ id }) => id);
  const deliveries = occurrences.filter(({ kind }) => kind === "delivery");
  return engine.transaction(lockAutomation(automation), async (rows) => {
    for (const { id, due } of deliveries) await rows.put(PAST_DELIVERIES, { automation, id, received: due });
    await rows.delete(OCCURRENCE_INPUTS, { automation, id: { in: ids } });
    return rows.delete(OCCURRENCES, { automation, id: { in: ids } });
  });
}

async function deleteOldestPast(engine: StoreEngine, automation: string, most: number): Promise<void> {
  const [newest] = await engine.select(
    PAST_DELIVERIES,
    { automation },
    { order: ["received", "id"], descending: true, limit: 1, offset: most },
  );
  if (newest !== undefined) await engine.delete(PAST_DELIVERIES, { automation, received: { lt: newest.received + 1 } });
}
