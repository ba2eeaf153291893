import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { openEngine } from "../../src/store/database/open.ts";
import {
  type AutomationRow,
  type Database,
  type DeliveryToAdd,
  type OccurrenceRow,
  openDatabase,
} from "../../src/store/index.ts";
import { AUTOMATIONS, PAST_DELIVERIES } from "../../src/store/tables/automation-rows.ts";
import { addDeliveries, pruneOccurrences } from "../../src/store/tables/deliveries.ts";
import { prepareDatabases } from "../support/databases.ts";

const { kinds } = prepareDatabases();

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = 1_790_000_000_000;

const AUTOMATION: AutomationRow = {
  name: "report",
  state: "enabled",
  reason: null,
  digest: null,
  by: "owner",
  failures: 0,
  lastSlot: null,
  created: NOW,
  updated: NOW,
};

function createSlot(changes: Partial<OccurrenceRow> = {}): OccurrenceRow {
  return {
    automation: "report",
    id: new Date(changes.due ?? NOW).toISOString(),
    kind: "slot",
    state: "due",
    due: NOW,
    run: "r1",
    attempt: 1,
    started: null,
    ended: null,
    error: null,
    claimedBy: null,
    ...changes,
  };
}

describe.each(kinds)("automations in %s", (_kind, createLocation) => {
  let database: Database;
  let other: Database;

  beforeEach(async () => {
    const location = createLocation();
    database = await openDatabase(location);
    other = location.folder === undefined && location.url === undefined ? database : await openDatabase(location);
    await database.automations.put(AUTOMATION, { text: "", methods: {}, caller: "key:a" });
  });
  afterEach(async () => {
    await database.close();
    await other.close();
  });

  test("adds each occurrence once, of several processes", async () => {
    const add = (by: Database): Promise<boolean> => by.automations.addOccurrence(createSlot(), '{"a":1}');
    const added = await Promise.all([add(database), add(other), add(database), add(other)]);
    expect(added.filter(Boolean)).toHaveLength(1);
    expect(await other.automations.getInput("report", createSlot().id)).toBe('{"a":1}');
    expect(await database.automations.addOccurrence(createSlot({ due: NOW + 1 }))).toBe(true);
    expect(await database.automations.getInput("report", createSlot({ due: NOW + 1 }).id)).toBeUndefined();
  });

  test("adds nothing to an automation that was removed", async () => {
    const { automations } = database;
    const delivery = createSlot({ id: "d", kind: "delivery" });
    await other.automations.delete("report");
    expect(await automations.addOccurrence(createSlot(), "1")).toBe(false);
    const batch = { deliveries: [{ occurrence: delivery, input: "1" }], free: 10 };
    expect(await automations.addDeliveries("report", batch)).toEqual(["unknown"]);
    expect(await automations.listOccurrences({ automation: "report" })).toEqual([]);
  });

  test("gives an occurrence to one of several processes, and counts those of the last hour", async () => {
    const { automations } = database;
    await automations.addOccurrence(createSlot());
    // The clock was ahead for a while.
    const wrong = NOW + 2 * HOUR_MS;
    await automations.addOccurrence(createSlot({ due: wrong, state: "completed", started: wrong, ended: wrong }));
    await automations.addOccurrence(createSlot({ due: NOW - 9, state: "completed", started: NOW - 9, ended: NOW - 8 }));
    const seen: number[] = [];
    const take = (by: Database, claimedBy: string): Promise<readonly OccurrenceRow[]> =>
      by.automations.changeOpen("report", { now: NOW, deliveries: 100 }, ({ active, due, startedInHour }) => {
        seen.push(startedInHour);
        return active.length > 0
          ? []
          : due.map(({ id }) => ({ id, changes: { state: "running", claimedBy, started: NOW } }));
      });
    const taken = (await Promise.all([take(database, "a"), take(other, "b")])).flat();
    expect(taken).toEqual([createSlot({ state: "running", claimedBy: taken[0]?.claimedBy ?? "", started: NOW })]);
    expect(seen.toSorted((a, b) => a - b)).toEqual([1, 2]);
  });

  test("ends an occurrence once, counts failures, and pauses the automation at the last one", async () => {
    const { automations } = database;
    const fail = async (by: Database, due: number): Promise<unknown> => {
      const end = { state: "failed", ended: NOW, error: "no network", isCounted: true, maxFailures: 2 } as const;
      return (await by.automations.endOccurrence(createSlot({ due }), end))?.isPaused;
    };
    for (const due of [NOW, NOW + 1]) await automations.addOccurrence(createSlot({ due, state: "running" }));
    expect((await Promise.all([fail(database, NOW), fail(other, NOW)])).toSorted()).toEqual([false, undefined]);
    expect(await fail(other, NOW + 1)).toBe(true);
    expect(await automations.get("report")).toMatchObject({
      state: "paused",
      failures: 2,
      reason: "2 failures in succession; the last: no network",
    });
  });

  test("never lowers the last slot", async () => {
    for (const slot of [5, 9, 7]) await database.automations.passSlot("report", slot);
    expect(await other.automations.get("report")).toMatchObject({ lastSlot: 9 });
  });

  test("deletes an automation with its occurrences, and old occurrences with their inputs", async () => {
    const { automations } = database;
    const old = createSlot({ id: "old", state: "completed", ended: NOW - 99 * 24 * HOUR_MS });
    await automations.addOccurrence(old, "1");
    await automations.addOccurrence(createSlot({ id: "new", state: "completed", ended: NOW }), "2");
    expect((await database.sweep({}, NOW)).occurrences).toBe(1);
    expect(await automations.getInput("report", "old")).toBeUndefined();
    expect(await automations.getInput("report", "new")).toBe("2");
    expect(await automations.delete("report")).toBe(true);
    expect(await automations.listOccurrences({ automation: "report" })).toEqual([]);
    expect(await automations.delete("report")).toBe(false);
  });

  test("knows deliveries whose occurrences were deleted, and forgets them after 400 days", async () => {
    const { automations } = database;
    const ended = NOW - 31 * DAY_MS;
    const received = [createSlot({ id: "a", kind: "delivery", due: ended, state: "completed", ended })];
    await automations.addDeliveries("report", { deliveries: received.map(toDelivery), free: 1 });
    await automations.addOccurrence(createSlot({ id: "slot", state: "completed", ended }));
    expect((await database.sweep({}, NOW)).occurrences).toBe(2);
    expect(await automations.getOccurrence("report", "a")).toBeUndefined();
    const again = ["a", "slot", "b"].map((id) => toDelivery(createSlot({ id, kind: "delivery" })));
    const add = () => other.automations.addDeliveries("report", { deliveries: again, free: 1 });
    expect(await add()).toEqual(["repeated", "new", "full"]);
    expect(await add()).toEqual(["repeated", "repeated", "new"]);
    await database.sweep({}, ended + 401 * DAY_MS);
    expect(await add()).toEqual(["new", "repeated", "repeated"]);
    await automations.delete("report");
    expect((await database.info()).rows).toMatchObject({ pastDeliveries: 0, occurrences: 0 });
  });
});

test("keeps the ids of the newest past deliveries of each automation", async () => {
  const engine = await openEngine({}, { lockMs: 500, warn: () => {} });
  const add = async (automation: string, count: number): Promise<void> => {
    const rows = Array.from({ length: count }, (_, at) =>
      createSlot({ automation, id: `d${at}`, kind: "delivery", due: NOW + at, state: "completed", ended: NOW }),
    );
    await engine.put(AUTOMATIONS, { ...AUTOMATION, name: automation });
    await addDeliveries(engine, automation, { deliveries: rows.map(toDelivery), free: count });
  };
  await add("report", 5);
  await add("other", 2);
  expect(await pruneOccurrences(engine, { time: NOW + 1, now: NOW, maxPast: 3 })).toBe(7);
  const ids = (await engine.select(PAST_DELIVERIES, {})).map(({ automation, id }) => `${automation} ${id}`);
  expect(ids).toEqual(["other d0", "other d1", "report d2", "report d3", "report d4"]);
});

function toDelivery(occurrence: OccurrenceRow): DeliveryToAdd {
  return { occurrence, input: "1" };
}
