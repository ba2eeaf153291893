import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { afterEach, beforeEach, expect, test } from "vitest";

import { openSqlite } from "../../src/store/database/sqlite.ts";
import { findSqlite, type SqliteConnection } from "../../src/store/database/sqlite-program.ts";
import { createTables } from "../../src/store/database/schema.ts";
import { openDatabase } from "../../src/store/index.ts";
import { COUNTERS } from "../../src/store/tables/counters.ts";
import { createKeyTable, KEYS, type KeyRow } from "../../src/store/tables/keys.ts";

const KEY: KeyRow = {
  id: "k1",
  prefix: "",
  sha256: "",
  previousSha256: null,
  previousExpires: null,
  name: "",
  permissions: [],
  scopes: [],
  roles: [],
  limits: {},
  created: 0,
  lastUsed: null,
  expires: null,
  revoked: null,
};

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "skillgate-failures-"));
  file = join(folder, "skillgate.db");
});
afterEach(async () => {
  await chmod(folder, 0o700);
  await rm(folder, { recursive: true });
});

test("loses no stored row when writers are killed in the middle", { tags: "rest" }, async () => {
  const stored = new Set<string>();
  for (let round = 0; round < 5; round++) {
    const names = [`${round}a`, `${round}b`];
    await Promise.all(names.map((name) => writeUntilKilled(name, 5 + 40 * round, stored)));
    await using database = await openDatabase({ folder });
    const found = new Set((await database.keys.list()).map(({ id }) => id));
    expect([...stored].filter((id) => !found.has(id))).toEqual([]);
  }
  expect(stored.size).toBeGreaterThan(100);
});

/** Kills a writer with SIGKILL after it has reported a number of rows. */
async function writeUntilKilled(name: string, rows: number, stored: Set<string>): Promise<void> {
  const writer = spawn(process.execPath, ["test/fixtures/store/add-keys.mjs", folder, name], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(writer, "exit");
  let count = 0;
  for await (const id of createInterface(writer.stdout)) {
    stored.add(id);
    if (++count === rows) writer.kill("SIGKILL");
  }
  await ended;
}

/** The pages for rows, beside those of the empty tables: each further table needs some. */
const FREE_PAGES = 20;

function countPages(connection: SqliteConnection): number {
  const { page_count: count } = connection.prepare("PRAGMA page_count").get() as { readonly page_count: number };
  return count;
}

test("keeps every stored row when the disk is full, and continues when it has space", async () => {
  const program = findSqlite();
  if (program === undefined) throw new Error("no SQLite");
  let connection: SqliteConnection | undefined;
  const connect = (path: string): SqliteConnection => (connection = program.connect(path));
  const engine = await openSqlite(file, { ...program, connect }, { lockMs: 500, warn: () => {} });
  await createTables(engine);
  const keys = createKeyTable(engine);
  connection?.exec(`PRAGMA max_page_count = ${countPages(connection) + FREE_PAGES}`);
  let added = 0;
  const fill = async (): Promise<void> => {
    for (; added < 1_000; added++) await keys.add({ ...KEY, id: `k${added}`, name: "x".repeat(2_000) });
  };
  await expect(fill()).rejects.toMatchObject({
    code: "STORE_FULL",
    message: `Cannot write to the store because its disk is full: ${file}: database or disk is full (STORE_FULL)`,
  });
  expect(added).toBeGreaterThan(10);
  await expect(
    engine.transaction("fill", async (rows) => {
      for (let n = 0; n < 1_000; n++)
        await rows.count(COUNTERS, { bucket: `b${n}`, start: 0, count: 1, expires: 0 }, "count");
    }),
  ).rejects.toMatchObject({ code: "STORE_FULL" });
  expect(await engine.total(COUNTERS)).toBe(0);
  expect(await engine.total(KEYS)).toBe(added);
  connection?.exec("PRAGMA max_page_count = 1000000");
  await keys.add({ ...KEY, id: "last" });
  await engine.close();
  await using database = await openDatabase({ folder });
  expect(await database.keys.list()).toHaveLength(added + 1);
});

test("moves a damaged file aside, says so once, and creates a new store", async () => {
  await writeFile(file, "not a database ".repeat(1_000));
  const warnings: string[] = [];
  const opened = await Promise.all(
    [1, 2, 3].map(() => openDatabase({ folder }, { warn: (text) => warnings.push(text) })),
  );
  await opened[0]?.keys.add(KEY);
  expect(await opened[2]?.keys.list()).toHaveLength(1);
  await Promise.all(opened.map((each) => each.close()));
  const [aside = "", ...others] = (await readdir(folder)).filter((name) => name.includes(".damaged-"));
  expect(others).toEqual([]);
  expect(await readFile(join(folder, aside), "utf8")).toBe("not a database ".repeat(1_000));
  expect(warnings).toEqual([
    `The store ${file} was damaged. Its file is now ${aside}, and a new store was created. ` +
      "Restore a backup with: skillgate store restore FILE",
  ]);
});

test("moves a file aside at the next start after damage was found while it was in use", async () => {
  const first = await openDatabase({ folder });
  for (let n = 0; n < 300; n++) await first.keys.add({ ...KEY, id: `k${n}`, name: "x".repeat(1_000) });
  await first.close();
  const { size } = await stat(file);
  const handle = await open(file, "r+");
  // Leaves the first pages, which hold the schema.
  await handle.write(Buffer.alloc(size / 2, "?"), 0, size / 2, size / 2);
  await handle.close();
  const second = await openDatabase({ folder });
  await expect(second.keys.list().then((keys) => keys.length)).rejects.toMatchObject({ code: "STORE_DAMAGED" });
  await second.close();
  const warnings: string[] = [];
  await using third = await openDatabase({ folder }, { warn: (text) => warnings.push(text) });
  expect(warnings).toEqual([expect.stringContaining(" was damaged. Its file is now ")]);
  expect(await third.keys.list()).toEqual([]);
});

test("says that a folder is read-only", async () => {
  await mkdir(join(folder, "store"), { mode: 0o555 });
  await chmod(folder, 0o755);
  const args = ["test/fixtures/store/open.mjs", join(folder, "store"), join(folder, "other")];
  const result = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as Record<string, unknown>;
  expect(result["code"]).toBe("STORE_READ_ONLY");
  expect(result["message"]).toMatch(/^Cannot write to the store because it is read-only: .*skillgate\.db/);
});

test("says that the folder of the store is a file", async () => {
  await writeFile(file, "");
  await expect(openDatabase({ folder: file })).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("EEXIST: file already exists"),
  });
});

