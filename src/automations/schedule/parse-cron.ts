import { CronPattern } from "croner";

import { getMessage } from "../../errors.ts";
import { quote } from "../../shared/format-text.ts";
import { findNextLocalTime } from "./local-times.ts";

/** The values that the five fields of a cron expression allow, each ascending. */
export interface CronFields {
  readonly minutes: Uint8Array;
  readonly hours: Uint8Array;
  /** Bit 1 is the first day of a month. */
  readonly days: number;
  /** Bit 0 is January. */
  readonly months: number;
  /** Bit 0 is Sunday. */
  readonly weekdays: number;
  /** Both fields of days are restricted: a day of either matches. Otherwise it must match both. */
  readonly isEitherDay: boolean;
}

/** All minutes of an hour as a list have fewer characters. */
const MAX_CHARACTERS = 300;

const FIELDS = ["minute", "hour", "day of the month", "month", "day of the week"] as const;

const NICKNAMES: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * SUN",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/** Signs of other dialects, and what to write instead. */
const FOREIGN_SIGNS: Readonly<Record<string, string>> = {
  L: "write the days, as in 28-31, and let the program check for the last one",
  W: "write the days of the week, as in MON-FRI",
  "#": "write the days, as in 8-14 for the second week, and let the program check the day of the week",
  "?": "write *",
  "+": "a day matches if either field of days does; let the program check the other one",
  H: "write a number, and `jitter` to spread the starts",
};

const NAMES = /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)\b/gi;

/** `THURSDAY` or `sept`, but not `FRIL`, which has a sign. */
const LONG_NAME = /\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)(?!l\b)[a-z]+/i;

/** Any day from which eight years have a 29 February. */
const SEARCH_START = Date.UTC(2000, 0, 1);

/** Parses a cron expression of five fields. `fail` makes an error of the reason. */
export function parseCron(text: string, fail: (why: string) => Error): CronFields {
  const refuse = (why: string): Error => fail(`${quote(text)} ${why}`);
  if (text.length > MAX_CHARACTERS) throw refuse(`is longer than ${MAX_CHARACTERS} characters`);
  const words = text.split(/\s+/).filter(Boolean);
  const nickname = words.find((word) => word.startsWith("@"));
  if (nickname !== undefined) throw refuse(`is not supported; ${describeNickname(nickname)}`);
  if (words.length !== FIELDS.length) throw refuse(`has ${words.length} fields; write five: ${describeFields(words)}`);
  for (const word of words) {
    const longName = LONG_NAME.exec(word);
    if (longName !== null) throw refuse(`has ${quote(longName[0])}; write ${(longName[1] ?? "").toUpperCase()}`);
    const [sign] = /[lw#?+h]/i.exec(word.replace(NAMES, "")) ?? [];
    const advice = sign === undefined ? undefined : FOREIGN_SIGNS[sign.toUpperCase()];
    if (advice !== undefined) throw refuse(`has ${quote(word)}, and ${sign} is not supported; ${advice}`);
  }
  const fields = readFields(words, refuse);
  if (findNextLocalTime(fields, SEARCH_START) === undefined)
    throw refuse("never matches: none of its months has such a day");
  return fields;
}

/** True if a minute of each hour matches, on the days that match. */
export function matchesEveryHour({ hours }: CronFields): boolean {
  return hours.length === 24;
}

/** True if at least one minute of each hour of each day matches. */
export function runsEveryHour(fields: CronFields): boolean {
  const [hasDays, hasWeekdays] = [fields.days === ALL_DAYS, fields.weekdays === ALL_WEEKDAYS];
  const isEveryDay = fields.isEitherDay ? hasDays || hasWeekdays : hasDays && hasWeekdays;
  return matchesEveryHour(fields) && fields.months === ALL_MONTHS && isEveryDay;
}

/** The shortest time between two matching minutes of days that follow each other, in milliseconds. */
export function getShortestGapMs({ minutes, hours }: CronFields): number {
  const times = [...hours].flatMap((hour) => [...minutes].map((minute) => hour * 60 + minute));
  const gaps = times.map((time, index) => (times[index + 1] ?? (times[0] ?? 0) + MINUTES_OF_DAY) - time);
  return Math.min(...gaps) * 60_000;
}

const MINUTES_OF_DAY = 1_440;
const ALL_DAYS = ~1;
const ALL_MONTHS = 0xfff;
const ALL_WEEKDAYS = 0x7f;

function readFields(words: readonly string[], refuse: (why: string) => Error): CronFields {
  const { minute, hour, day, month, dayOfWeek, starDOM, starDOW } = readPattern(words, refuse);
  return {
    minutes: Uint8Array.from(listValues(minute)),
    hours: Uint8Array.from(listValues(hour)),
    days: toBits(listValues(day).map((index) => index + 1)),
    months: toBits(listValues(month)),
    weekdays: toBits(listValues(dayOfWeek.slice(0, 7))),
    isEitherDay: !starDOM && !starDOW,
  };
}

function readPattern(words: readonly string[], refuse: (why: string) => Error): CronPattern {
  try {
    return new CronPattern(words.join(" "), undefined, { mode: "5-part" });
  } catch (error) {
    throw refuse(describeFault(words) ?? getMessage(error));
  }
}

/** Describes the first field that is wrong by itself. The messages of the package have other numbers and no names of fields. */
function describeFault(words: readonly string[]): string | undefined {
  for (const [index, word] of words.entries()) {
    try {
      void new CronPattern(words.map((_, at) => (at === index ? word : "*")).join(" "), undefined, { mode: "5-part" });
    } catch (error) {
      return `has a wrong ${FIELDS[index]} ${quote(word)}: ${RANGES[index]}; ${simplify(getMessage(error))}`;
    }
  }
  return undefined;
}

const RANGES = [
  "write 0 to 59, as in 5, 0,30, 10-20 or */15",
  "write 0 to 23, as in 9, 8,20, 9-17 or */6",
  "write 1 to 31, as in 1, 1,15, 1-7 or */2",
  "write 1 to 12 or JAN to DEC, as in 6, JAN,JUL, 3-5 or */3",
  "write 0 (Sunday) to 6 or SUN to SAT, as in MON, 1,3, MON-FRI or */2",
] as const;

const simplify = (message: string): string =>
  message.replace(/^CronPattern: /, "").replace(/configuration entry \d \(.*\) /, "it ");

const describeNickname = (nickname: string): string => {
  const expression = NICKNAMES[nickname.toLowerCase()];
  return expression === undefined ? `write five fields: ${FIELDS.join(", ")}` : `write ${quote(expression)}`;
};

const describeFields = ({ length }: readonly string[]): string =>
  `${FIELDS.join(", ")}${length === 6 || length === 7 ? "; seconds and years are not supported" : ""}`;

const listValues = (flags: readonly number[]): readonly number[] =>
  flags.flatMap((flag, index) => (flag === 0 ? [] : [index]));

const toBits = (values: readonly number[]): number => values.reduce((bits, value) => bits | (1 << value), 0);
