import { EventEmitter, once } from "node:events";
import { expect, onTestFinished, test } from "vitest";

import type { SlotPlan } from "../../src/automations/schedule/index.ts";
import { createScheduler, type Scheduler, type SchedulerClock } from "../../src/automations/scheduler.ts";
import { SYSTEM_CLOCK } from "../../src/automations/scheduler/clock.ts";
import { FakeClock } from "./fake-clock.ts";
import { parse } from "./schedule/sample.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

interface Bed {
  readonly clock: FakeClock;
  readonly scheduler: Scheduler;
  readonly logged: string[];
  /** The slots that were passed to `onDue`, as `report 12:00` or, of a missed one, `report missed 12:00`. */
  readonly calls: string[];
}

/** Opens a scheduler at noon. `onDue` runs before a call is noted. */
function open(
  onDue: (name: string, slots: SlotPlan) => unknown = () => {},
  clock = new FakeClock("2026-11-27T12:00:30Z"),
): Bed {
  const [logged, calls]: [string[], string[]] = [[], []];
  const scheduler = createScheduler({
    clock,
    log: (text) => logged.push(text),
    async onDue(name, slots) {
      await onDue(name, slots);
      calls.push(...slots.missed.map((slot) => `${name} missed ${toTime(slot)}`));
      calls.push(...slots.due.map(({ slot }) => `${name} ${toTime(slot)}`));
    },
  });
  onTestFinished(() => void scheduler.close());
  return { clock, scheduler, logged, calls };
}

const toTime = (slot: number): string => new Date(slot).toISOString().slice(11, 16);

const EVERY_5 = parse({ every: "5m" });

test("starts each slot at its time, with one timer", async () => {
  const { clock, scheduler, calls, logged } = open();
  scheduler.setSchedules([
    { name: "often", schedule: EVERY_5 },
    { name: "hourly", schedule: parse({ cron: "10 * * * *" }) },
    { name: "never", schedule: parse({ cron: "0 9 1 1 *", zone: "UTC" }) },
  ]);
  await clock.advance(4 * MINUTE_MS);
  expect(calls).toEqual([]);
  expect(clock.timerCount).toBe(1);
  await clock.advance(30 * SECOND_MS);
  expect(calls).toEqual(["often 12:05"]);
  await clock.advance(5 * MINUTE_MS);
  expect(calls.toSorted()).toEqual(["hourly 12:10", "often 12:05", "often 12:10"]);
  expect(clock.timerCount).toBe(1);
  expect(clock.firedCount).toBeLessThanOrEqual(15); // once a minute, and at starts
  expect(logged).toEqual([]);
});

test("waits for the jitter of a slot", async () => {
  const { clock, scheduler, calls } = open();
  scheduler.setSchedules([{ name: "report", schedule: parse({ every: "1h", jitter: "30m" }) }]);
  await clock.advance(HOUR_MS - 30 * SECOND_MS);
  expect(calls).toEqual([]);
  await clock.advance(30 * MINUTE_MS);
  expect(calls).toEqual(["report 13:00"]);
});

test("runs what was missed while no process ran, by `catchUp`, and says so", async () => {
  const { clock, scheduler, calls, logged } = open();
  const lastSlot = Date.parse("2026-11-27T11:40:00Z");
  scheduler.setSchedules([
    { name: "none", schedule: EVERY_5, lastSlot },
    { name: "one", schedule: parse({ every: "5m", catchUp: "one" }), lastSlot },
  ]);
  await clock.advance(SECOND_MS);
  const missed = ["11:45", "11:50", "11:55"];
  expect(calls.toSorted()).toEqual([
    "none 12:00",
    ...missed.map((time) => `none missed ${time}`),
    "one 11:55",
    "one 12:00",
    ...missed.slice(0, 2).map((time) => `one missed ${time}`),
  ]);
  expect(logged.toSorted()).toEqual([
    "none missed 3 slots, the last at 2026-11-27T11:55:00.000Z",
    "one missed 3 slots, the last at 2026-11-27T11:55:00.000Z; 1 of them runs now",
  ]);
});

