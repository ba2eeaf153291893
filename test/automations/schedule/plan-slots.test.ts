import { expect, test } from "vitest";

import {
  findNextSlot,
  GRACE_MS,
  getStartTime,
  listSlots,
  MAX_COUNTED_SLOTS,
  MAX_LISTED_SLOTS,
  planSlots,
  type Schedule,
  type SlotPlan,
} from "../../../src/automations/schedule/index.ts";
import fc from "../../support/fuzz.ts";
import { repetitions } from "../../support/repetitions.ts";
import { parse, toTexts } from "./sample.ts";

const MINUTE_MS = 60_000;
const NOON = Date.parse("2026-11-27T12:00:00Z");

const plan = (schedule: Schedule, lastSlot: number | undefined, now: number): SlotPlan =>
  planSlots(schedule, { name: "report", lastSlot, now });

const getDue = ({ due }: SlotPlan): readonly string[] => toTexts(due.map(({ slot }) => slot));

test("begins with the next slot", () => {
  const schedule = parse({ every: "5m", catchUp: "all" });
  expect(plan(schedule, undefined, NOON + 1_000)).toEqual({
    due: [],
    missed: [],
    missedCount: 0,
    isCountComplete: true,
    droppedCount: 0,
    decidedUntil: NOON + 1_000,
  });
});

test("runs a slot that is on time, and counts one that is later than a minute as missed", () => {
  const schedule = parse({ every: "5m" });
  const onTime = plan(schedule, NOON - 1, NOON + GRACE_MS);
  expect(onTime).toMatchObject({
    due: [{ slot: NOON, startsAt: NOON, isLate: false }],
    missed: [],
    decidedUntil: NOON,
  });
  const late = plan(schedule, NOON - 1, NOON + GRACE_MS + 1);
  expect(late).toMatchObject({ due: [], missed: [NOON], missedCount: 1, decidedUntil: NOON });
});

test("decides about no slot twice", () => {
  const schedule = parse({ every: "1m" });
  const first = plan(schedule, NOON - MINUTE_MS, NOON + 1);
  expect(getDue(first)).toEqual(["2026-11-27T12:00Z"]);
  expect(plan(schedule, first.decidedUntil, NOON + 2)).toMatchObject({ due: [], missed: [], decidedUntil: NOON });
});

test.each([
  ["none", undefined, [], 24],
  ["one", undefined, ["2026-11-27T12:00Z"], 23],
  ["one", "1m", [], 24], // 12:00 is older
  ["all", undefined, ["2026-11-27T11:05Z", "2026-11-27T12:00Z"], 12],
  ["all", "2h", ["2026-11-27T10:05Z", "2026-11-27T12:00Z"], 0],
])("catches up %s within %s", (catchUp, window, ends, missedCount) => {
  const schedule = parse({ every: "5m", catchUp, window });
  const { due, ...rest } = plan(schedule, NOON - 120 * MINUTE_MS, NOON + 2 * MINUTE_MS);
  const texts = toTexts(due.map(({ slot }) => slot));
  expect([...new Set([texts[0], texts.at(-1)])].filter((text) => text !== undefined)).toEqual(ends);
  expect(due.every(({ isLate }) => isLate)).toBe(true);
  expect(rest).toMatchObject({ missedCount, isCountComplete: true, droppedCount: 0, decidedUntil: NOON });
  expect(due.length + missedCount).toBe(24);
});

test("runs a slot that is on time after those that catch up", () => {
  const schedule = parse({ every: "5m", catchUp: "one" });
  const { due, missedCount } = plan(schedule, NOON - 20 * MINUTE_MS, NOON + 1);
  expect(due.map(({ slot, isLate }) => [slot - NOON, isLate])).toEqual([
    [-5 * MINUTE_MS, true],
    [0, false],
  ]);
  expect(missedCount).toBe(2);
});

test("catches up at most 1,000 slots, the latest, and says how many it drops", () => {
  const schedule = parse({ every: "1m", catchUp: "all", window: "7d" });
  const { due, missed, missedCount, droppedCount } = plan(schedule, NOON - 14 * 86_400_000, NOON + 1);
  expect(due).toHaveLength(MAX_LISTED_SLOTS + 1); // with the one that is on time
  expect(due.at(-1)?.slot).toBe(NOON);
  expect(droppedCount).toBe(7 * 1_440 - 1 - MAX_LISTED_SLOTS);
  expect(missed).toHaveLength(MAX_LISTED_SLOTS);
  expect(missed.at(-1)).toBe((due[0]?.slot ?? 0) - MINUTE_MS);
  expect(missedCount).toBe(MAX_COUNTED_SLOTS);
});

test("lists the latest 1,000 missed slots, and counts at most 10,000", () => {
  const schedule = parse({ cron: "* * * * *" });
  const few = plan(schedule, NOON - 5_002 * MINUTE_MS, NOON + 1);
  expect(few).toMatchObject({ missedCount: 5_001, isCountComplete: true, decidedUntil: NOON });
  expect(few.missed).toHaveLength(MAX_LISTED_SLOTS);
  expect(few.missed.at(-1)).toBe(NOON - MINUTE_MS);
  expect(plan(schedule, 0, NOON + 1)).toMatchObject({ missedCount: MAX_COUNTED_SLOTS, isCountComplete: false });
});

