import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { findSqlite } from "../../src/store/database/sqlite-program.ts";
import { createLazyDatabase, type LazyDatabase, type StoreFailure } from "../../src/store/index.ts";
import { createHealth } from "../../src/store/health.ts";
import { sentence, SkillgateError } from "../../src/errors.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "skillgate-health-"));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

/** Locks the file as another process that writes does; the returned function ends it. */
function lockStore(): () => void {
  const other = findSqlite()?.connect(join(folder, "skillgate.db"));
  other?.exec("BEGIN IMMEDIATE");
  return () => {
    other?.exec("COMMIT");
    other?.close();
  };
}

function collectChanges({ health }: LazyDatabase): readonly (string | undefined)[] {
  const changes: (string | undefined)[] = [];
  health.onChange((failure) => changes.push(failure?.code));
  return changes;
}

test("fails from a commit that failed until the next one succeeds", async () => {
  const lazy = createLazyDatabase({ folder }, { lockMs: 50 });
  const changes = collectChanges(lazy);
  const { counters } = await lazy.open();
  const add = (): Promise<number> => counters.add({ bucket: "b", start: 0, expires: 0 });
  const unlock = lockStore();
  await expect(add()).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
  await expect(add()).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
  const says = "Timed out waiting for the store: another process has been writing to it for 50 ms (LOCK_TIMEOUT)";
  expect(lazy.health.failure).toEqual({ code: "LOCK_TIMEOUT", message: says });
  // A read that succeeds says nothing about commits.
  await counters.get("b", 0);
  expect(lazy.health.failure).toBeDefined();
  unlock();
  await add();
  expect(lazy.health.failure).toBeUndefined();
  expect(changes).toEqual(["LOCK_TIMEOUT", undefined]);
  await lazy.close();
});

test("tries a store that fails again every 2 seconds, so that it recovers without a request", async () => {
  const lazy = createLazyDatabase({ folder }, { lockMs: 50 });
  const { counters } = await lazy.open();
  const recovered = new Promise<StoreFailure | undefined>((resolve) =>
    lazy.health.onChange((failure) => failure === undefined && resolve(failure)),
  );
  const unlock = lockStore();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  await expect(counters.add({ bucket: "b", start: 0, expires: 0 })).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
  unlock();
  vi.advanceTimersByTime(2_000);
  await recovered;
  await lazy.close();
});

test("a store that cannot be opened fails, and one that can be opened later recovers", async () => {
  await writeFile(join(folder, "file"), "");
  const place = join(folder, "file", "store");
  const lazy = createLazyDatabase({ folder: place });
  const changes = collectChanges(lazy);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  await expect(lazy.open()).rejects.toThrow("EEXIST");
  expect(lazy.health.failure?.code).toBe("STORE_UNAVAILABLE");
  await rm(join(folder, "file"));
  vi.advanceTimersByTime(2_000);
  await expect.poll(() => changes).toEqual(["STORE_UNAVAILABLE", undefined]);
  await lazy.close();
});

test("a conflict is not a failure of the store", async () => {
  const lazy = createLazyDatabase({ folder });
  const { approvals } = await lazy.open();
  const question = { id: "q", runId: "r", callId: 1, caller: "local", path: "S.do", description: "", marks: [] };
  const facts = { approver: "user", arguments: [], digest: "d", plan: null, provenance: null, scopes: [] } as const;
  const row = { ...question, ...facts, waiter: null, created: 1, expires: 2 };
  await approvals.add(row);
  await expect(approvals.add(row)).rejects.toMatchObject({ code: "STORE_CONFLICT" });
  expect(lazy.health.failure).toBeUndefined();
  await lazy.close();
});

test("a damaged store fails until it is opened again", () => {
  const health = createHealth(async () => {});
  health.fail(new SkillgateError("STORE_DAMAGED", sentence("STORE_DAMAGED", "skillgate.db")));
  health.succeed();
  expect(health.failure?.code).toBe("STORE_DAMAGED");
  health.close();
});
