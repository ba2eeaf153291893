import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import {
  createDispatcher,
  createOccurrence,
  type Dispatcher,
  MAX_FAILURES,
  type OccurrenceEnding,
  type OccurrenceResult,
  type StartObstacle,
  type StartRules,
} from "../../src/automations/index.ts";
import { createClaims, createRetryQueue } from "../../src/runs/index.ts";
import { type Database, getProcessName, type OccurrenceRow, openDatabase } from "../../src/store/index.ts";

const RULES: StartRules = { overlap: "parallel", parallel: 4, runsPerHour: 10_000 };

let folder: string;
let databases: Database[];
let dispatchers: Dispatcher[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "skillgate-dispatcher-"));
  databases = [];
  dispatchers = [];
});
afterEach(async () => {
  await Promise.all(dispatchers.map((dispatcher) => dispatcher.close()));
  await Promise.all(databases.map((database) => database.close()));
  await rm(folder, { recursive: true });
});

async function open(): Promise<Database> {
  const database = await openDatabase({ folder });
  databases.push(database);
  return database;
}

function createSignal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

interface Process {
  readonly database: Database;
  readonly dispatcher: Dispatcher;
  readonly runs: string[];
  readonly endings: OccurrenceEnding[];
  readonly logs: string[];
}

interface ProcessOptions {
  readonly run?: (row: OccurrenceRow, signal: AbortSignal) => Promise<OccurrenceResult>;
  readonly readEnd?: (run: string) => Promise<OccurrenceResult | "open" | undefined>;
  readonly rules?: StartRules | StartObstacle;
  readonly findRules?: (automation: string) => StartRules | StartObstacle;
  readonly cancel?: (run: string) => Promise<boolean>;
}

/** Starts a dispatcher with a connection of its own to the store. */
async function startProcess({
  run,
  readEnd,
  rules = RULES,
  findRules = () => rules,
  cancel = async () => true,
}: ProcessOptions = {}): Promise<Process> {
  const database = await open();
  const runs: string[] = [];
  const endings: OccurrenceEnding[] = [];
  const logs: string[] = [];
  const retries = createRetryQueue({ onFailure: () => {} });
  const marks = createClaims(async () => database, retries, { warn: (error) => logs.push(String(error)) });
  const dispatcher = createDispatcher({
    open: async () => database,
    marks,
    findRules: async (automation) => findRules(automation),
    runner: {
      async run(row, signal) {
        runs.push(`${row.id} ${row.run}`);
        return run === undefined ? { kind: "completed" } : run(row, signal);
      },
      readEnd: readEnd ?? (async () => undefined),
      cancel,
    },
    onEnd: (_row, ending) => endings.push(ending),
    log: (level, text) => logs.push(`${level} ${text}`),
  });
  dispatchers.push({
    ...dispatcher,
    async close() {
      await dispatcher.close();
      await retries.close();
      await marks.close();
    },
  });
  return { database, dispatcher, runs, endings, logs };
}

async function addAutomation({ automations }: Database): Promise<void> {
  const times = { failures: 0, lastSlot: null, created: 0, updated: 0 };
  const row = { name: "report", state: "enabled", reason: null, digest: null, by: "owner", ...times } as const;
  await automations.put(row, { text: "", methods: {}, caller: "key:a" });
}

function createSlot(id: string): OccurrenceRow {
  return createOccurrence({ automation: "report", id, kind: "delivery" }, Date.now() - 1);
}

async function whenEnded(database: Database, count: number): Promise<readonly OccurrenceRow[]> {
  for (;;) {
    const rows = await database.automations.listOccurrences({ automation: "report" });
    if (rows.filter(({ ended }) => ended !== null).length === count) return rows;
    await new Promise<void>((resolve) => {
      const stop = database.watch(done);
      const timer = setTimeout(done, 200);
      function done(): void {
        clearTimeout(timer);
        stop();
        resolve();
      }
    });
  }
}

test("of two processes, one runs each occurrence, and the limit of parallel runs holds for both", async () => {
  let running = 0;
  let most = 0;
  const run = async (): Promise<OccurrenceResult> => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    return { kind: "completed" };
  };
  const [first, second] = [await startProcess({ run }), await startProcess({ run })];
  await addAutomation(first.database);
  const ids = Array.from({ length: 60 }, (_, at) => `slot ${at}`);
  for (const id of ids) await first.database.automations.addOccurrence(createSlot(id));
  await Promise.all([first.dispatcher.start(), second.dispatcher.start()]);
  const rows = await whenEnded(first.database, ids.length);
  expect(rows.every(({ state }) => state === "completed")).toBe(true);
  const runs = [...first.runs, ...second.runs];
  expect(runs).toHaveLength(ids.length);
  expect(new Set(runs).size).toBe(ids.length);
  expect(most).toBeLessThanOrEqual(4);
});

