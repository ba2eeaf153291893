import { listSlots } from "./find-slot.ts";
import type { Schedule } from "./schedule.ts";
import { getStartTime } from "./start-time.ts";

/** A run that begins later is late: its slot was missed. */
export const GRACE_MS = 60_000;

/** The most slots that catch up, and that a plan lists as missed. */
export const MAX_LISTED_SLOTS = 1_000;

/** The most missed slots that are counted. */
export const MAX_COUNTED_SLOTS = 10_000;

export interface SlotMoment {
  /** The name of the automation, from which the jitter follows. */
  readonly name: string;
  /**
   * The slots until this one, and itself, are decided: they have run or were missed. `undefined` for a schedule that begins now.
   * Milliseconds since 1970, as all times here.
   */
  readonly lastSlot: number | undefined;
  readonly now: number;
}

/** The slots whose time has come. Lists are ascending. */
export interface SlotPlan {
  /** Slots that run now, each with the time at which it should have started. */
  readonly due: readonly DueSlot[];
  /** Slots that were missed and do not run, the latest 1,000. */
  readonly missed: readonly number[];
  /** The number of all missed slots that do not run. */
  readonly missedCount: number;
  /** False if there are more missed slots than were counted. */
  readonly isCountComplete: boolean;
  /** The missed slots within the window of `catchUp: all` that do not run, because they are more than 1,000. */
  readonly droppedCount: number;
  /** The next `lastSlot`: all slots until this moment are decided. */
  readonly decidedUntil: number;
}

export interface DueSlot {
  readonly slot: number;
  readonly startsAt: number;
  /** It was missed, and runs by `catchUp`. */
  readonly isLate: boolean;
}

/** Decides about the slots that have not been decided and whose runs should have started by now. */
export function planSlots(schedule: Schedule, moment: SlotMoment): SlotPlan {
  const { now } = moment;
  const isClockBack = moment.lastSlot !== undefined && moment.lastSlot > now;
  // After a change of the clock to an earlier time, slots that are due at the new time are due again: a slot that has run
  // cannot be stored a second time, and a schedule that waited for the old time would be silent.
  const base = isClockBack ? now - GRACE_MS - schedule.jitterMs : (moment.lastSlot ?? now);
  const { slots, isComplete } = listLatestSlots(schedule, base, now);
  const { late, onTime, decidedUntil = base } = divideSlots(schedule, moment, slots);
  const missed = isClockBack ? [] : late;

  const inWindow = missed.filter((slot) => slot >= now - schedule.windowMs);
  const caughtUp = { none: [], one: inWindow.slice(-1), all: inWindow.slice(-MAX_LISTED_SLOTS) }[schedule.catchUp];
  const others = missed.slice(0, missed.length - caughtUp.length);
  const missedCount = others.length + (isComplete || isClockBack ? 0 : countSlots(schedule, base, slots[0] ?? now));
  return {
    due: [
      ...caughtUp.map((slot) => ({ slot, startsAt: getStartTime(schedule, moment.name, slot), isLate: true })),
      ...onTime,
    ],
    missed: others.slice(-MAX_LISTED_SLOTS),
    missedCount: Math.min(missedCount, MAX_COUNTED_SLOTS),
    isCountComplete: missedCount <= MAX_COUNTED_SLOTS,
    droppedCount: caughtUp.length < MAX_LISTED_SLOTS ? 0 : countDropped(schedule, now, caughtUp[0] ?? now, base),
    decidedUntil,
  };
}

interface DividedSlots {
  readonly late: readonly number[];
  readonly onTime: readonly DueSlot[];
  /** The latest slot whose run should have started. */
  readonly decidedUntil: number | undefined;
}

/** Leaves out the slots whose jitter has not passed. */
function divideSlots(schedule: Schedule, { name, now }: SlotMoment, slots: readonly number[]): DividedSlots {
  const late: number[] = [];
  const onTime: DueSlot[] = [];
  for (const slot of slots) {
    const isSurelyLate = slot < now - GRACE_MS - schedule.jitterMs;
    const startsAt = isSurelyLate ? slot : getStartTime(schedule, name, slot);
    if (startsAt > now) break;
    if (startsAt < now - GRACE_MS) late.push(slot);
    else onTime.push({ slot, startsAt, isLate: false });
  }
  return { late, onTime, decidedUntil: onTime.at(-1)?.slot ?? late.at(-1) };
}

/** Slots that catch up, missed ones, and the few of an hour that wait for their jitter or are on time. */
const MAX_RECENT_SLOTS = 2 * MAX_LISTED_SLOTS + 70;

/**
 * Lists the slots after `after` until `until`, ascending; if they are many, only the latest, but no fewer than a plan needs.
 * Goes back in parts, because a list from the start could be as long as years.
 */
function listLatestSlots(
  schedule: Schedule,
  after: number,
  until: number,
): { readonly slots: readonly number[]; readonly isComplete: boolean } {
  let slots: readonly number[] = [];
  let end = until;
  let spanMs = MAX_RECENT_SLOTS * schedule.gapMs;
  while (end > after && slots.length < MAX_RECENT_SLOTS) {
    const start = Math.max(after, end - spanMs);
    const part = listSlots(schedule, start, end, 2 * MAX_RECENT_SLOTS);
    if (part.length === 2 * MAX_RECENT_SLOTS) {
      spanMs /= 2; // this part of the time has more slots than the one before
      continue;
    }
    slots = [...part, ...slots];
    end = start;
    spanMs *= 2;
  }
  return { slots, isComplete: end <= after };
}

/** Counts the slots after `after` and before `before`, at most one more than are counted. */
function countSlots(schedule: Schedule, after: number, before: number): number {
  return listSlots(schedule, after, before - 1, MAX_COUNTED_SLOTS + 1).length;
}

function countDropped(schedule: Schedule, now: number, first: number, base: number): number {
  return countSlots(schedule, Math.max(base, now - schedule.windowMs - 1), first);
}
