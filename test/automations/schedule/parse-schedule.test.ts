import { expect, test } from "vitest";

import { findNextSlot } from "../../../src/automations/schedule/index.ts";
import { parse, toTexts } from "./sample.ts";

const DAILY = { cron: "0 9 * * *", zone: "Europe/Berlin" };

test("parses a schedule with all fields", () => {
  const schedule = parse({
    cron: "*/5 * * * *",
    zone: "Europe/Berlin",
    overlap: "queue",
    catchUp: "all",
    window: "2h",
    jitter: "30s",
    until: "2027-01-01T00:00:00+01:00",
    input: { channel: "general", depth: [1, null, true] },
  });
  expect(schedule).toMatchObject({
    times: { kind: "cron", zone: "Europe/Berlin" },
    gapMs: 300_000,
    overlap: "queue",
    catchUp: "all",
    windowMs: 7_200_000,
    jitterMs: 30_000,
    until: Date.parse("2026-12-31T23:00:00Z"),
    input: { channel: "general", depth: [1, null, true] },
  });
});

test("has defaults, with a longer window for a single slot", () => {
  expect(parse({ every: "5m" })).toEqual({
    times: { kind: "every", everyMs: 300_000 },
    gapMs: 300_000,
    overlap: "skip",
    catchUp: "none",
    windowMs: 3_600_000,
    jitterMs: 0,
  });
  expect(parse({ every: "5m", catchUp: "one" }).windowMs).toBe(7 * 86_400_000);
  expect(parse({ every: "5m", catchUp: "all", zone: null }).windowMs).toBe(3_600_000);
});

test.each([
  ["0 9 * * MON-FRI", "2026-11-30T09:00Z"],
  ["0 9 * * 7", "2026-11-29T09:00Z"],
  ["0 9 1 jan *", "2027-01-01T09:00Z"],
  ["  0   9\t29 2 * ", "2028-02-29T09:00Z"],
  ["0 9 13 * FRI", "2026-12-04T09:00Z"], // either day, as cron has it since 1979
  ["0 9 31 4,12 *", "2026-12-31T09:00Z"],
])("reads the cron expression %j", (cron, slot) => {
  const next = findNextSlot(parse({ cron, zone: "UTC" }), Date.parse("2026-11-27T09:00:00Z"));
  expect(toTexts([next ?? 0])).toEqual([slot]);
});

