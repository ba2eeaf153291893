import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";

import { MIGRATIONS } from "../../src/store/database/schema.ts";
import { openEngine } from "../../src/store/database/open.ts";
import { findSqlite } from "../../src/store/database/sqlite-program.ts";
import { backUpStore, createStore, type Database, openDatabase, restoreStore } from "../../src/store/index.ts";
import { repetitions } from "../support/repetitions.ts";

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-backup-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const record = (callId: number): Parameters<Database["audit"]["append"]>[0][0] => ({
  time: new Date(Date.parse("2026-03-01T12:00:00.000Z") + callId).toISOString(),
  callId,
  caller: "ada",
});

async function countRecords(folder: string): Promise<number> {
  await using database = await openDatabase({ folder });
  const verdict = await database.audit.verify();
  if (verdict.kind !== "intact") throw new Error(JSON.stringify(verdict));
  return verdict.records;
}

test(
  "copies the whole store while others write, with all that was committed before [P8]",
  { tags: "rest" },
  async () => {
    const [folder, copies] = [createFolder(), createFolder()];
    const writers = await Promise.all([1, 2].map(() => openDatabase({ folder })));
    let committed = 0;
    const ending = new AbortController();
    onTestFinished(() => ending.abort());
    const writing = writers.map(async ({ audit }) => {
      while (!ending.signal.aborted) {
        await audit.append([record(committed)]);
        committed++;
        await new Promise(setImmediate);
      }
    });
    await createStore(folder).space("MathSkill").set("last", 5);
    await expect.poll(() => readdirSync(folder)).toContain("audit-head.json");
    for (let round = 0; round < repetitions(3, 20); round++) {
      const before = committed;
      const file = join(copies, `${round}.backup`);
      expect(await backUpStore(folder, file)).toMatchObject({
        files: expect.arrayContaining(["MathSkill.jsonl", "audit-key.pem"]) as unknown,
      });
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const restored = join(copies, String(round));
      expect(await restoreStore(restored, file)).toMatchObject({ before: undefined });
      const records = await countRecords(restored);
      expect(records).toBeGreaterThanOrEqual(before);
      expect(records).toBeLessThanOrEqual(committed + writers.length);
      expect(await createStore(restored).space("MathSkill").get("last")).toBe(5);
      expect(readFileSync(join(restored, "audit-key.pem"), "utf8")).toBe(
        readFileSync(join(folder, "audit-key.pem"), "utf8"),
      );
      const files = readdirSync(restored).filter((name) => !/-(?:wal|shm)$/.test(name));
      const audit = ["audit-head.json", "audit-key.pem", "audit-keys.pub.pem"];
      expect(files.toSorted()).toEqual(["MathSkill.jsonl", ...audit, "skillgate.db"]);
    }
    ending.abort();
    await Promise.all(writing);
    await Promise.all(writers.map((each) => each.close()));
  },
);

test("renames what a restore replaces, and loses nothing of it [P8]", async () => {
  const [folder, copies] = [createFolder(), createFolder()];
  await using first = await openDatabase({ folder });
  await first.audit.append([record(1)]);
  await backUpStore(folder, join(copies, "backup"));
  await first.audit.append([record(2), record(3)]);
  await first.close();
  const { before = "" } = await restoreStore(folder, join(copies, "backup"));
  expect(await countRecords(folder)).toBe(1);
  const [, suffix = ""] = before.split("skillgate.db");
  expect(suffix).toMatch(/^\.before-restore-\d{4}-/);
  const old = createFolder();
  for (const name of readdirSync(folder).filter((each) => each.endsWith(suffix)))
    writeFileSync(join(old, name.slice(0, -suffix.length)), readFileSync(join(folder, name)));
  expect(await countRecords(old)).toBe(3);
});

