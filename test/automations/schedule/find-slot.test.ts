import { Cron } from "croner";
import { expect, test } from "vitest";

import { findNextSlot, listSlots, parseSchedule, type Schedule } from "../../../src/automations/schedule/index.ts";
import fc from "../../support/fuzz.ts";
import { repetitions } from "../../support/repetitions.ts";
import { ODD_ZONES, parse, toTexts } from "./sample.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const list = (schedule: Schedule, from: string, until: string): readonly string[] =>
  toTexts(listSlots(schedule, Date.parse(from) - 1, Date.parse(until), 1_000));

test.each([
  // The night of 28 to 29 March has no 02:30, the night of 24 to 25 October has two.
  ["Europe/Berlin", "30 2 * * *", "2026-03-28T00:00Z", ["2026-03-28T01:30Z", "2026-03-29T01:00Z", "2026-03-30T00:30Z"]],
  ["Europe/Berlin", "30 2 * * *", "2026-10-24T00:00Z", ["2026-10-24T00:30Z", "2026-10-25T00:30Z", "2026-10-26T01:30Z"]],
  [
    "Australia/Lord_Howe",
    "15 2 * * *",
    "2026-10-02T15:00Z",
    ["2026-10-02T15:45Z", "2026-10-03T15:30Z", "2026-10-04T15:15Z"],
  ],
  [
    "Australia/Lord_Howe",
    "45 1 * * *",
    "2026-04-03T14:00Z",
    ["2026-04-03T14:45Z", "2026-04-04T14:45Z", "2026-04-05T15:15Z"],
  ],
  ["America/Nuuk", "30 23 * * *", "2026-03-28T00:00Z", ["2026-03-28T01:30Z", "2026-03-29T01:00Z", "2026-03-30T00:30Z"]],
  ["Pacific/Apia", "0 9 * * *", "2011-12-28T00:00Z", ["2011-12-28T19:00Z", "2011-12-29T19:00Z", "2011-12-30T19:00Z"]],
  ["Etc/GMT+5", "0 9 * * *", "2026-03-28T00:00Z", ["2026-03-28T14:00Z", "2026-03-29T14:00Z", "2026-03-30T14:00Z"]],
])("runs each day once in %s: %s from %s", (zone, cron, from, slots) => {
  expect(list(parse({ cron, zone }), from, "2026-12-31T00:00Z").slice(0, 3)).toEqual(slots);
});

test("runs a schedule of every hour through the hour that is repeated, and not in the hour that is left out", () => {
  const schedule = parse({ cron: "*/30 * * * *", zone: "Europe/Berlin" });
  expect(list(schedule, "2026-10-25T00:00Z", "2026-10-25T01:30Z")).toHaveLength(4);
  expect(list(schedule, "2026-03-29T00:00Z", "2026-03-29T01:30Z")).toHaveLength(4);
});

test("counts every from 1970", () => {
  const schedule = parse({ every: "7d" });
  expect(findNextSlot(schedule, 0)).toBe(7 * DAY_MS);
  expect(findNextSlot(schedule, 7 * DAY_MS)).toBe(14 * DAY_MS);
  expect(findNextSlot(schedule, -1)).toBe(0);
});

test("has no slot after until", () => {
  const schedule = parse({ cron: "0 * * * *", until: "2026-11-27T12:00:00Z" });
  expect(list(schedule, "2026-11-27T10:30Z", "2027-01-01T00:00Z")).toEqual(["2026-11-27T11:00Z", "2026-11-27T12:00Z"]);
  expect(findNextSlot(schedule, Date.parse("2026-11-27T12:00Z"))).toBeUndefined();
});

const STEP = fc.integer({ min: 1, max: 20 });
const field = (min: number, max: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant("*") },
    fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 4 }).map((values) => values.join(",")),
    fc
      .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
      .map((ends) => `${Math.min(...ends)}-${Math.max(...ends)}`),
    STEP.map((step) => `*/${Math.min(step, max)}`),
  );
const FIELDS = fc.tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7));
const CRONS = FIELDS.map((fields) => fields.join(" "));
const TIMES = fc.integer({ min: Date.UTC(2001, 0, 1), max: Date.UTC(2090, 0, 1) });

