import { statSync } from "node:fs";
import { open, readFile, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { replaceFile } from "../../shared/files/replace-file.ts";
import { isRecord } from "../../model/json.ts";
import { hashValue } from "../../shared/digest.ts";
import { makeFolder } from "../../shared/files/make-folder.ts";
import { removeStale, withLock } from "../../shared/files/lock.ts";
import { createQueue, createQueues } from "../../shared/threads/queue.ts";
import { getProcessName, hasEnded } from "../../store/index.ts";
import type { LoginEntries, SealValue } from "./entries.ts";

/** Interval between attempts to take a lock that another process holds. */
const POLL_MS = 25;

/** A lock is marked as held this often. */
const HOLD_MS = 15_000;

/** A lock that was not marked for this long is of a process that has ended. */
const STALE_MS = 90_000;

/** Milliseconds to wait for another process that writes. */
const WRITE_MS = 30_000;

/**
 * The logins in a file that only its owner can read; each write replaces the file atomically. Values that are not encrypted, as an
 * earlier version has written them, are encrypted with the first use.
 */
export function createLoginFile(file: string, seal: SealValue): LoginEntries {
  const read = createReader(file);
  const change = createChange(file, read);
  const queueUp = createQueues();
  const list = async (): Promise<ReadonlyMap<string, string>> => {
    const isMixed = [...(await read()).values()].some(isPlain);
    if (isMixed) await change((current) => sealPlain(current, seal));
    return new Map([...(await read())].flatMap(([key, text]) => (typeof text === "string" ? [[key, text]] : [])));
  };
  return {
    get: async (key) => (await list()).get(key),
    set: (key, text) => change((entries) => entries.set(key, text)),
    async replace(key, before, text) {
      let isFound = false;
      await change((entries) => {
        isFound = entries.get(key) === before;
        if (isFound) entries.set(key, text);
      });
      return isFound;
    },
    async delete(key) {
      let isFound = false;
      await change((entries) => (isFound = entries.delete(key)));
      return isFound;
    },
    list,
    exclusively: (key, work) => queueUp(key, () => underLock(`${file}.${hashValue(key)}.lock`, work)),
  };
}

/** Moves single values out of a file that an earlier version has written, without encryption. */
export function createPlainLogins(
  file: string,
): (key: string, store: (value: unknown) => Promise<void>) => Promise<void> {
  const read = createReader(file);
  const change = createChange(file, read);
  return async (key, store) => {
    if (!isPlain((await read()).get(key))) return;
    await change(async (entries) => {
      const value = entries.get(key);
      if (!isPlain(value)) return;
      await store(value); // first: nothing is lost if the process ends here
      entries.delete(key);
    });
  };
}

type Entries = Map<string, unknown>;

function isPlain(value: unknown): boolean {
  return value !== undefined && typeof value !== "string";
}

async function sealPlain(entries: Entries, seal: SealValue): Promise<void> {
  for (const [key, value] of entries) if (isPlain(value)) entries.set(key, await seal(key, value));
}

/** Creates the function that changes the entries of a file. An empty file is removed. */
function createChange(
  file: string,
  read: () => Promise<ReadonlyMap<string, unknown>>,
): (edit: (entries: Entries) => unknown) => Promise<void> {
  const inTurn = createQueue();
  return (edit) =>
    inTurn(() =>
      writeUnderLock(`${file}.write`, async () => {
        const entries = new Map(await read());
        await edit(entries);
        if (entries.size === 0) await rm(file, { force: true });
        else await replaceFile(file, JSON.stringify(Object.fromEntries(entries), undefined, 2));
      }),
    );
}

/** Reads the file only when it has changed, because every request to a server needs its content. */
function createReader(file: string): () => Promise<ReadonlyMap<string, unknown>> {
  let lastVersion: string | undefined;
  let entries: ReadonlyMap<string, unknown> = new Map();
  return async () => {
    const now = getFileVersion(file);
    if (now === undefined) return new Map();
    if (now !== lastVersion) entries = await readEntries(file);
    lastVersion = now;
    return entries;
  };
}

/** Returns a version that changes with each write, because each write creates a new file. */
function getFileVersion(file: string): string | undefined {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stats && `${stats.ino} ${stats.mtimeNs}`;
  } catch {
    return undefined; // no permission
  }
}

async function readEntries(file: string): Promise<Map<string, unknown>> {
  try {
    const read: unknown = JSON.parse(await readFile(file, "utf8"));
    return new Map(isRecord(read) ? Object.entries(read) : []);
  } catch {
    return new Map(); // missing or malformed: the user logs in again
  }
}

/** The lock of a process that was killed ends at once. */
async function writeUnderLock(lock: string, write: () => Promise<void>): Promise<void> {
  await makeFolder(dirname(lock), 0o700);
  await withLock(lock, WRITE_MS, write);
}

async function underLock<Result>(lock: string, work: () => Promise<Result>): Promise<Result> {
  await makeFolder(dirname(lock), 0o700);
  while (!(await take(lock))) await sleep(POLL_MS);
  const holding = setInterval(() => void markHeld(lock), HOLD_MS).unref();
  try {
    return await work();
  } finally {
    clearInterval(holding);
    await rm(lock, { force: true });
  }
}

async function markHeld(lock: string): Promise<void> {
  const now = new Date();
  await utimes(lock, now, now).catch(() => {}); // the lock was removed by hand
}

/** The lock has the name of its process: one that was killed holds it no more. */
async function take(lock: string): Promise<boolean> {
  try {
    const file = await open(lock, "wx", 0o600);
    await file.writeFile(getProcessName());
    await file.close();
    return true;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    if (await isLeft(lock)) await removeStale(lock, isLeft);
    return false;
  }
}

async function isLeft(lock: string): Promise<boolean> {
  const holder = await readFile(lock, "utf8").catch(() => "");
  if (holder !== "" && hasEnded(holder)) return true;
  const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Date.now() })); // it was released
  return Date.now() - mtimeMs > STALE_MS;
}