test("a process that has the store open continues after a restored backup, and signs no record that is gone [P8]", async () => {
  const [folder, copies] = [createFolder(), createFolder()];
  await using writer = await openDatabase({ folder });
  await using idle = await openDatabase({ folder });
  await writer.audit.append([record(1)]);
  await backUpStore(folder, join(copies, "backup"));
  await idle.audit.append([record(2)]);
  await writer.audit.append([record(3), record(4)]);
  await restoreStore(folder, join(copies, "backup"));
  // It has a record in mind that is not signed yet.
  await idle.close();
  expect(await countRecords(folder)).toBe(1);
  await expect(writer.audit.append([record(5)])).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("a backup was restored while it was in use") as string,
  });
  await writer.audit.append([record(6)]);
  await writer.close();
  expect(await countRecords(folder)).toBe(2);
});

test("keeps the files in their places while it replaces them, and removes what a killed restore left [P8]", async () => {
  const [folder, copies] = [createFolder(), createFolder()];
  const database = await openDatabase({ folder });
  await database.audit.append([record(1)]);
  await database.audit.sign();
  await backUpStore(folder, join(copies, "backup"));
  await database.close();
  mkdirSync(join(folder, `.restore-${2 ** 22 + 1}`)); // no process has this number
  const key = join(folder, "audit-key.pem");
  const { ino } = statSync(key);
  await restoreStore(folder, join(copies, "backup"));
  // What it keeps is a copy: the key itself was in its place until the restored one took it.
  const copy = readdirSync(folder).find((name) => name.startsWith("audit-key.pem.before-restore-")) ?? "";
  expect(statSync(join(folder, copy)).ino).not.toBe(ino);
  expect(readFileSync(join(folder, copy), "utf8")).toBe(readFileSync(key, "utf8"));
  expect(readdirSync(folder).filter((name) => name.startsWith(".restore-"))).toEqual([]);
});

test("leaves the store and no file when a restore fails at its end [P8]", async () => {
  const [folder, copies] = [createFolder(), createFolder()];
  const database = await openDatabase({ folder });
  await database.audit.append([record(1)]);
  await database.audit.sign();
  await createStore(folder).space("MathSkill").set("last", 5);
  await backUpStore(folder, join(copies, "backup"));
  await database.audit.append([record(2)]);
  await database.close();
  const before = readdirSync(folder).toSorted();
  const connection = findSqlite()?.connect(join(copies, "backup"));
  connection?.prepare("INSERT INTO backup_files VALUES (?, ?)").run(`${"x".repeat(250)}.jsonl`, "too long a name");
  connection?.close();
  await expect(restoreStore(folder, join(copies, "backup"))).rejects.toThrow("ENAMETOOLONG");
  expect(readdirSync(folder).toSorted()).toEqual(before);
  expect(await createStore(folder).space("MathSkill").get("last")).toBe(5);
  expect(await countRecords(folder)).toBe(2);
});

test("refuses what is not a whole backup, and leaves the store as it was [P8]", async () => {
  const [folder, copies] = [createFolder(), createFolder()];
  await using database = await openDatabase({ folder });
  for (let at = 0; at < 50; at++) await database.audit.append([record(at)]);
  await database.close();
  const backup = join(copies, "backup");
  await backUpStore(folder, backup);
  await expect(backUpStore(folder, backup)).rejects.toThrow("EEXIST");
  await expect(backUpStore(join(folder, "gone"), join(copies, "none"))).rejects.toThrow("nothing to back up");

  const bytes = readFileSync(backup);
  const write = (name: string, content: Buffer | string): string => {
    writeFileSync(join(copies, name), content);
    return join(copies, name);
  };
  const newer = write("newer", bytes);
  await changeVersion(newer, copies);
  const altered = write("altered", bytes);
  const connection = findSqlite()?.connect(altered);
  connection?.exec("ALTER TABLE keys DROP COLUMN limits");
  connection?.close();
  const cases: readonly (readonly [string, string])[] = [
    [join(copies, "missing"), "cannot read the backup"],
    [write("text", "not a database"), "is not a whole backup: file is not a database"],
    [write("cut", bytes.subarray(0, bytes.length >> 1)), "is not a whole backup"],
    [write("store", readFileSync(join(folder, "skillgate.db"))), "no such table: backup_files"],
    [newer, `${newer} has schema 1000`],
    [altered, `${altered} is not a whole backup: no such column: limits`],
  ];
  for (const [file, message] of cases) await expect(restoreStore(folder, file), file).rejects.toThrow(message);
  expect(await countRecords(folder)).toBe(50);
  expect(readdirSync(folder).filter((name) => name.includes("restore"))).toEqual([]);
});

