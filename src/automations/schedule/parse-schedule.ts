import { isRecord, type Json } from "../../model/json.ts";
import { formatChoices, quote } from "../../shared/format-text.ts";
import { describeUnknownName, didYouMean, suggestNames } from "../../shared/suggest.ts";
import { getShortestGapMs, parseCron, runsEveryHour } from "./parse-cron.ts";
import { describeValue, formatPeriod, parsePeriod } from "./parse-period.ts";
import {
  CATCH_UPS,
  type CronTimes,
  type IntervalTimes,
  OVERLAPS,
  type Schedule,
  type ScheduleCatchUp,
} from "./schedule.ts";
import { getZoneClock } from "./zone-clock.ts";

const FIELDS = ["cron", "every", "zone", "overlap", "catchUp", "window", "jitter", "until", "input"] as const;

type ScheduleField = (typeof FIELDS)[number];
type FailSchedule = (why: string) => Error;

/** More often than once a minute, the start of a run costs more than the run. */
const EVERY_RANGE = { min: "1m", max: "366d" };

const MAX_WINDOW = "7d";
const WINDOW_RANGE = { min: "1m", max: MAX_WINDOW };

/** The single slot that `one` runs may be older: a daily one of the night runs in the morning. */
const DEFAULT_WINDOWS: Readonly<Record<ScheduleCatchUp, string>> = { none: "1h", one: MAX_WINDOW, all: "1h" };

const MAX_JITTER = "1h";

/**
 * Parses the section `schedule` of an automation. `fail` makes an error of the reason, which begins with the name of the field:
 * `schedule.zone "Berlin" is not the IANA name of a zone; did you mean Europe/Berlin?`
 */
export function parseSchedule(value: unknown, fail: FailSchedule): Schedule {
  if (!isRecord(value)) throw fail(`schedule is ${describeValue(value)}; write an object with cron or every`);
  for (const name of Object.keys(value)) requireField(name, fail);
  const read = (field: ScheduleField): unknown => value[field] ?? undefined;
  const failAt = (field: ScheduleField) => (why: string) => fail(`schedule.${field} ${why}`);

  const times = parseTimes(read, fail);
  const gapMs = times.kind === "every" ? times.everyMs : getShortestGapMs(times.fields);
  const catchUp = parseChoice(read("catchUp") ?? "none", CATCH_UPS, failAt("catchUp"));
  const until = read("until");
  const input = read("input");
  return {
    times,
    gapMs,
    overlap: parseChoice(read("overlap") ?? "skip", OVERLAPS, failAt("overlap")),
    catchUp,
    windowMs: parsePeriod(read("window") ?? DEFAULT_WINDOWS[catchUp], WINDOW_RANGE, failAt("window")),
    jitterMs: parseJitter(read("jitter") ?? "0s", gapMs, failAt("jitter")),
    ...(until !== undefined && { until: parseUntil(until, failAt("until")) }),
    ...(input !== undefined && { input: parseInput(input, failAt("input")) }),
  };
}

function requireField(name: string, fail: FailSchedule): void {
  if ((FIELDS as readonly string[]).includes(name)) return;
  const otherwise = `write ${formatChoices(FIELDS)}`;
  throw fail(describeUnknownName("field of schedule", name, FIELDS, { otherwise }).message);
}

