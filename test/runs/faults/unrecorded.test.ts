import { expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill, type Runtime } from "../../../src/index.ts";
import { createClaims, readRunRecord, type RunHeader, RunRecorder } from "../../../src/runs/index.ts";
import { createRetryQueue } from "../../../src/runs/retry-queue.ts";
import { openEngine } from "../../../src/store/database/open.ts";
import { type Database, openDatabase } from "../../../src/store/index.ts";
import { createFolder } from "../../approvals/mail.ts";

/** Locks the file of a store as another process does. Returns the function that ends this. */
async function lockStore(folder: string): Promise<() => Promise<void>> {
  const engine = await openEngine({ folder }, { lockMs: 1_000, warn: () => {} });
  let release = (): void => {};
  let locked = Promise.resolve();
  await new Promise<void>((resolve) => {
    locked = engine.transaction("test", () => {
      resolve();
      return new Promise<void>((end) => (release = end));
    });
  });
  let isLocked = true;
  const unlock = async (): Promise<void> => {
    if (!isLocked) return;
    isLocked = false;
    release();
    await locked;
    await engine.close();
  };
  onTestFinished(unlock);
  return unlock;
}

/** A runtime with a skill whose method locks the store during its call. */
async function openLocking(
  store: string,
  lockMs = 10,
): Promise<{
  runtime: Runtime;
  warnings: string[];
  onWarning: (listener: () => void) => void;
  unlock: () => Promise<void>;
}> {
  let unlock = async (): Promise<void> => {};
  const StoreSkill = defineSkill({
    name: "StoreSkill",
    description: "Locks the store",
    methods: {
      lock: {
        description: "Lock the store",
        destructive: true,
        run: async () => {
          unlock = await lockStore(store);
          return "locked";
        },
      },
      ask: { description: "Ask a person", approval: "user", run: () => "approved" },
    },
  });
  const warnings: string[] = [];
  let onWarning = (): void => {};
  const runtime = await createRuntime({
    skillsDir: false,
    skills: [StoreSkill],
    workers: 1,
    store,
    audit: "off",
    timeouts: { lockMs },
    approvals: { wait: true, holdSeconds: 0.01 },
    log(_level, text) {
      if (!text.startsWith("Cannot record run")) return;
      warnings.push(text);
      onWarning();
    },
  });
  onTestFinished(() => runtime.close());
  return { runtime, warnings, onWarning: (listener) => void (onWarning = listener), unlock: () => unlock() };
}

const LOCK = `await device.StoreSkill.lock(); "done"`;

test("records the end of a run when the store works again, and answers for the run meanwhile [R1]", async () => {
  const { runtime, warnings, unlock } = await openLocking(createFolder());
  const outcome = await runtime.run(LOCK);
  expect(outcome).toMatchObject({ kind: "completed", value: "done" });
  const id = outcome.runId;
  expect(await runtime.runs.get(id)).toMatchObject({ state: "running", isOpen: true });
  expect(await runtime.runs.resume(id)).toEqual(outcome);
  await runtime.runs.cancel(id);
  await unlock();
  await expect.poll(async () => (await runtime.runs.get(id)).state).toBe("completed");
  expect(await runtime.runs.get(id)).toMatchObject({ isOpen: false, ended: expect.any(Number), effects: 1 });
  expect(warnings.filter((text) => text !== "The store works again")).toEqual([
    expect.stringMatching(`^Cannot record run ${id}: .*LOCK_TIMEOUT`),
  ]);
  expect(await runtime.runs.resume(id)).toMatchObject({ kind: "completed", value: "done" });
});

test("says that a run waits for a person only when the run is in the store [R2]", async () => {
  const store = createFolder();
  // The write of the question, which follows that of the run, has as long for the end of the lock.
  const { runtime, onWarning } = await openLocking(store, 300);
  const unlock = await lockStore(store);
  const unlocked = new Promise((resolve) => onWarning(() => resolve(unlock())));
  const waiting = runtime.run(`await device.StoreSkill.ask()`);
  await unlocked;
  const { kind, runId } = await waiting;
  expect(kind).toBe("waiting");
  expect(await runtime.runs.get(runId)).toMatchObject({ state: "waiting" });
});

test("tries once more to record the end of a run when the runtime is closed [R1]", async () => {
  const store = createFolder();
  const { runtime, unlock } = await openLocking(store);
  const { runId } = await runtime.run(LOCK);
  await unlock();
  await runtime.close();
  await using database = await openDatabase({ folder: store });
  expect(await database.runs.get(runId)).toMatchObject({ state: "completed", claimedBy: null });
});

test("continues a record whose last write has reached the store although its answer was lost [R1]", async () => {
  await using database = await openDatabase({ folder: createFolder() });
  const { runs } = database;
  const failures: unknown[] = [];
  const retries = createRetryQueue({ onFailure: (_name, error) => failures.push(error), firstMs: 1 });
  let isLost = false;
  const losesAnswer: typeof runs = {
    ...runs,
    async add(...run) {
      await runs.add(...run);
      if (isLost) return;
      isLost = true;
      throw new Error("connection lost");
    },
  };
  const open = async (): Promise<Pick<Database, "runs" | "processes">> => ({ ...database, runs: losesAnswer });
  const claims = createClaims(open, retries, { warn: (error) => failures.push(error) });
  const { promise: ended, resolve: onEnd } = createEvent();
  const program = { paths: ["S.do"] };
  const header = { caller: { id: "ada", permissions: [] }, source: "1", time: 1, program } as unknown as RunHeader;
  const options = { id: "r", header, claims, open, retries, keepsAll: true, isDurable: true, onEnd };
  const recorder = new RunRecorder(options);
  recorder.addCall({ id: 1, path: "S.do", args: "[]", isEffect: true });
  await expect(recorder.begin(1, "")).rejects.toThrow("connection lost");
  recorder.addEnd({ id: 1, answer: { ok: true, json: "1", tagged: false }, digest: "", durationMs: 9, notes: [] });
  await recorder.finish({ kind: "refused", runId: "r", text: "" }, "failed");
  await ended;
  const record = await readRunRecord("r", await runs.entries("r"));
  expect(record.events.map(({ type }) => type)).toEqual(["start", "call", "begin", "end", "outcome"]);
  expect(await runs.get("r")).toMatchObject({ state: "failed", claimedBy: null });
  expect(failures).toEqual([]);
  await claims.close();
});

function createEvent(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}
