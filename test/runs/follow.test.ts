import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, type Mock, onTestFinished, test, vi } from "vitest";

import { type Claims, createClaims } from "../../src/runs/index.ts";
import { followRuns } from "../../src/runtime/execution/follow-runs.ts";
import { createRetryQueue } from "../../src/runs/retry-queue.ts";
import { type Database, getProcessName, openDatabase, type RunRow } from "../../src/store/index.ts";

async function createDatabase(): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-follow-"));
  const database = await openDatabase({ folder });
  onTestFinished(async () => {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return database;
}

const HOUR_MS = 3_600_000;

async function addRun(database: Database, id: string, facts: Partial<RunRow> = {}): Promise<void> {
  const now = Date.now();
  const times = { created: now, updated: now, ended: null };
  const counts = { program: "", duration: 0, calls: 0, effects: 0, size: 0, attempts: 1 };
  const row = { id, caller: "local", title: id, continues: null, claimedBy: null, ...times, ...counts, ...facts };
  await database.runs.add({ state: "waiting", ...row }, { run: id, seq: 0, events: "[]", hash: "0" });
}

async function addQuestion(database: Database, id: string, runId: string): Promise<void> {
  const call = { callId: 1, caller: "local", path: "S.do", description: "", marks: [], digest: id };
  const texts = { arguments: [], plan: null, provenance: null, scopes: [], waiter: `run:${runId}` };
  const now = Date.now();
  const times = { created: now, expires: now + HOUR_MS };
  await database.approvals.add({ id, runId, approver: "user", ...call, ...texts, ...times });
}

const answer = (database: Database, id: string): Promise<boolean> =>
  database.approvals.answer(id, { state: "approved", scope: null, by: "ada", as: "user", time: Date.now() });

/** Follows the runs, and lets the test wait for those that are continued. */
async function follow(database: Database): Promise<{
  readonly next: () => Promise<string>;
  readonly all: string[];
  readonly look: Mock<Claims["checkProcesses"]>;
}> {
  const all: string[] = [];
  const retries = createRetryQueue({ onFailure: (name) => all.push(name) });
  const claims = createClaims(async () => database, retries, {
    warn: (error) => all.push(String(error)),
    stillMs: 400,
  });
  const look = vi.spyOn(claims, "checkProcesses");
  const stop = await followRuns({
    claims,
    lookMs: 10,
    open: async () => database,
    resume: async (id) => all.push(id),
    warn: (text) => all.push(text),
  });
  onTestFinished(stop);
  let count = 0;
  const next = async (): Promise<string> => {
    await expect.poll(() => all.length).toBeGreaterThan(count);
    return all[count++] ?? "";
  };
  return { all, next, look };
}

test("continues the run of a question that is answered, and reads no other run [R2]", async () => {
  const database = await createDatabase();
  for (const n of Array(50).keys()) {
    await addRun(database, `r${n}`);
    await addQuestion(database, `q${n}`, `r${n}`);
  }
  const list = vi.spyOn(database.runs, "list");
  const get = vi.spyOn(database.runs, "get");
  const look = vi.spyOn(database.approvals, "findNextExpiry");
  const { next, all } = await follow(database);
  await expect.poll(() => look.mock.calls.length).toBe(1);
  await answer(database, "q7");
  expect(await next()).toBe("r7");
  await answer(database, "q9");
  expect(await next()).toBe("r9");
  expect(all).toEqual(["r7", "r9"]);
  expect(list).toHaveBeenCalledTimes(1);
  expect(get.mock.calls).toEqual([["r7"], ["r9"]]);
});

test("continues a run when the counter of the process that has claimed it stands still [R2]", async () => {
  const database = await createDatabase();
  await addRun(database, "r", { claimedBy: "elsewhere/1/1/space" });
  await addQuestion(database, "q", "r");
  const { next, all } = await follow(database);
  await answer(database, "q");
  expect(all).toEqual([]);
  expect(await next()).toBe("r");
});

test.each([
  ["on a host of the same name, and in another process space", "0123456789ab"],
  ["on a host of the same name that does not tell its process space", "unknown"],
])("leaves its run to a living process %s, whatever the clocks show [R2]", async (_name, space) => {
  const [host] = getProcessName().split("/");
  const owner = { name: `${host}/${process.pid}/1/${space}`, beat: 0 };
  const database = await createDatabase();
  await addRun(database, "r", { state: "running", claimedBy: owner.name });
  const pulse = setInterval(() => void database.processes.put({ ...owner, beat: ++owner.beat }), 10);
  onTestFinished(() => clearInterval(pulse));
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * HOUR_MS });
  onTestFinished(() => void vi.useRealTimers());
  const { next, all, look } = await follow(database);
  await expect.poll(() => look.mock.calls.length, { timeout: 20_000 }).toBeGreaterThan(50);
  expect(all).toEqual([]);
  clearInterval(pulse);
  expect(await next()).toBe("r");
});

test("takes over the run of a process of this system that has ended at once [R2]", async () => {
  const database = await createDatabase();
  const ended = spawnSync(process.execPath, ["--eval", "console.log(process.pid)"], { encoding: "utf8" });
  const [host, , , space] = getProcessName().split("/");
  await addRun(database, "r", { state: "running", claimedBy: `${host}/${ended.stdout.trim()}/1/${space}` });
  const { next, look } = await follow(database);
  expect(await next()).toBe("r");
  // A process whose counter stands still is watched for 40 looks.
  expect(look.mock.calls.length).toBeLessThan(20);
});

test("continues a run of two questions, one of which was answered while no process ran [R2]", async () => {
  const database = await createDatabase();
  await addRun(database, "one");
  await addQuestion(database, "q1", "one");
  await addQuestion(database, "q2", "one");
  await addRun(database, "other");
  await addQuestion(database, "q3", "other");
  await answer(database, "q1");
  const { next, all } = await follow(database);
  expect(await next()).toBe("one");
  await answer(database, "q3");
  expect(await next()).toBe("other");
  expect(all).toEqual(["one", "other"]);
});