function parseTimes(read: (field: ScheduleField) => unknown, fail: FailSchedule): CronTimes | IntervalTimes {
  const [cron, every, zone] = [read("cron"), read("every"), read("zone")];
  if (cron === undefined && every === undefined)
    throw fail('schedule has neither cron nor every; write cron: "0 9 * * *" with a zone, or every: 5m');
  if (cron !== undefined && every !== undefined) throw fail("schedule has both cron and every; write one of them");
  if (every !== undefined) {
    if (zone !== undefined)
      throw fail("schedule.zone has no effect on every, which counts from 1970 in UTC; leave it out, or write cron");
    const failEvery = (why: string): Error => fail(`schedule.every ${why}`);
    return { kind: "every", everyMs: parsePeriod(every, EVERY_RANGE, failEvery) };
  }
  if (typeof cron !== "string")
    throw fail(`schedule.cron is ${describeValue(cron)}; write a text, as in cron: "*/5 * * * *"`);
  const fields = parseCron(cron, (why) => fail(`schedule.cron ${why}`));
  if (zone === undefined && !runsEveryHour(fields))
    throw fail(
      "schedule has no zone, and cron names certain hours or days, which are others in each zone; write zone: Europe/Berlin, or UTC",
    );
  if (zone !== undefined && typeof zone !== "string")
    throw fail(`schedule.zone is ${describeValue(zone)}; write the IANA name of a zone, such as Europe/Berlin`);
  return { kind: "cron", fields, zone: parseZone(zone ?? "UTC", (why) => fail(`schedule.zone ${why}`)) };
}

function parseChoice<Choice extends string>(value: unknown, choices: readonly Choice[], fail: FailSchedule): Choice {
  const choice = choices.find((each) => each === value);
  if (choice !== undefined) return choice;
  const advice = typeof value === "string" ? didYouMean(suggestNames(value, choices)) : "";
  throw fail(`is ${describeValue(value)}; ${advice || `write ${formatChoices(choices)}`}`);
}

/** The start of a run must not be later than the next slot. */
function parseJitter(value: unknown, gapMs: number, fail: FailSchedule): number {
  const jitterMs = parsePeriod(value, { min: "0s", max: MAX_JITTER }, fail);
  if (jitterMs <= gapMs) return jitterMs;
  throw fail(`${describeValue(value)} is longer than the time between two slots; write at most ${formatPeriod(gapMs)}`);
}

/** Without the offset, the moment would depend on the zone of the machine. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

function parseUntil(value: unknown, fail: FailSchedule): number {
  const time = typeof value === "string" && TIME.test(value) && hasDay(value) ? Date.parse(value) : Number.NaN;
  if (Number.isFinite(time)) return time;
  throw fail(`${describeValue(value)} is not a time; write one with its offset, as in 2027-01-01T00:00:00Z`);
}

/** `Date.parse` reads 30 February as 2 March. */
function hasDay(text: string): boolean {
  const day = text.slice(0, 10);
  const time = Date.parse(day);
  return Number.isFinite(time) && new Date(time).toISOString().startsWith(day);
}

function parseInput(value: unknown, fail: FailSchedule): Json {
  if (isJson(value)) return value;
  throw fail(
    "is not JSON, or is nested deeper than 100 levels; write texts, numbers, true, false, null, lists and objects",
  );
}

const MAX_DEPTH = 100;

function isJson(value: unknown, depth = 0): value is Json {
  if (depth > MAX_DEPTH) return false;
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (Array.isArray(value)) return value.every((each) => isJson(each, depth + 1));
  return isPlain(value) && Object.values(value).every((each) => isJson(each, depth + 1));
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value));
}

/** The longest name of a zone has 32 characters. */
const MAX_CHARACTERS = 64;

/** An IANA name has words, at most three parts and maybe an offset from GMT. Node also takes offsets, which are not names. */
const NAME = /^[a-z][\w+-]*(?:\/[\w+-]+){0,2}$/i;

/** Parses the IANA name of a zone. `fail` makes an error of the reason. */
function parseZone(text: string, fail: (why: string) => Error): string {
  if (text.length <= MAX_CHARACTERS && NAME.test(text) && hasClock(text)) return text;
  const advice = didYouMean(suggestNames(text, ["UTC", ...Intl.supportedValuesOf("timeZone")]));
  throw fail(`${quote(text)} is not the IANA name of a zone; ${advice || "write one such as Europe/Berlin or UTC"}`);
}

function hasClock(zone: string): boolean {
  try {
    getZoneClock(zone);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