test.skipIf(process.getuid?.() === 0)("restores a backup that this user may only read [P8]", async () => {
  const [folder, copies] = [createFolder(), createFolder()];
  await (await openDatabase({ folder })).close();
  const backup = join(copies, "backup");
  await backUpStore(folder, backup);
  chmodSync(backup, 0o400);
  expect(await restoreStore(folder, backup)).toMatchObject({ files: [] });
});

test("names the new file of a backup whose disk is full, and leaves none [P8]", async () => {
  const [folder, copies] = [createFolder(), createFolder()];
  await (await openDatabase({ folder })).close();
  const prototype = Object.getPrototypeOf(findSqlite()?.connect(":memory:")) as { exec: (text: string) => unknown };
  const { exec: run } = prototype;
  const exec = vi.spyOn(prototype, "exec");
  onTestFinished(() => exec.mockRestore());
  const out = join(copies, "backup");
  exec.mockImplementation(function (this: unknown, text) {
    if (!text.startsWith("VACUUM INTO")) return run.call(this, text);
    throw Object.assign(new Error("database or disk is full"), { rawCode: 13, errcode: 13 });
  });
  await expect(backUpStore(folder, out)).rejects.toMatchObject({ code: "ENOSPC", message: `no space left for ${out}` });
  expect(readdirSync(copies)).toEqual([]);
});

test("writes no file outside of the folder of the store, whatever a backup names [P8]", async () => {
  const [folder, copies] = [createFolder(), createFolder()];
  await (await openDatabase({ folder })).close();
  const backup = join(copies, "backup");
  await backUpStore(folder, backup);
  const connection = findSqlite()?.connect(backup);
  for (const name of ["../evil.jsonl", "/tmp/evil.jsonl", "settings.yaml", "good.jsonl"])
    connection?.prepare("INSERT INTO backup_files VALUES (?, ?)").run(name, "evil");
  connection?.close();
  const restored = join(copies, "restored");
  expect(await restoreStore(restored, backup)).toMatchObject({ files: ["good.jsonl"] });
  expect(readdirSync(copies).toSorted()).toEqual(["backup", "restored"]);
});

test("takes from a backup the tables of a store alone, and says where a damaged store is that it replaces [P8]", async () => {
  const [folder, copies] = [createFolder(), createFolder()];
  const database = await openDatabase({ folder });
  await database.audit.append([record(1)]);
  await database.close();
  const backup = join(copies, "backup");
  await backUpStore(folder, backup);
  const connection = findSqlite()?.connect(backup);
  connection?.exec("CREATE TABLE other (text TEXT)");
  connection?.exec("CREATE TRIGGER more AFTER INSERT ON audit BEGIN DELETE FROM audit WHERE seq = new.seq - 1; END");
  connection?.close();
  const file = join(folder, "skillgate.db");
  writeFileSync(file, readFileSync(file).fill(1, 0, 4_096));
  const { before = "" } = await restoreStore(folder, backup);
  expect(before).toMatch(/skillgate\.db\.damaged-\d{4}-/);
  expect(readFileSync(before)[0]).toBe(1);
  const restored = findSqlite()?.connect(file);
  const objects = restored?.prepare("SELECT name FROM sqlite_master WHERE name IN ('other', 'more')").all();
  restored?.close();
  expect(objects).toEqual([]);
  expect(await countRecords(folder)).toBe(1);
});

/** Changes the schema of a backup to one of a newer version. */
async function changeVersion(backup: string, folder: string): Promise<void> {
  const file = join(folder, "skillgate.db");
  writeFileSync(file, readFileSync(backup));
  const engine = await openEngine({ folder }, { lockMs: 500, warn: () => {} });
  await engine.insert(MIGRATIONS, [{ version: 1_000, program: "99.0.0", time: 0 }]);
  await engine.close();
  writeFileSync(backup, readFileSync(file));
  rmSync(file);
}