test("keeps the store in memory on a Node without SQLite, and says so", () => {
  const args = ["-r", "./test/fixtures/store/hide-sqlite.cjs", "test/fixtures/store/open.mjs", folder];
  const result = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as Record<string, unknown>;
  expect(result).toEqual({
    kind: "memory",
    keys: 0,
    warnings: [
      `Cannot keep the store in ${file}: Node ${process.versions.node} has no SQLite, and the package libsql is not ` +
        "installed. The store is in memory and ends with this process. Use Node 22.13 or newer, or run: npm install libsql@0.5.29",
    ],
  });
});

test("creates files that only their owner can read", async () => {
  await writeFile(file, "", { mode: 0o644 });
  await using database = await openDatabase({ folder });
  await database.keys.add(KEY);
  const names = await readdir(folder);
  expect(names.toSorted()).toEqual(["skillgate.db", "skillgate.db-shm", "skillgate.db-wal"]);
  const modes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).mode & 0o777));
  expect(modes).toEqual([0o600, 0o600, 0o600]);
});

test("waits for another process that writes, and ends the wait with a sentence", async () => {
  await using first = await openDatabase({ folder });
  const program = findSqlite();
  const other = program?.connect(file);
  other?.exec("BEGIN IMMEDIATE");
  await using impatient = await openDatabase({ folder }, { lockMs: 50 });
  await expect(impatient.keys.add(KEY)).rejects.toMatchObject({
    code: "LOCK_TIMEOUT",
    message: "Timed out waiting for the store: another process has been writing to it for 50 ms (LOCK_TIMEOUT)",
  });
  const added = first.keys.add(KEY);
  other?.exec("COMMIT");
  other?.close();
  await added;
  // After the timeout, a write is a write that others see.
  await impatient.keys.add({ ...KEY, id: "k2" });
  expect((await first.keys.list()).map(({ id }) => id)).toEqual(["k1", "k2"]);
});
