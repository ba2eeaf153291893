import { type CronFields, matchesEveryHour, runsEveryHour } from "./parse-cron.ts";
import { formatPeriod } from "./parse-period.ts";
import type { Schedule } from "./schedule.ts";

/** Describes the times of a schedule: `at 09:00, Monday to Friday, in Europe/Berlin`, or `every 5 minutes`. */
export function describeSchedule({ times }: Pick<Schedule, "times">): string {
  if (times.kind === "every") return `every ${formatPeriod(times.everyMs)}`;
  const { fields, zone } = times;
  if (runsEveryHour(fields)) return describeMinutes(fields);
  const parts = [describeHours(fields), describeDays(fields), describeMonths(fields), `in ${zone}`];
  return parts.filter((part) => part !== "").join(", ");
}

/** Returns the IANA name of the zone in which the times of a schedule are shown. */
export function getScheduleZone({ times }: Pick<Schedule, "times">): string {
  return times.kind === "cron" ? times.zone : "UTC";
}

/** Formats a time in milliseconds since 1970 by the clock of a zone: `Mon 2026-11-30 09:00`. */
export function formatZoneTime(time: number, zone: string): string {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    weekday: "short",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]));
  return `${parts["weekday"]} ${parts["year"]}-${parts["month"]}-${parts["day"]} ${parts["hour"]}:${parts["minute"]}`;
}

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** The minutes of each hour. */
function describeMinutes({ minutes }: CronFields): string {
  const step = findStep(minutes, 60);
  if (step === 1) return "every minute";
  if (step !== undefined) return minutes.length === 1 ? "every hour" : `every ${step} minutes`;
  return `at ${minutes.length === 1 ? "minute" : "the minutes"} ${formatNumbers([...minutes])} of every hour`;
}

/** Times of the day are listed up to this number. */
const MAX_TIMES = 6;

function describeHours(fields: CronFields): string {
  const { hours, minutes } = fields;
  if (matchesEveryHour(fields)) return describeMinutes(fields);
  if (hours.length * minutes.length > MAX_TIMES)
    return `${describeMinutes(fields).replace(" of every hour", "")} of the hours ${formatNumbers([...hours])}`;
  const times = [...hours].flatMap((hour) => [...minutes].map((minute) => `${pad(hour)}:${pad(minute)}`));
  return `at ${formatList(times)}`;
}

function describeDays({ days, weekdays, isEitherDay }: CronFields): string {
  const numbers = listBits(days, 1, 31);
  const names = listBits(weekdays, 0, 6);
  const isAnyDay = numbers.length === 31;
  const isAnyWeekday = names.length === 7;
  const dayText = `on day ${formatNumbers(numbers)} of the month`;
  if (isAnyDay && isAnyWeekday) return "every day";
  if (isAnyDay || isAnyWeekday) return isAnyDay ? formatNames(names, WEEKDAYS) : dayText;
  return `${dayText} ${isEitherDay ? "or" : "if it is"} ${formatNames(names, WEEKDAYS)}`;
}

function describeMonths({ months }: CronFields): string {
  const numbers = listBits(months, 0, 11);
  return numbers.length === 12 ? "" : `in ${formatNames(numbers, MONTHS)}`;
}

/** Returns the distance of values that divide a whole evenly, from 0. */
function findStep(values: Uint8Array, whole: number): number | undefined {
  const step = whole / values.length;
  return values.every((value, at) => value === at * step) ? step : undefined;
}

function listBits(bits: number, first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at).filter((bit) => (bits & (1 << bit)) !== 0);
}

/** `1, 5 to 9` */
function formatNumbers(numbers: readonly number[]): string {
  return formatRanges(numbers, String).join(", ");
}

/** `Monday to Friday`, or `Monday and Wednesday` */
function formatNames(numbers: readonly number[], names: readonly string[]): string {
  return formatList(formatRanges(numbers, (number) => names[number] ?? ""));
}

/** Joins three successive numbers or more to a range. */
function formatRanges(numbers: readonly number[], format: (number: number) => string): readonly string[] {
  const ranges: number[][] = [];
  for (const number of numbers) {
    const range = ranges.at(-1);
    if (range?.at(-1) === number - 1) range.push(number);
    else ranges.push([number]);
  }
  return ranges.flatMap((range) => {
    const [first = 0, last = 0] = [range[0], range.at(-1)];
    return range.length < 3 ? range.map(format) : [`${format(first)} to ${format(last)}`];
  });
}

function formatList(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

function pad(number: number): string {
  return String(number).padStart(2, "0");
}
