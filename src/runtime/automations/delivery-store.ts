import { createOccurrence, type NewDelivery } from "../../automations/index.ts";
import type { AddedDelivery, Database, DeliveryToAdd } from "../../store/index.ts";

interface DeliveryStoreParts {
  readonly open: () => Promise<Pick<Database, "automations">>;
  /** The most deliveries of an automation that wait for their runs. */
  readonly getMost: (automation: string) => number;
  /** Begins what is due of an automation. */
  readonly dispatch: (automation: string) => void;
}

/** Stores deliveries. Those of one automation that arrive together are committed together: a commit costs more than a row. */
export interface DeliveryStore {
  /** Resolves when the delivery is committed. Rejects if the store cannot commit it. */
  add(delivery: NewDelivery): Promise<AddedDelivery>;
}

/** The deliveries of one commit, and the characters of their inputs: one commit must not stop other work. */
const MAX_BATCH = 100;
const MAX_BATCH_UNITS = 2 << 20;

/** Deliveries and milliseconds after which those that wait are counted again: other processes add some, too. */
const MAX_UNCOUNTED = 100;
const MAX_COUNT_MS = 10_000;

interface PendingDelivery {
  readonly delivery: DeliveryToAdd;
  readonly resolve: (result: AddedDelivery) => void;
  readonly reject: (error: unknown) => void;
}

/** The deliveries that waited when they were last counted, and those that were added since. */
interface WaitingCount {
  readonly counted: number;
  readonly at: number;
  readonly added: number;
}

export function createDeliveryStore({ open, getMost, dispatch }: DeliveryStoreParts): DeliveryStore {
  const pending = new Map<string, PendingDelivery[]>();
  const counts = new Map<string, WaitingCount>();

  /** Finds out how many further deliveries may wait; counts them only if that may have changed much. */
  async function countFree(automation: string, count: number): Promise<number> {
    const most = getMost(automation);
    const last = counts.get(automation);
    const isFresh = last !== undefined && last.added < MAX_UNCOUNTED && performance.now() - last.at < MAX_COUNT_MS;
    const free = isFresh ? most - last.counted - last.added : 0;
    if (free >= count) return free;
    const { automations } = await open();
    const counted = await automations.countOccurrences({ automation, kind: "delivery", state: "due" });
    counts.set(automation, { counted, at: performance.now(), added: 0 });
    return Math.max(0, most - counted);
  }

  async function commit(automation: string, batch: readonly PendingDelivery[]): Promise<void> {
    try {
      const free = await countFree(automation, batch.length);
      const { automations } = await open();
      const deliveries = batch.map(({ delivery }) => delivery);
      const results = await automations.addDeliveries(automation, { deliveries, free });
      const added = results.filter((result) => result === "new").length;
      const count = counts.get(automation);
      if (count !== undefined) counts.set(automation, { ...count, added: count.added + added });
      batch.forEach(({ resolve }, at) => resolve(results[at] ?? "full"));
      // The answer to the service does not wait for the run.
      if (added > 0) setImmediate(dispatch, automation);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  /** Commits what is pending, in batches, until nothing is. */
  async function commitAll(automation: string, list: PendingDelivery[]): Promise<void> {
    await new Promise(setImmediate); // others arrive with it
    while (list.length > 0) await commit(automation, list.splice(0, getBatchLength(list)));
    pending.delete(automation);
  }

  return {
    add: ({ automation, delivery, input }) =>
      new Promise((resolve, reject) => {
        const id = toOccurrenceId(delivery);
        const occurrence = createOccurrence({ automation, id, kind: "delivery" }, Date.now());
        const each = { delivery: { occurrence, input: input.json }, resolve, reject };
        const list = pending.get(automation);
        if (list !== undefined) return void list.push(each);
        const fresh = [each];
        pending.set(automation, fresh);
        void commitAll(automation, fresh);
      }),
  };
}

function getBatchLength(list: readonly PendingDelivery[]): number {
  let units = 0;
  const end = list.findIndex(
    ({ delivery }, at) => at === MAX_BATCH || (units += delivery.input.length) > MAX_BATCH_UNITS,
  );
  return end === -1 ? list.length : Math.max(1, end);
}

/** Slots, manual occurrences and deliveries have one space of ids, and a service chooses those of its deliveries. */
function toOccurrenceId(delivery: string): string {
  return /^(?:\d{4}-\d\d-|manual-|delivery-)/.test(delivery) ? `delivery-${delivery}` : delivery;
}
