import { findNextLocalTime } from "./local-times.ts";
import { matchesEveryHour, type CronFields } from "./parse-cron.ts";
import type { Schedule } from "./schedule.ts";
import { getZoneClock, type ZoneClock } from "./zone-clock.ts";

const DAY_MS = 86_400_000;

/** Returns the first slot after `after`, or `undefined` if no slot follows. Both are milliseconds since 1970. */
export function findNextSlot(schedule: Schedule, after: number): number | undefined {
  const slot = findNextTime(schedule, after);
  return slot !== undefined && slot <= (schedule.until ?? Number.POSITIVE_INFINITY) ? slot : undefined;
}

/** Returns the slots after `after`, until `until` and itself, ascending; of more than `max`, the first ones. */
export function listSlots(schedule: Schedule, after: number, until: number, max: number): readonly number[] {
  const slots: number[] = [];
  let slot = findNextSlot(schedule, after);
  while (slot !== undefined && slot <= until && slots.length < max) {
    slots.push(slot);
    slot = findNextSlot(schedule, slot);
  }
  return slots;
}

/** Returns the first time of a schedule after `after`, also if its end is before. */
export function findNextTime({ times }: Schedule, after: number): number | undefined {
  if (times.kind === "every") return (Math.floor(after / times.everyMs) + 1) * times.everyMs;
  const clock = getZoneClock(times.zone);
  const find = matchesEveryHour(times.fields) ? findNextOfEveryHour : findNextOfDay;
  return find(times.fields, clock, after);
}

/**
 * Schedules of every hour follow the time that passes: they run through an hour that a change of the clock repeats, and do not
 * run in one that it leaves out. Between two changes, times of the clock and moments differ by a constant.
 */
function findNextOfEveryHour(fields: CronFields, clock: ZoneClock, after: number): number | undefined {
  for (let first = after + 1; ;) {
    const offset = clock.getOffset(first);
    const local = findNextLocalTime(fields, first + offset - 1);
    if (local === undefined) return undefined;
    const change = clock.findChange(first, local - offset);
    if (change === undefined) return local - offset;
    first = change;
  }
}

/**
 * Schedules of certain hours have one slot for each time of the clock: the first moment at which the clock shows it, or, if a
 * change of the clock leaves it out, the moment of the change.
 */
function findNextOfDay(fields: CronFields, clock: ZoneClock, after: number): number | undefined {
  let local = findNextLocalTime(fields, after + clock.getOffset(after));
  while (local !== undefined) {
    const moment = findMoment(clock, local);
    if (moment !== undefined && moment > after) return moment;
    local = findNextLocalTime(fields, local);
  }
  return undefined;
}

/** Returns the moment of a time of the clock, or `undefined` if a change of the clock leaves its whole day out. */
function findMoment(clock: ZoneClock, local: number): number | undefined {
  // The clock of every zone differs from UTC by less than a day.
  const [early, late] = [local - DAY_MS, local + DAY_MS];
  const [before, after] = [clock.getOffset(early), clock.getOffset(late)];
  if (before === after || clock.getOffset(local - before) === before) return local - before;
  if (clock.getOffset(local - after) === after) return local - after;
  const change = clock.findChange(early, late);
  if (change === undefined) return undefined;
  const day = Math.floor(local / DAY_MS) * DAY_MS;
  const hasDay = change + before > day || change + after < day + DAY_MS;
  return hasDay ? change : undefined;
}
