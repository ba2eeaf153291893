import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { open, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { isRecord } from "../../../model/json.ts";
import { hashValue } from "../../../shared/digest.ts";
import { makeFolder } from "../../../shared/files/make-folder.ts";

/** Interval between attempts to take a lock that another process holds. */
const POLL_MS = 25;

/** A lock is marked as held this often. */
const HOLD_MS = 15_000;

/** A lock that was not marked for this long is of a process that has ended. */
const STALE_MS = 90_000;

/** Stores grants: values by key. */
export interface TokenStore {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /** Runs work under the lock of a key, which all processes with the same store share. */
  exclusively<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
}

/** Stores tokens in a file that only its owner can read; each write replaces the file atomically. */
export function tokenFile(file: string): TokenStore {
  const inTurn = createQueue();
  const read = createReader(file);
  const change = (edit: (entries: Map<string, unknown>) => void): Promise<void> =>
    inTurn(() =>
      underLock(`${file}.write`, async () => {
        const entries = new Map(await read());
        edit(entries);
        await writeWhole(file, JSON.stringify(Object.fromEntries(entries), undefined, 2));
      }),
    );
  const queueUp = createQueues();
  return {
    get: async (key) => structuredClone((await read()).get(key)), // many callers share one read
    set: (key, value) => change((entries) => entries.set(key, value)),
    delete: (key) => change((entries) => entries.delete(key)),
    exclusively: (key, work) => queueUp(key, () => underLock(`${file}.${hashValue(key)}.lock`, work)),
  };
}

/** Stores tokens until the process ends. */
export function tokensInMemory(): TokenStore {
  const entries = new Map<string, unknown>();
  return {
    get: async (key) => entries.get(key),
    set: async (key, value) => void entries.set(key, value),
    delete: async (key) => void entries.delete(key),
    exclusively: createQueues(),
  };
}

/** Creates a queue for each key. */
function createQueues(): TokenStore["exclusively"] {
  const queues = new Map<string, ReturnType<typeof createQueue>>();
  return (key, work) => {
    const queue = queues.get(key) ?? createQueue();
    queues.set(key, queue);
    return queue(work);
  };
}

/** Creates a queue that runs one task at a time. */
function createQueue(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => {}); // the caller gets the error from `result`
    return result;
  };
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

async function writeWhole(file: string, text: string): Promise<void> {
  await makeFolder(dirname(file), 0o700);
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
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

async function take(lock: string): Promise<boolean> {
  try {
    await (await open(lock, "wx", 0o600)).close();
    return true;
  } catch {
    const age = await stat(lock).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > STALE_MS) await rm(lock, { force: true });
    return false;
  }
}