test("notices that the clock was set forward, and counts slots as missed", async () => {
  const { clock, scheduler, calls, logged } = open();
  scheduler.setSchedules([{ name: "report", schedule: EVERY_5 }]);
  await clock.advance(SECOND_MS);
  clock.set(2 * HOUR_MS);
  await clock.advance(MINUTE_MS);
  expect(calls).toHaveLength(24);
  expect(calls.at(-1)).toBe("report missed 14:00");
  expect(logged).toEqual([
    "The clock of this machine went forward by 2 h, or the machine slept; slots of this time were missed",
    "report missed 24 slots, the last at 2026-11-27T14:00:00.000Z",
  ]);
  await clock.advance(5 * MINUTE_MS);
  expect(calls.at(-1)).toBe("report 14:05");
});

test("notices that the clock was set back, and is never silent", async () => {
  const { clock, scheduler, calls, logged } = open();
  scheduler.setSchedules([{ name: "report", schedule: EVERY_5 }]);
  await clock.advance(10 * MINUTE_MS);
  expect(calls).toEqual(["report 12:05", "report 12:10"]);
  clock.set(-HOUR_MS);
  await clock.advance(10 * MINUTE_MS);
  expect(calls.slice(2)).toEqual(["report 11:15", "report 11:20"]);
  expect(logged).toEqual(["The clock of this machine went back by 60 min; slots are due from the new time on"]);
  await clock.advance(50 * MINUTE_MS);
  expect(calls.slice(-2)).toEqual(["report 12:05", "report 12:10"]);
});

test("begins at once although the last slot of the store is in the future", async () => {
  const { clock, scheduler, calls } = open();
  scheduler.setSchedules([{ name: "report", schedule: EVERY_5, lastSlot: Date.parse("2106-01-01T00:00:00Z") }]);
  await clock.advance(5 * MINUTE_MS);
  expect(calls).toEqual(["report 12:05"]);
});

test("repeats a call that fails, with growing pauses, and loses none of its slots", async () => {
  let isBroken = true;
  const times: number[] = [];
  const { clock, scheduler, calls, logged } = open(() => {
    times.push(clock.now());
    if (isBroken) throw new Error("the disk is full");
  });
  scheduler.setSchedules([{ name: "report", schedule: EVERY_5 }]);
  await clock.advance(15 * MINUTE_MS);
  expect(calls).toEqual([]);
  const pauses = times.slice(1, 9).map((time, index) => (time - (times[index] ?? 0)) / SECOND_MS);
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  expect(logged[0]).toBe("Cannot store the slots of report (failure 1, again in 1 s): the disk is full");
  expect(logged[6]).toBe("Cannot store the slots of report (failure 7, again in 60 s): the disk is full");
  isBroken = false;
  await clock.advance(MINUTE_MS);
  expect(calls).toEqual(["report 12:05", "report 12:10", "report 12:15"]);
  await clock.advance(5 * MINUTE_MS);
  expect(calls.at(-1)).toBe("report 12:20");
});

test("keeps at most 1,000 slots of an automation that cannot be stored, and counts the others as missed", async () => {
  let isBroken = true;
  const stored: SlotPlan[] = [];
  const { clock, scheduler } = open((_name, plan) => {
    if (isBroken) throw new Error("no store");
    stored.push(plan);
  });
  scheduler.setSchedules([{ name: "report", schedule: parse({ every: "1m" }) }]);
  await clock.advance(1_200 * MINUTE_MS);
  isBroken = false;
  await clock.advance(2 * MINUTE_MS);
  const [slots] = stored;
  expect(slots?.due).toHaveLength(1_000);
  expect(slots?.missedCount).toBeGreaterThanOrEqual(199);
  expect(slots?.missedCount).toBe(slots?.droppedCount);
});

test("calls for one automation once at a time, and adds what is due meanwhile to the next call", async () => {
  const ends: (() => void)[] = [];
  const { clock, scheduler, calls } = open(() => new Promise<void>((resolve) => ends.push(resolve)));
  scheduler.setSchedules([{ name: "report", schedule: EVERY_5 }]);
  await clock.advance(20 * MINUTE_MS);
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await clock.advance(0);
  expect(calls).toEqual(["report 12:05"]);
  ends[1]?.();
  await clock.advance(0);
  expect(calls).toEqual(["report 12:05", "report 12:10", "report 12:15", "report 12:20"]);
});

