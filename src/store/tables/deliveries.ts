import type { StoreEngine } from "../database/table.ts";
import { lockAutomation, OCCURRENCE_INPUTS, type OccurrenceRow, OCCURRENCES } from "./automation-rows.ts";

/** Deliveries that are added together. */
export interface DeliveryBatch {
  readonly deliveries: readonly DeliveryToAdd[];
  /** The most that are added. */
  readonly room: number;
}

/** An occurrence of the kind `delivery` with its input as JSON. */
export interface DeliveryToAdd {
  readonly occurrence: OccurrenceRow;
  readonly input: string;
}

/** `repeated`: one with its id was there before; `full`: there was no room for it. */
export type AddedDelivery = "new" | "repeated" | "full";

export async function addDeliveries(
  engine: StoreEngine,
  automation: string,
  { deliveries, room }: DeliveryBatch,
): Promise<readonly AddedDelivery[]> {
  const ids = deliveries.map(({ occurrence }) => occurrence.id);
  return engine.transaction(lockAutomation(automation), async (rows) => {
    const known = new Set((await rows.select(OCCURRENCES, { automation, id: { in: ids } })).map(({ id }) => id));
    const added: DeliveryToAdd[] = [];
    const results = deliveries.map((delivery): AddedDelivery => {
      const { id } = delivery.occurrence;
      if (known.has(id)) return "repeated";
      if (added.length >= room) return "full";
      known.add(id);
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

/** Deletes the occurrences that ended before a time, and returns how many these were. */
export async function pruneOccurrences(engine: StoreEngine, time: number): Promise<number> {
  let count = 0;
  for (;;) {
    const oldest = await engine.select(OCCURRENCES, { ended: { lt: time } }, { order: "ended", limit: PRUNED_AT_ONCE });
    for (const { automation, id } of oldest) {
      await engine.delete(OCCURRENCE_INPUTS, { automation, id });
      count += await engine.delete(OCCURRENCES, { automation, id });
    }
    if (oldest.length < PRUNED_AT_ONCE) return count;
  }
}

const PRUNED_AT_ONCE = 500;
