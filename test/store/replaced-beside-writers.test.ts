// @module-tag repeated

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { backUpStore, openDatabase, restoreStore } from "../../src/store/index.ts";
import { repetitions } from "../support/repetitions.ts";

test(
  "loses nothing of a backup that is restored again and again while processes write to the store and open it [P8]",
  { tags: "rest", timeout: 60_000 },
  async () => {
    const [folder, backup] = [await createFolder(), join(await createFolder(), "backup")];
    const writers = [1, 2].map(() => new Writer(folder));
    await Promise.all(writers.map((writer) => writer.append(20)));
    await backUpStore(folder, backup);
    const copy = await createFolder();
    await restoreStore(copy, backup);
    const saved = await readRecords(copy);
    for (let round = 0; round < repetitions(5, 40); round++) {
      await restoreStore(folder, backup);
      await Promise.all(writers.map((writer) => writer.append(3)));
      await expectWhole(folder, saved);
    }
    for (const writer of writers)
      expect((await writer.end()).filter((code) => code !== "STORE_UNAVAILABLE")).toEqual([]);
    await expectWhole(folder, saved);
    expect((await readdir(folder)).filter((name) => name.includes(".damaged"))).toEqual([]);
  },
);

test(
  "creates a whole store each time that its files are deleted while processes write to it and open it [P8]",
  { tags: "rest", timeout: 60_000 },
  async () => {
    const folder = await createFolder();
    const writers = [1, 2].map(() => new Writer(folder));
    await Promise.all(writers.map((writer) => writer.append(20)));
    for (let round = 0; round < repetitions(5, 40); round++) {
      const parts = round % 2 === 0 ? ["", "-wal", "-shm"] : [""];
      for (const part of parts) await rm(join(folder, `skillgate.db${part}`), { force: true });
      await rm(join(folder, "audit-head.json"), { force: true });
      await Promise.all(writers.map((writer) => writer.append(3)));
    }
    for (const writer of writers)
      expect((await writer.end()).filter((code) => code !== "STORE_UNAVAILABLE")).toEqual([]);
    await using database = await openDatabase({ folder }, { repairs: false });
    expect((await database.audit.tail(1)).length).toBe(1);
    expect((await readdir(folder)).filter((name) => name.includes(".damaged"))).toEqual([]);
  },
);

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "skillgate-replaced-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The hashes of all records of a store, or of a backup. */
async function readRecords(folder: string): Promise<readonly string[]> {
  await using database = await openDatabase({ folder }, { repairs: false });
  const hashes: string[] = [];
  for await (const { hash } of database.audit.read()) hashes.push(hash);
  return hashes;
}

/** Checks that a store is intact, and that its records begin with those that were saved. */
async function expectWhole(folder: string, saved: readonly string[]): Promise<void> {
  await using database = await openDatabase({ folder }, { repairs: false });
  expect(await database.audit.verify()).toMatchObject({ kind: "intact" });
  expect((await readRecords(folder)).slice(0, saved.length)).toEqual(saved);
}

/** A process that appends records. */
class Writer {
  readonly #process: ChildProcess;
  #records = 0;
  /** The codes of the errors that it had, which its last message has. */
  readonly #codes: Promise<readonly string[]>;

  constructor(folder: string) {
    this.#process = fork("test/fixtures/store/append-while-replaced.mjs", [folder]);
    this.#process.on("message", () => this.#records++);
    this.#codes = new Promise((resolve) => {
      this.#process.on("message", (message) => Array.isArray(message) && resolve(message as readonly string[]));
    });
    onTestFinished(() => void this.#process.kill("SIGKILL"));
  }

  /** Resolves when this number of further records is stored. */
  async append(count: number): Promise<void> {
    for (const wanted = this.#records + count; this.#records < wanted;) await once(this.#process, "message");
  }

  /** Ends it, and returns the codes of the errors that it had. */
  async end(): Promise<readonly string[]> {
    this.#process.send("end");
    return this.#codes;
  }
}
