import type { CronFields } from "./parse-cron.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** From one 29 February to the next around 2100, and a day. */
const MAX_DAYS = 8 * 366 + 1;

/**
 * Returns the first time of the clock after `after` that matches, or `undefined` if none does in eight years. Both are times of
 * the clock as milliseconds: the number that `Date.UTC` makes of their year, month, day, hour and minute.
 */
export function findNextLocalTime(fields: CronFields, after: number): number | undefined {
  const firstDay = Math.floor(after / DAY_MS);
  let firstMinute = Math.floor((after - firstDay * DAY_MS) / MINUTE_MS) + 1;
  for (let day = firstDay; day <= firstDay + MAX_DAYS; firstMinute = 0) {
    const date = new Date(day * DAY_MS);
    if (((fields.months >>> date.getUTCMonth()) & 1) === 0) {
      day = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / DAY_MS;
      continue;
    }
    const minute = matchesDay(fields, date) ? findMinute(fields, firstMinute) : undefined;
    if (minute !== undefined) return day * DAY_MS + minute * MINUTE_MS;
    day++;
  }
  return undefined;
}

function matchesDay({ days, weekdays, isEitherDay }: CronFields, date: Date): boolean {
  const isDay = ((days >>> date.getUTCDate()) & 1) === 1;
  const isWeekday = ((weekdays >>> date.getUTCDay()) & 1) === 1;
  return isEitherDay ? isDay || isWeekday : isDay && isWeekday;
}

/** Returns the first matching minute of a day from `least` on. */
function findMinute({ hours, minutes }: CronFields, least: number): number | undefined {
  const hour = findValue(hours, Math.floor(least / 60));
  if (hour === undefined) return undefined;
  const minute = findValue(minutes, Math.max(0, least - hour * 60));
  if (minute !== undefined) return hour * 60 + minute;
  const later = findValue(hours, hour + 1);
  return later === undefined ? undefined : later * 60 + (minutes[0] ?? 0);
}

/** Returns the first of ascending values from `least` on. An index is twice as fast here as an iterator. */
function findValue(values: Uint8Array, least: number): number | undefined {
  for (let index = 0; index < values.length; index++) {
    const value = values[index] ?? 0;
    if (value >= least) return value;
  }
  return undefined;
}