test("pauses an automation after failures in succession, and says so once", async () => {
  const run = async (): Promise<OccurrenceResult> => ({ kind: "failed", error: "no network" });
  const both = [await startProcess({ run }), await startProcess({ run })] as const;
  await addAutomation(both[0].database);
  for (let at = 0; at < MAX_FAILURES; at++) await both[0].database.automations.addOccurrence(createSlot(`${at}`));
  await Promise.all(both.map(({ dispatcher }) => dispatcher.start()));
  await whenEnded(both[0].database, MAX_FAILURES);
  const automation = await both[0].database.automations.get("report");
  expect(automation).toMatchObject({ state: "paused", reason: "5 failures in succession; the last: no network" });
  await Promise.all(both.map(({ dispatcher }) => dispatcher.close()));
  expect(both.flatMap(({ endings }) => endings).filter(({ isPaused }) => isPaused)).toHaveLength(1);
});

test("takes over what a killed process began: again without a record, by the end of its run with one", async () => {
  const database = await open();
  await addAutomation(database);
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  const claimedBy = getProcessName().replace(/\/\d+\//, `/${child.pid}/`);
  const claim = { state: "running", claimedBy, started: Date.now() } as const;
  for (const id of ["lost", "done"]) await database.automations.addOccurrence({ ...createSlot(id), ...claim });
  const done = createSlot("done").run;
  const readEnd = async (run: string): Promise<OccurrenceResult | undefined> =>
    run === done ? { kind: "completed" } : undefined;
  const { dispatcher, runs } = await startProcess({ readEnd });
  await dispatcher.start();
  const rows = await whenEnded(database, 2);
  expect(rows.map(({ state }) => state)).toEqual(["completed", "completed"]);
  expect(runs).toEqual([`lost ${createSlot("lost").run}`]);
});

test("leaves what runs to other processes when it ends, as the same run", async () => {
  const begun = createSignal();
  const first = await startProcess({
    async run(_row, signal) {
      begun.resolve();
      await once(signal, "abort");
      return { kind: "interrupted" };
    },
  });
  await addAutomation(first.database);
  await first.database.automations.addOccurrence(createSlot("a"));
  await first.dispatcher.start();
  await begun.promise;
  await first.dispatcher.close();
  const second = await startProcess();
  await second.dispatcher.start();
  await whenEnded(second.database, 1);
  expect(second.runs).toEqual(first.runs);
});

test("takes the end of a run that another process has recorded, and runs it no second time", async () => {
  const run = async (): Promise<OccurrenceResult> => ({ kind: "interrupted" });
  const readEnd = async (): Promise<OccurrenceResult> => ({ kind: "failed", error: "no network" });
  const { database, dispatcher, runs } = await startProcess({ run, readEnd });
  await addAutomation(database);
  await database.automations.addOccurrence(createSlot("a"));
  await dispatcher.start();
  const rows = await whenEnded(database, 1);
  expect(rows).toMatchObject([{ state: "failed", error: "no network", attempt: 1 }]);
  expect(runs).toHaveLength(1);
});

test("asks a store that takes no record of a run again only after a pause", async () => {
  const run = async (): Promise<OccurrenceResult> => ({ kind: "interrupted" });
  const { database, dispatcher, runs } = await startProcess({ run });
  await addAutomation(database);
  await database.automations.addOccurrence(createSlot("a"));
  await dispatcher.dispatch("report");
  await expect
    .poll(() => database.automations.getOccurrence("report", "a"))
    .toMatchObject({ state: "due", attempt: 1, claimedBy: null });
  for (let at = 0; at < 3; at++) await dispatcher.dispatch("report");
  expect(runs).toHaveLength(1);
});

test("ends the run of an occurrence that another process has cancelled", async () => {
  const begun = createSignal();
  const stopped = createSignal();
  const { database, dispatcher, endings } = await startProcess({
    async run(_row, signal) {
      begun.resolve();
      await once(signal, "abort");
      stopped.resolve();
      return { kind: "cancelled", error: "it was cancelled" };
    },
  });
  await addAutomation(database);
  await database.automations.addOccurrence(createSlot("a"));
  await dispatcher.start();
  await begun.promise;
  const other = await open();
  const cancelled = { state: "cancelled", ended: Date.now(), error: "the next slot began" } as const;
  await other.automations.updateOccurrence(createSlot("a"), { state: "running" }, cancelled);
  await stopped.promise;
  await dispatcher.close();
  expect(await other.automations.getOccurrence("report", "a")).toMatchObject({ ...cancelled, claimedBy: null });
  expect(endings).toEqual([]);
});

test("keeps deliveries of an automation that begins nothing, and skips its slots with the reason", async () => {
  const { database, dispatcher, runs } = await startProcess({ rules: { obstacle: "it is paused" } });
  await addAutomation(database);
  await database.automations.addOccurrence(createSlot("delivery"));
  await database.automations.addOccurrence({ ...createSlot("slot"), kind: "slot" });
  await dispatcher.dispatch("report");
  const rows = await database.automations.listOccurrences({ automation: "report" }, { order: "id" });
  expect(rows).toMatchObject([
    { id: "slot", state: "skipped", error: "it is paused" },
    { id: "delivery", state: "due" },
  ]);
  expect(runs).toEqual([]);
});

test("the end of a cancelled run does not end the next attempt of its occurrence", async () => {
  const [begun, release] = [createSignal(), createSignal()];
  const { database, dispatcher, runs, endings } = await startProcess({
    async run(row) {
      if (row.attempt > 1) return { kind: "completed" };
      begun.resolve();
      await release.promise;
      return { kind: "cancelled", error: "it was cancelled" };
    },
  });
  await addAutomation(database);
  const row = createSlot("a");
  await database.automations.addOccurrence(row);
  await dispatcher.start();
  await begun.promise;
  const again = { state: "due", attempt: 2, run: "second", ended: null, claimedBy: null } as const;
  await database.automations.updateOccurrence(row, { state: "running" }, again);
  release.resolve();
  await whenEnded(database, 1);
  expect(await database.automations.getOccurrence("report", "a")).toMatchObject({ state: "completed", run: "second" });
  expect(runs).toEqual([`a ${row.run}`, "a second"]);
  expect(endings).toMatchObject([{ state: "completed" }]);
});

test("a cancelled occurrence keeps its claim until its run has ended, in whichever process that is", async () => {
  let isElsewhere = true;
  const asked: string[] = [];
  const { database, dispatcher } = await startProcess({
    async cancel(run) {
      asked.push(run);
      return !isElsewhere;
    },
  });
  await addAutomation(database);
  const row = createSlot("a");
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  const claimedBy = getProcessName().replace(/\/\d+\//, `/${child.pid}/`);
  const cancelled = { state: "cancelled", ended: Date.now(), error: "the next slot began", claimedBy } as const;
  await database.automations.addOccurrence({ ...row, ...cancelled });
  await dispatcher.start();
  expect(asked).toEqual([row.run]);
  expect(await database.automations.getOccurrence("report", "a")).toMatchObject({ claimedBy });
  isElsewhere = false;
  await dispatcher.start();
  expect(await database.automations.getOccurrence("report", "a")).toMatchObject({ claimedBy: null });
});

test("slots are not hidden by deliveries that wait", async () => {
  const { database, dispatcher, runs } = await startProcess({ rules: { ...RULES, overlap: "skip", parallel: 1 } });
  await addAutomation(database);
  const { automations } = database;
  await automations.addOccurrence({ ...createSlot("active"), state: "waiting" });
  for (let at = 0; at < 101; at++) await automations.addOccurrence(createSlot(`delivery ${at}`));
  await automations.addOccurrence({ ...createSlot("slot"), kind: "slot", due: Date.now() });
  await dispatcher.dispatch("report");
  expect(await automations.getOccurrence("report", "slot")).toMatchObject({ state: "skipped" });
  expect(runs).toEqual([]);
});

test("begins what is due of each automation, also beside one with thousands that wait", async () => {
  const { database, dispatcher, runs } = await startProcess({
    findRules: (name) => (name === "busy" ? { obstacle: "it is paused" } : RULES),
  });
  await addAutomation(database);
  const { automations } = database;
  await automations.addOccurrence({ ...createSlot("first"), due: 1 });
  for (let at = 0; at < 1_001; at++) await automations.addOccurrence({ ...createSlot(`${at}`), automation: "busy" });
  await dispatcher.start();
  await whenEnded(database, 1);
  expect(runs).toHaveLength(1);
});

test("begins what was stored while the clock was far ahead, and does not count it in the hour", async () => {
  const { database, dispatcher, runs } = await startProcess({ rules: { ...RULES, runsPerHour: 2 } });
  await addAutomation(database);
  const { automations } = database;
  const due = Date.now() + 86_400_000;
  for (const id of ["a", "b"])
    await automations.addOccurrence({ ...createSlot(id), state: "completed", started: due, ended: due });
  await automations.addOccurrence({ ...createSlot("c"), due });
  await dispatcher.start();
  await whenEnded(database, 3);
  expect(runs).toHaveLength(1);
});

test("says once that deliveries wait because the runs of an hour are reached, and when the next begins", async () => {
  const { database, dispatcher, logs } = await startProcess({ rules: { ...RULES, parallel: 1, runsPerHour: 2 } });
  await addAutomation(database);
  const { automations } = database;
  for (const id of ["a", "b", "c", "d"])
    await automations.addOccurrence({ ...createSlot(id), kind: "delivery", due: Date.now() });
  await dispatcher.start();
  await whenEnded(database, 2);
  for (let at = 0; at < 3; at++) await dispatcher.dispatch("report");
  const begun = await automations.listOccurrences({ state: "completed" }, { order: "started", descending: false });
  const next = new Date((begun[0]?.started ?? 0) + 3_600_000).toISOString();
  expect(logs).toEqual([
    `warn The automation report: 2 deliveries wait: 2 runs an hour are reached; the next begins at ${next}`,
  ]);
});