test.each([
  [
    "* * * * * *",
    "has 6 fields; write five: minute, hour, day of the month, month, day of the week; seconds and years are",
  ],
  ["* * * *", "has 4 fields; write five: minute, hour"],
  ["", "has 0 fields"],
  ["@daily", '"@daily" is not supported; write "0 0 * * *"'],
  ["@reboot", "is not supported; write five fields: minute"],
  ["0 0 L * *", 'has "L", and L is not supported; write the days, as in 28-31'],
  ["0 0 15W * *", 'has "15W", and W is not supported; write the days of the week'],
  ["0 0 * * FRI#2", 'has "FRI#2", and # is not supported; write the days, as in 8-14'],
  ["0 0 * * FRIL", 'has "FRIL", and L is not supported'],
  ["0 0 * JULY *", 'has "JULY"; write JUL'],
  ["0 0 * * MON,thursday", 'has "thursday"; write THU'],
  ["0 0 ? * *", 'has "?", and ? is not supported; write *'],
  ["0 0 1 * +MON", "and + is not supported"],
  ["H * * * *", "and H is not supported; write a number, and `jitter`"],
  ["61 * * * *", 'has a wrong minute "61": write 0 to 59, as in 5, 0,30, 10-20 or */15; Invalid value for minute: 61'],
  ["0 24 * * *", 'has a wrong hour "24"'],
  ["0 0 32 * *", 'has a wrong day of the month "32"'],
  ["0 0 * FOO *", 'has a wrong month "FOO"'],
  ["0 0 * * FRI-MON", 'has a wrong day of the week "FRI-MON": write 0 (Sunday) to 6 or SUN to SAT'],
  ["5/15 * * * *", 'has a wrong minute "5/15"'],
  ["*/0 * * * *", 'has a wrong minute "*/0"'],
  ["0 0 30 2 *", "never matches: none of its months has such a day"],
  ["0 0 31 2,4,6,9,11 *", "never matches"],
  [`${"0,".repeat(200)}0 * * * *`, "is longer than 300 characters"],
])("refuses the cron expression %j", (cron, why) => {
  expect(() => parse({ cron, zone: "UTC" })).toThrow(why);
  expect(() => parse({ cron, zone: "UTC" })).toThrow(/^schedule\.cron "/);
});

test.each([
  [null, "schedule is null; write an object with cron or every"],
  [["0 9 * * *"], "schedule is a list"],
  [{}, 'schedule has neither cron nor every; write cron: "0 9 * * *" with a zone, or every: 5m'],
  [{ ...DAILY, every: "5m" }, "schedule has both cron and every; write one of them"],
  [{ every: "5m", zone: "UTC" }, "schedule.zone has no effect on every, which counts from 1970 in UTC"],
  [{ cron: "0 9 * * *" }, "schedule has no zone, and cron names certain hours or days, which are others in each zone"],
  [{ cron: "*/5 * 1 * *" }, "schedule has no zone"],
  [{ cron: 5 }, "schedule.cron is 5; write a text"],
  [{ ...DAILY, zone: "Berlin" }, 'schedule.zone "Berlin" is not the IANA name of a zone; did you mean Europe/Berlin'],
  [{ ...DAILY, zone: "Europe/Berln" }, "did you mean Europe/Berlin"],
  [{ ...DAILY, zone: "+01:00" }, 'schedule.zone "+01:00" is not the IANA name of a zone; write one such as'],
  [{ ...DAILY, zone: "x".repeat(100_000) }, "is not the IANA name of a zone"],
  [{ ...DAILY, zone: 1 }, "schedule.zone is 1; write the IANA name"],
  [{ ...DAILY, catchup: "all" }, "Unknown field of schedule: catchup; did you mean catchUp?"],
  [{ ...DAILY, qqqqqq: 1 }, "Unknown field of schedule: qqqqqq; write cron, every, zone, overlap"],
  [{ ...DAILY, overlap: "skipp" }, 'schedule.overlap is "skipp"; did you mean skip?'],
  [{ ...DAILY, overlap: true }, "schedule.overlap is true; write skip, queue, parallel or cancel"],
  [{ ...DAILY, catchUp: "latest" }, 'schedule.catchUp is "latest"; write none, one or all'],
  [{ every: "30s" }, 'schedule.every "30s" is shorter than 1m; write a number with s, m, h or d, from 1m to 366d'],
  [{ every: "5" }, 'schedule.every "5" is not a period'],
  [{ every: 5 }, "schedule.every 5 is not a period"],
  [{ every: "400d" }, 'schedule.every "400d" is longer than 366d'],
  [{ every: "999999999d" }, "is longer than 366d"],
  [{ ...DAILY, window: "8d" }, 'schedule.window "8d" is longer than 7d'],
  [{ ...DAILY, jitter: "2h" }, 'schedule.jitter "2h" is longer than 1h'],
  [{ every: "5m", jitter: "6m" }, 'schedule.jitter "6m" is longer than the time between two slots; write at most 5m'],
  [{ cron: "0,10 9 * * *", zone: "UTC", jitter: "11m" }, "write at most 10m"],
  [{ ...DAILY, until: "2027-01-01" }, 'schedule.until "2027-01-01" is not a time; write one with its offset'],
  [{ ...DAILY, until: "2027-02-30T00:00:00Z" }, 'schedule.until "2027-02-30T00:00:00Z" is not a time'],
  [{ ...DAILY, until: "2027-01-01T25:00:00Z" }, "is not a time"],
  [{ ...DAILY, input: { a: () => 1 } }, "schedule.input is not JSON"],
  [{ ...DAILY, input: nest(101) }, "schedule.input is not JSON, or is nested deeper than 100 levels"],
])("refuses %j", (value, why) => {
  expect(() => parse(value)).toThrow(why);
});

test("takes the longest values that it says", () => {
  expect(parse({ every: "366d", window: "7d", jitter: "1h" })).toMatchObject({ jitterMs: 3_600_000 });
  expect(parse({ ...DAILY, input: nest(100) }).input).toEqual(nest(100));
  expect(parse({ cron: `${Array.from({ length: 60 }, (_, at) => at).join()} * * * *` }).gapMs).toBe(60_000);
});

function nest(levels: number): unknown {
  return levels === 0 ? 1 : [nest(levels - 1)];
}