test("finds the times that croner finds in UTC", { tags: "rest" }, () => {
  let compared = 0;
  fc.assert(
    fc.property(CRONS, TIMES, (cron, after) => {
      const schedule = tryToParse(cron, "UTC");
      if (schedule === undefined) return;
      const runs = new Cron(cron, { mode: "5-part", utcOffset: 0 }).nextRuns(5, new Date(after));
      expect(listSlots(schedule, after, Number.POSITIVE_INFINITY, 5)).toEqual(runs.map(Number));
      compared++;
    }),
    { numRuns: repetitions(200, 1_000, 20_000) },
  );
  expect(compared).toBeGreaterThan(100);
});

test("finds the same slots as a walk over all minutes around changes of the clock", { tags: "rest" }, () => {
  fc.assert(
    fc.property(fc.constantFrom(...ODD_ZONES), FIELDS, fc.nat(), ([zone, year], [minute, hour], pick) => {
      const schedule = tryToParse(`${minute} ${hour} * * *`, zone);
      const changes = listChanges(zone, year);
      const change = changes[pick % changes.length] ?? Date.UTC(year, 5, 1);
      if (schedule === undefined) return;
      const [from, until] = [change - DAY_MS, change + DAY_MS];
      const walked = walk({ zone, schedule, from, until });
      expect(listSlots(schedule, from, until, 10_000)).toEqual(walked);
    }),
    { numRuns: repetitions(8, 100, 2_000) },
  );
});

test("runs a daily schedule once on each day of the zone, in order", { tags: "repeated" }, () => {
  const DAILY = fc.tuple(fc.integer({ min: 0, max: 59 }), fc.integer({ min: 0, max: 23 }));
  const zones = fc.oneof(
    fc.constantFrom(...ODD_ZONES),
    fc.tuple(fc.constantFrom(...Intl.supportedValuesOf("timeZone")), fc.integer({ min: 2008, max: 2037 })),
  );
  fc.assert(
    fc.property(zones, DAILY, ([zone, year], [minute, hour]) => {
      const schedule = parse({ cron: `${minute} ${hour} * * *`, zone });
      const [from, until] = [Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 10)];
      const slots = listSlots(schedule, from, until, 1_000);
      expect(slots.every((slot, index) => index === 0 || slot > (slots[index - 1] ?? 0))).toBe(true);
      const days = new Set<string>();
      const readDay = createDayReader(zone);
      for (const slot of slots) days.add(readDay(slot));
      // Each day of a zone is longer than three hours.
      for (let at = slots[0] ?? 0; at <= (slots.at(-1) ?? 0); at += DAY_MS / 8) days.add(readDay(at));
      // A slot of the hour before midnight that is left out is at midnight.
      expect(slots.length - days.size).toBeOneOf(
        zone === "America/Nuuk" || zone === "America/Scoresbysund" ? [0, 1] : [0],
      );
    }),
    { numRuns: repetitions(8, 100, 2_000) },
  );
});

test("lists what repeated calls find", { tags: "rest" }, () => {
  fc.assert(
    fc.property(CRONS, fc.constantFrom(...ODD_ZONES), TIMES, (cron, [zone], after) => {
      const schedule = tryToParse(cron, zone);
      if (schedule === undefined) return;
      const slots: number[] = [];
      for (let slot = findNextSlot(schedule, after); slot !== undefined && slots.length < 20;) {
        slots.push(slot);
        slot = findNextSlot(schedule, slot);
      }
      expect(listSlots(schedule, after, Number.POSITIVE_INFINITY, 20)).toEqual(slots);
      expect(slots.every((slot, index) => slot > (slots[index - 1] ?? after))).toBe(true);
      expect(findNextSlot(schedule, (slots[3] ?? after + 1) - 1)).toBe(slots[3] ?? slots[0]);
    }),
    { numRuns: repetitions(100, 500, 10_000) },
  );
});