test("100 automations that are due in one second, of which 40 never end, do not delay others", async () => {
  const { clock, scheduler, calls, logged } = open((name) =>
    name.startsWith("slow") ? new Promise(() => {}) : undefined,
  );
  const create = (name: string): { name: string; schedule: typeof EVERY_5 } => ({ name, schedule: EVERY_5 });
  scheduler.setSchedules([
    ...Array.from({ length: 40 }, (_, index) => create(`slow-${index}`)),
    ...Array.from({ length: 60 }, (_, index) => create(`fast-${index}`)),
    { name: "later", schedule: parse({ cron: "6 * * * *" }) },
  ]);
  await clock.advance(4.5 * MINUTE_MS + 5 * SECOND_MS);
  expect(calls).toHaveLength(60);
  expect(logged[0]).toMatch(/^The slots of slow-\d+ take longer than 5 s to be stored$/);
  await clock.advance(MINUTE_MS);
  expect(calls).toHaveLength(61);
  expect(calls.at(-1)).toBe("later 12:06");
  expect(logged).toContain("30 more automations whose slots take long to be stored in the last minute");
});

test("loses no slot that is due when the schedules change", async () => {
  const { clock, scheduler, calls } = open();
  const list = [{ name: "report", schedule: EVERY_5 }];
  scheduler.setSchedules(list);
  await clock.advance(4 * MINUTE_MS);
  clock.set(30 * SECOND_MS); // 12:05, and the timer has not fired
  scheduler.setSchedules([{ name: "report", schedule: parse({ cron: "*/20 * * * *" }) }]);
  await clock.advance(0);
  expect(calls).toEqual(["report 12:05"]);
  await clock.advance(35 * MINUTE_MS);
  expect(calls.slice(1)).toEqual(["report 12:20", "report 12:40"]);
});

test("counts times before a change of the schedule, or a pause, not as missed", async () => {
  const { clock, scheduler, calls, logged } = open();
  const daily = { name: "report", schedule: parse({ cron: "0 9 * * *", zone: "UTC" }) };
  scheduler.setSchedules([{ ...daily, lastSlot: Date.parse("2026-11-27T09:00:00Z") }]);
  await clock.advance(MINUTE_MS);
  scheduler.setSchedules([{ name: "report", schedule: EVERY_5, lastSlot: Date.parse("2026-11-27T09:00:00Z") }]);
  await clock.advance(4 * MINUTE_MS);
  expect(calls).toEqual(["report 12:05"]);
  scheduler.setSchedules([]);
  await clock.advance(HOUR_MS);
  scheduler.setSchedules([{ name: "report", schedule: EVERY_5, lastSlot: clock.now() }]);
  await clock.advance(5 * MINUTE_MS);
  expect(calls).toEqual(["report 12:05", "report 13:10"]);
  expect(logged).toEqual([]);
});

test("keeps the slots of an automation whose other fields change", async () => {
  const { clock, scheduler, calls } = open();
  const create = (input: number): Parameters<Scheduler["setSchedules"]>[0] => [
    { name: "report", schedule: parse({ every: "1h", jitter: "1h", input }) },
  ];
  scheduler.setSchedules(create(1));
  await clock.advance(59 * MINUTE_MS);
  for (let round = 0; round < 70; round++) {
    scheduler.setSchedules(create(round));
    await clock.advance(MINUTE_MS);
  }
  expect(calls).toEqual(["report 13:00"]);
});

test("makes no calls for an automation that was removed", async () => {
  const { clock, scheduler, logged } = open(() => {
    throw new Error("no store");
  });
  scheduler.setSchedules([{ name: "report", schedule: EVERY_5 }]);
  await clock.advance(5 * MINUTE_MS);
  const { length } = logged;
  scheduler.setSchedules([]);
  await clock.advance(HOUR_MS);
  expect(logged.slice(length).filter((text) => text.startsWith("Cannot"))).toEqual([]);
});

