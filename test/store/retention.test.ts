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
  const schedule = scheduleRetention({}, (text) => lines.push(text));
  await database.counters.add(OLD);
  const writer = findSqlite()?.connect(join(folder, "skillgate.db"));
  writer?.exec("BEGIN IMMEDIATE");
  schedule.start(database);
  await expect.poll(() => lines).toEqual([expect.stringContaining("Cannot delete old records: Timed out waiting")]);
  writer?.exec("COMMIT");
  writer?.close();
  expect(await database.counters.get("b", 0)).toBe(1);
  vi.advanceTimersByTime(60_000);
  await expect.poll(() => database.counters.get("b", 0)).toBe(0);
  await database.counters.add(OLD);
  // The store that failed is tried again after 2 seconds; what remains is the timer of the next day.
  const countTimers = (): number => {
    vi.advanceTimersByTime(2_000);
    return vi.getTimerCount();
  };
  await expect.poll(countTimers).toBe(1);
  expect(await database.counters.get("b", 0)).toBe(1);
  vi.advanceTimersByTime(86_400_000);
  await expect.poll(() => database.counters.get("b", 0)).toBe(0);
  await schedule.close();
});