test("takes a bounded time for each expression", () => {
  const slow = ["0 0 29 2 *", "59 23 29 2 *", "*/59 23 31 12 *", "0-59 0-23 29 2 *", "* * 29 2 *"];
  for (const cron of slow) {
    const schedule = parse({ cron, zone: "Africa/Casablanca" });
    const startedAt = performance.now();
    const slot = findNextSlot(schedule, Date.parse("2096-03-01T00:00Z"));
    // The longest search of all, eight years, takes 2 ms; a machine with other work may stop the process meanwhile.
    expect(performance.now() - startedAt, cron).toBeLessThan(500);
    expect(slot).toBeDefined();
  }
});

function tryToParse(cron: string, zone: string): Schedule | undefined {
  class Impossible extends Error {}
  try {
    return parseSchedule({ cron, zone }, (why) =>
      why.includes("never matches") ? new Impossible(why) : new Error(why),
    );
  } catch (error) {
    if (error instanceof Impossible) return undefined;
    throw error;
  }
}

interface Walk {
  readonly zone: string;
  readonly schedule: Schedule;
  readonly from: number;
  readonly until: number;
}

/** Applies the definition to the clock that Node shows in each minute. */
function walk({ zone, schedule, from, until }: Walk): readonly number[] {
  if (schedule.times.kind !== "cron") throw new Error("This walk is for cron");
  const { hours, minutes } = schedule.times.fields;
  const matches = (local: number): boolean =>
    hours.includes(Math.floor(local / 3_600_000) % 24) && minutes.includes(Math.floor(local / MINUTE_MS) % 60);
  const moments = readMoments(zone, from - 2 * DAY_MS, until + 2 * DAY_MS);
  const slots = new Set<number>();
  if (hours.length === 24) for (const { at, local } of moments) if (matches(local)) slots.add(at);
  if (hours.length < 24) {
    const firstMoments = new Map(moments.toReversed().map(({ at, local }) => [local, at]));
    const days = new Set(moments.map(({ local }) => Math.floor(local / DAY_MS)));
    for (let local = moments[0]?.local ?? 0; local <= (moments.at(-1)?.local ?? 0); local += MINUTE_MS) {
      if (!matches(local) || !days.has(Math.floor(local / DAY_MS))) continue;
      slots.add(firstMoments.get(local) ?? moments.find((moment) => moment.local > local)?.at ?? 0);
    }
  }
  return [...slots].filter((slot) => slot > from && slot <= until).toSorted((a, b) => a - b);
}

interface Moment {
  readonly at: number;
  readonly local: number;
}

const readBefore = new Map<string, readonly Moment[]>();

/** Reads the clock of a zone in each minute, once for all schedules. */
function readMoments(zone: string, from: number, until: number): readonly Moment[] {
  const key = `${zone} ${from} ${until}`;
  const before = readBefore.get(key);
  if (before !== undefined) return before;
  const readLocal = createLocalReader(zone);
  const moments: Moment[] = [];
  for (let at = from; at <= until; at += MINUTE_MS) moments.push({ at, local: readLocal(at) });
  readBefore.set(key, moments);
  return moments;
}

function createLocalReader(zone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  });
  return (at) => {
    const [month = 1, day = 1, year = 0, hour = 0, minute = 0] = format.format(at).match(/\d+/g)?.map(Number) ?? [];
    return Date.UTC(year, month - 1, day, hour, minute);
  };
}

function createDayReader(zone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat("en-US", { timeZone: zone });
  return (at) => format.format(at);
}

const changesByZone = new Map<string, readonly number[]>();

/** Lists the hours in which the clock of a zone changes in a year. */
function listChanges(zone: string, year: number): readonly number[] {
  const key = `${zone} ${year}`;
  const changes = changesByZone.get(key) ?? findChanges(zone, year);
  changesByZone.set(key, changes);
  return changes;
}

function findChanges(zone: string, year: number): readonly number[] {
  const readLocal = createLocalReader(zone);
  const changes: number[] = [];
  for (let at = Date.UTC(year, 0, 1); at < Date.UTC(year + 1, 0, 2); at += 6 * 3_600_000)
    if (readLocal(at + 6 * 3_600_000) - readLocal(at) !== 6 * 3_600_000) changes.push(at);
  return changes;
}