test("waits for the jitter of a slot, which is the same in all processes", () => {
  const schedule = parse({ every: "5m", jitter: "5m" });
  const startsAt = getStartTime(schedule, "report", NOON);
  expect(startsAt - NOON).toBe(74_378);
  expect(getStartTime(schedule, "other", NOON)).not.toBe(startsAt);
  const early = plan(schedule, NOON - 5 * MINUTE_MS, startsAt - 1);
  expect(early).toMatchObject({ due: [], missed: [], decidedUntil: NOON - 5 * MINUTE_MS });
  expect(plan(schedule, early.decidedUntil, startsAt)).toMatchObject({
    due: [{ slot: NOON, startsAt, isLate: false }],
  });
  expect(plan(schedule, early.decidedUntil, startsAt + GRACE_MS + 1)).toMatchObject({ due: [], missed: [NOON] });
});

test("keeps the order of slots by jitter also where a change of the clock shortens the time between them", () => {
  const schedule = parse({ cron: "15,45 2,3 * * *", zone: "Europe/Berlin", jitter: "30m" });
  const slots = listSlots(schedule, Date.parse("2026-03-29T00:00Z"), Date.parse("2026-03-29T12:00Z"), 10);
  expect(toTexts(slots)).toEqual(["2026-03-29T01:00Z", "2026-03-29T01:15Z", "2026-03-29T01:45Z"]);
  for (let at = 0; at < 50; at++) {
    const starts = slots.map((slot) => getStartTime(schedule, `job-${at}`, slot));
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    expect(
      starts.every((start, index) => start >= (slots[index] ?? 0) && start <= (slots[index + 1] ?? Infinity)),
    ).toBe(true);
  }
});

test("runs slots again that are due after the clock went back", () => {
  const schedule = parse({ every: "5m", catchUp: "all" });
  const afterJump = plan(schedule, NOON + 60 * MINUTE_MS, NOON + 1_000);
  expect(getDue(afterJump)).toEqual(["2026-11-27T12:00Z"]);
  expect(afterJump).toMatchObject({ missed: [], missedCount: 0, decidedUntil: NOON });
  const next = plan(schedule, afterJump.decidedUntil, NOON + 5 * MINUTE_MS);
  expect(getDue(next)).toEqual(["2026-11-27T12:05Z"]);
});

test("loses no slot, however often and when it looks", { tags: "repeated" }, () => {
  const schedules = fc.constantFrom(
    parse({ every: "1m" }),
    parse({ every: "7m", jitter: "3m", catchUp: "all", window: "7d" }),
    parse({ cron: "*/10 * * * *", zone: "Africa/Casablanca", jitter: "10m", catchUp: "one" }),
    parse({ cron: "15,45 2-5 * * *", zone: "Europe/Berlin", jitter: "30m", catchUp: "all" }),
  );
  const steps = fc.array(fc.integer({ min: 1, max: 5_000_000 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(schedules, steps, (schedule, pauses) => {
      const begin = Date.parse("2026-03-28T22:00Z");
      let [now, lastSlot] = [begin, plan(schedule, undefined, begin).decidedUntil];
      const decided: number[] = [];
      for (const pause of pauses) {
        now += pause;
        const { due, missed, missedCount, decidedUntil } = plan(schedule, lastSlot, now);
        expect(missed).toHaveLength(missedCount);
        expect(due.every(({ startsAt, isLate }) => startsAt <= now && isLate === startsAt < now - GRACE_MS)).toBe(true);
        decided.push(...[...missed, ...due.map(({ slot }) => slot)].toSorted((a, b) => a - b));
        lastSlot = decidedUntil;
      }
      const started = listSlots(schedule, begin, now, 100_000).filter(
        (slot) => getStartTime(schedule, "report", slot) <= now,
      );
      expect(decided).toEqual(started);
    }),
    { numRuns: repetitions(50, 200, 5_000) },
  );
});

test("takes a bounded time after years in which no process ran", { tags: "rest" }, () => {
  for (const cron of ["* * * * *", "* * * 1 *", "* * 1 1 *", "0 0 29 2 *", "*/7 3 * * MON"]) {
    const schedule = parse({ cron, zone: "Africa/Casablanca", catchUp: "all", window: "7d", jitter: "1m" });
    const startedAt = performance.now();
    const { decidedUntil } = plan(schedule, 0, Date.UTC(2100, 11, 31));
    // Some 20 ms on a machine without other work.
    expect(performance.now() - startedAt, cron).toBeLessThan(1_000);
    expect(findNextSlot(schedule, decidedUntil)).toBeGreaterThanOrEqual(Date.UTC(2100, 11, 31));
  }
});