test("says once that a schedule has ended", async () => {
  const { clock, scheduler, calls, logged } = open();
  const list = [{ name: "report", schedule: parse({ every: "5m", until: "2026-11-27T12:07:00Z" }) }];
  scheduler.setSchedules(list);
  await clock.advance(10 * MINUTE_MS);
  scheduler.setSchedules(list);
  await clock.advance(10 * MINUTE_MS);
  expect(calls).toEqual(["report 12:05"]);
  expect(logged).toEqual(["The schedule of report has ended: it has no further slot"]);
});

test("continues with the other schedules if one cannot be planned", async () => {
  const { clock, scheduler, calls, logged } = open();
  const daily = parse({ cron: "0 9 * * *", zone: "UTC" });
  const broken = { ...daily, times: { ...daily.times, zone: "Nowhere/None" } } as typeof daily;
  scheduler.setSchedules([
    { name: "broken", schedule: broken },
    { name: "report", schedule: EVERY_5 },
  ]);
  await clock.advance(5 * MINUTE_MS);
  expect(calls).toEqual(["report 12:05"]);
  expect(logged[0]).toBe(
    "Cannot plan the slots of broken, and tries again in a minute: Invalid time zone specified: Nowhere/None",
  );
  expect(logged.length).toBeGreaterThanOrEqual(5);
});

test("works in slices on 10,000 schedules, and calls for all that are due", { tags: "rest" }, async () => {
  const { clock, scheduler, calls } = open();
  const schedules = [EVERY_5, parse({ cron: "*/5 * * * *", zone: "Europe/Berlin" })];
  const list = Array.from({ length: 10_000 }, (_, index) => ({
    name: `automation-${index}`,
    schedule: schedules[index % 2] ?? EVERY_5,
  }));
  scheduler.setSchedules(list);
  await clock.advance(4 * MINUTE_MS);
  clock.stepMs = 0.1; // ten milliseconds are a hundred entries
  const { firedCount } = clock;
  await clock.advance(35 * SECOND_MS);
  expect(new Set(calls).size).toBe(10_000);
  expect(calls).toHaveLength(10_000);
  expect(clock.firedCount - firedCount).toBeGreaterThan(90);
});

test("starts a slot with the timers of Node", async () => {
  const events = new EventEmitter();
  const offset = Date.parse("2026-11-27T12:04:59.900Z") - Date.now();
  const clock: SchedulerClock = { ...SYSTEM_CLOCK, now: () => Date.now() + offset };
  const onDue = async (_name: string, { due }: SlotPlan): Promise<void> => void events.emit("due", due[0], clock.now());
  const scheduler = createScheduler({ clock, log: (text) => events.emit("error", new Error(text)), onDue });
  onTestFinished(() => scheduler.close());
  const due = once(events, "due");
  const keepAlive = setInterval(() => {}, MINUTE_MS);
  scheduler.setSchedules([{ name: "report", schedule: EVERY_5 }]);
  const [slot, at] = (await due) as [{ slot: number; startsAt: number }, number];
  clearInterval(keepAlive);
  expect(slot).toMatchObject({ slot: Date.parse("2026-11-27T12:05:00Z"), startsAt: slot.slot });
  expect(at).toBeGreaterThanOrEqual(slot.startsAt);
});

test("ends its calls and timers", async () => {
  let end = (): void => {};
  const { clock, scheduler, calls } = open(() => new Promise<void>((resolve) => (end = resolve)));
  scheduler.setSchedules([{ name: "report", schedule: EVERY_5 }]);
  await clock.advance(5 * MINUTE_MS);
  const closed = scheduler.close();
  end();
  await closed;
  expect(calls).toEqual(["report 12:05"]);
  expect(clock.timerCount).toBe(0);
  scheduler.setSchedules([{ name: "report", schedule: EVERY_5 }]);
  expect(clock.timerCount).toBe(0);
});

test("ends although a call does not, after 5 s", async () => {
  const { clock, scheduler } = open(() => new Promise(() => {}));
  scheduler.setSchedules([{ name: "report", schedule: EVERY_5 }]);
  await clock.advance(5 * MINUTE_MS);
  let isClosed = false;
  void scheduler.close().then(() => (isClosed = true));
  await clock.advance(4_900);
  expect(isClosed).toBe(false);
  await clock.advance(200);
  expect(isClosed).toBe(true);
});
