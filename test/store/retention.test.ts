import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test, vi } from "vitest";

import { createRuntime } from "../../src/runtime.ts";
import { findSqlite } from "../../src/store/database/sqlite-program.ts";
import { openDatabase, scheduleRetention } from "../../src/store/index.ts";

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-retention-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const OLD = { bucket: "b", start: 0, expires: 1 } as const;

test("deletes old records of a runtime that keeps no audit log, when its store is opened", async () => {
  const folder = createFolder();
  await using other = await openDatabase({ folder });
  await other.counters.add(OLD);
  await using runtime = await createRuntime({ skillsDir: false, workers: 1, store: folder, audit: "off" });
  await runtime.database();
  await expect.poll(() => other.counters.get("b", 0)).toBe(0);
});

test("deletes old records once a day, and tries again after a minute if that failed", async () => {
  const folder = createFolder();
  await using database = await openDatabase({ folder }, { lockMs: 50 });
  const lines: string[] = [];
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let sweeps = 0;
  const sweep: typeof database.sweep = async (retention) => {
    const deleted = await database.sweep(retention);
    sweeps++;
    return deleted;
  };
  const schedule = scheduleRetention({}, (text) => lines.push(text));
  await database.counters.add(OLD);
  const writer = findSqlite()?.connect(join(folder, "skillgate.db"));
  writer?.exec("BEGIN IMMEDIATE");
  schedule.start({ sweep });
  await expect.poll(() => lines).toEqual([expect.stringContaining("Cannot delete old records: Timed out waiting")]);
  writer?.exec("COMMIT");
  writer?.close();
  expect(await database.counters.get("b", 0)).toBe(1);
  vi.advanceTimersByTime(60_000);
  await expect.poll(() => sweeps).toBe(1);
  expect(await database.counters.get("b", 0)).toBe(0);
  await database.counters.add(OLD);
  vi.advanceTimersByTime(86_399_000);
  expect(sweeps).toBe(1);
  expect(await database.counters.get("b", 0)).toBe(1);
  vi.advanceTimersByTime(1_000);
  await expect.poll(() => sweeps).toBe(2);
  expect(await database.counters.get("b", 0)).toBe(0);
  await schedule.close();
});
