import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { openSqlite } from "../../src/store/database/sqlite.ts";
import { findSqlite, type SqliteConnection, type SqliteProgram } from "../../src/store/database/sqlite-program.ts";
import { createLazyDatabase, openDatabase } from "../../src/store/index.ts";
import { COUNTERS } from "../../src/store/tables/counters.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "skillgate-replaced-"));
  file = join(folder, "skillgate.db");
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

const FILES = ["skillgate.db", "skillgate.db-wal", "skillgate.db-shm"];

const ROW = { bucket: "b", start: 0, count: 1, expires: 0 } as const;

function failureOf(path: string): object {
  return {
    code: "STORE_UNAVAILABLE",
    message: `Cannot use the store: ${path}: the file, or its log ${path}-wal, was deleted or replaced while it was in use (STORE_UNAVAILABLE)`,
  };
}

/** Repeats an operation until it fails: the inodes are compared every few milliseconds. */
async function repeat(work: () => Promise<unknown>): Promise<never> {
  for (;;) await work();
}

test.each([
  ["all files are", FILES],
  ["the log of writes is", ["skillgate.db-wal"]],
])("a write fails soon after %s deleted, and the next one is stored in a file with a name", async (_which, names) => {
  await using database = await openDatabase({ folder });
  await database.counters.add({ bucket: "before", start: 0, expires: 0 });
  for (const name of names) await rm(join(folder, name));
  const add = (): Promise<number> => database.counters.add({ bucket: "after", start: 0, expires: 0 });
  await expect(repeat(add)).rejects.toMatchObject(failureOf(file));
  await add();
  await using other = await openDatabase({ folder });
  expect((await other.info()).rows["counters"]).toBeGreaterThan(0);
});

test("continues with the file that replaces it, and with its chain of audit records", async () => {
  const record = { event: "decision", time: "2026-01-31T00:00:00.000Z" };
  const backup = await mkdtemp(join(tmpdir(), "skillgate-backup-"));
  await using copy = await openDatabase({ folder: backup });
  await copy.audit.append([record]);
  await copy.close();
  await using database = await openDatabase({ folder });
  for (let n = 0; n < 3; n++) await database.audit.append([record]);
  for (const name of FILES.slice(1)) await rm(join(folder, name));
  await rename(join(backup, "skillgate.db"), file);
  await rm(backup, { recursive: true });
  await expect(repeat(() => database.audit.append([record]))).rejects.toMatchObject(failureOf(file));
  await database.audit.append([record]);
  await using other = await openDatabase({ folder });
  expect((await other.audit.tail(10)).map(({ seq }) => seq)).toEqual([1, 2]);
});

test("an idle store notices within 2 seconds that its file was deleted, and creates it again", async () => {
  const lazy = createLazyDatabase({ folder });
  const database = await lazy.open();
  const failures: (string | undefined)[] = [];
  const healthy = new Promise<void>((resolve) =>
    lazy.health.onChange((failure) => {
      failures.push(failure?.code);
      if (failure === undefined) resolve();
    }),
  );
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
  database.watch(() => {});
  for (const name of FILES) await rm(join(folder, name));
  // The inodes are not compared twice within a few milliseconds.
  await expect.poll(() => (vi.advanceTimersByTime(2_000), failures[0])).toBe("STORE_UNAVAILABLE");
  await vi.advanceTimersByTimeAsync(2_000);
  await healthy;
  await using other = await openDatabase({ folder });
  expect((await other.info()).rows["counters"]).toBe(1);
  await lazy.close();
});

test("an error of the check for changes is reported, and does not end the process", async () => {
  const program = findProgram();
  let isFailing = false;
  const connect = (path: string): SqliteConnection => {
    const connection = program.connect(path);
    const prepare: SqliteConnection["prepare"] = (text) => {
      const statement = connection.prepare(text);
      if (!text.includes("data_version")) return statement;
      const all: typeof statement.all = (...parameters) => {
        if (isFailing) throw new Error("disk I/O error");
        return statement.all(...parameters);
      };
      return { get: () => statement.get(), run: (...parameters) => statement.run(...parameters), all };
    };
    return { exec: (text) => connection.exec(text), prepare, close: () => connection.close() };
  };
  const errors: unknown[] = [];
  const onFailure = (error: unknown): void => void errors.push(error);
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const engine = await openSqlite(file, { ...program, connect }, { lockMs: 500, warn: () => {}, onFailure });
  engine.watch(() => {});
  isFailing = true;
  vi.advanceTimersByTime(2_000);
  expect(errors).toEqual([new Error("disk I/O error")]);
  await engine.close();
});

test("a transaction whose commit fails is not stored, and the next one uses a new connection with new statements", async () => {
  const program = findProgram();
  let connections = 0;
  let failures = 1;
  const connect = (path: string): SqliteConnection => {
    connections++;
    const connection = program.connect(path);
    const exec = (text: string): unknown => {
      // As when a statement of the transaction is still in progress.
      if (text === "COMMIT" && connections === 1 && isReady && failures-- > 0)
        throw new Error("SQL statements in progress");
      return connection.exec(text);
    };
    return { exec, prepare: (text) => connection.prepare(text), close: () => connection.close() };
  };
  let isReady = false;
  const engine = await openSqlite(file, { ...program, connect }, { lockMs: 500, warn: () => {} });
  await engine.put(COUNTERS, { ...ROW, bucket: "first" });
  isReady = true;
  const lost = engine.transaction("b", async (rows) => {
    await rows.put(COUNTERS, { ...ROW, bucket: "one" });
    await rows.put(COUNTERS, { ...ROW, bucket: "two" });
  });
  await expect(lost).rejects.toThrow("SQL statements in progress");
  await engine.put(COUNTERS, { ...ROW, bucket: "last" });
  expect((await engine.select(COUNTERS, {})).map(({ bucket }) => bucket)).toEqual(["first", "last"]);
  expect(connections).toBe(2);
  await engine.close();
});

function findProgram(): SqliteProgram {
  const program = findSqlite();
  if (program === undefined) throw new Error("no SQLite");
  return program;
}
