import { setImmediate as nextTurn } from "node:timers/promises";

import { describeSchedule, findNextSlot, getScheduleZone, listSlots, type Schedule } from "../../automations/index.ts";

/** A slot of the future. */
export interface UpcomingSlot {
  readonly automation: string;
  /** Milliseconds since 1970, without the jitter of the schedule. */
  readonly at: number;
  /** The zone of the schedule. */
  readonly zone: string;
}

/** The slots of enabled automations in a span of time. */
export interface UpcomingSlots {
  /** The first ones, ascending. */
  readonly slots: readonly UpcomingSlot[];
  /** The number of slots after these. */
  readonly moreCount: number;
  /** Automations with more slots in the span than a calendar shows of one: the first ones by name, each with its next slot. */
  readonly frequent: readonly (UpcomingSlot & { readonly schedule: string })[];
  readonly moreFrequentCount: number;
  /** False if there were more automations than were looked at. */
  readonly isComplete: boolean;
}

export interface ScheduledName {
  readonly name: string;
  readonly schedule: Schedule;
}

export interface UpcomingOptions {
  /** Milliseconds since 1970; the slots after `from` until `until`. */
  readonly from: number;
  readonly until: number;
  /** The most slots. */
  readonly limit: number;
}

/** More slots of one automation are one entry. Seven a day are 49 a week. */
const MAX_OF_ONE = 50;

const MAX_FREQUENT = 100;

/** The slots that are computed for an answer: some microseconds each. */
const MAX_COMPUTED = 100_000;

/** Milliseconds after which other work has its turn. */
const SLICE_MS = 10;

/** Lists the slots of automations. Leaves the event loop to others from time to time. */
export async function listUpcoming(
  automations: Iterable<ScheduledName>,
  { from, until, limit }: UpcomingOptions,
): Promise<UpcomingSlots> {
  let slots: UpcomingSlot[] = [];
  const frequent: (UpcomingSlot & { readonly schedule: string })[] = [];
  let [slotCount, frequentCount, computed] = [0, 0, 0];
  let sliceEnd = performance.now() + SLICE_MS;
  let isComplete = true;
  for (const { name, schedule } of automations) {
    if (computed >= MAX_COMPUTED) {
      isComplete = false;
      break;
    }
    const times = listSlots(schedule, from, until, MAX_OF_ONE + 1);
    computed += times.length + 1;
    const zone = getScheduleZone(schedule);
    const [first] = times;
    if (first !== undefined && times.length > MAX_OF_ONE) {
      frequentCount++;
      if (frequent.length < MAX_FREQUENT)
        frequent.push({ automation: name, at: first, zone, schedule: describeSchedule(schedule) });
    } else {
      slotCount += times.length;
      slots.push(...times.map((at) => ({ automation: name, at, zone })));
      if (slots.length > 4 * limit) slots = takeFirst(slots, limit);
    }
    if (performance.now() < sliceEnd) continue;
    await nextTurn();
    sliceEnd = performance.now() + SLICE_MS;
  }
  slots = takeFirst(slots, limit);
  const moreFrequentCount = frequentCount - frequent.length;
  return { slots, moreCount: slotCount - slots.length, frequent, moreFrequentCount, isComplete };
}

function takeFirst(slots: readonly UpcomingSlot[], limit: number): UpcomingSlot[] {
  return slots.toSorted((a, b) => a.at - b.at || (a.automation < b.automation ? -1 : 1)).slice(0, limit);
}

/** Lists the first slots after a time. */
export function listNext(schedule: Schedule, after: number, count: number): readonly number[] {
  const slots: number[] = [];
  let slot = findNextSlot(schedule, after);
  while (slot !== undefined && slots.length < count) {
    slots.push(slot);
    slot = findNextSlot(schedule, slot);
  }
  return slots;
}
