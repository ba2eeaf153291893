import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { isRecord } from "../../../model/json.ts";

/** How often a lock that somebody else has is tried again. */
const POLL_MS = 25;

/** A lock this old was left behind: nothing under it takes so long. */
const STALE_MS = 90_000;

/** Keeps what was granted: values by key, for whoever may read them. */
export interface TokenStore {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /** One at a time, over all processes that share the store. */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** In a file that only its owner can read; written whole, so that nobody ever reads half of one. */
export function tokenFile(file: string): TokenStore {
  const inTurn = createQueue();
  const read = createReader(file);
  const change = (edit: (entries: Map<string, unknown>) => void): Promise<void> =>
    inTurn(async () => {
      const entries = new Map(await read());
      edit(entries);
      await writeWhole(file, JSON.stringify(Object.fromEntries(entries), undefined, 2));
    });
  const exclusive = createQueue();
  return {
    get: async (key) => structuredClone((await read()).get(key)), // what is read once is given out many times
    set: (key, value) => change((entries) => entries.set(key, value)),
    delete: (key) => change((entries) => entries.delete(key)),
    exclusively: (work) => exclusive(() => underLock(`${file}.lock`, work)),
  };
}

/** For as long as the process lives. */
export function tokensInMemory(): TokenStore {
  const entries = new Map<string, unknown>();
  return {
    get: async (key) => entries.get(key),
    set: async (key, value) => void entries.set(key, value),
    delete: async (key) => void entries.delete(key),
    exclusively: createQueue(),
  };
}

/** Runs what it is given one after the other. */
function createQueue(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => {}); // who waits for the work hears of it
    return turn;
  };
}

/** Reads the file when it has changed, and only then: every request to a server asks what is in it. */
function createReader(file: string): () => Promise<ReadonlyMap<string, unknown>> {
  let seen: string | undefined;
  let entries: ReadonlyMap<string, unknown> = new Map();
  return async () => {
    const now = getFileVersion(file);
    if (now === undefined) return new Map();
    if (now !== seen) entries = await readEntries(file);
    seen = now;
    return entries;
  };
}

/** Another one whenever the file is written, for then it is another file. */
function getFileVersion(file: string): string | undefined {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stats && `${stats.ino} ${stats.mtimeNs}`;
  } catch {
    return undefined; // not for us
  }
}

async function readEntries(file: string): Promise<Map<string, unknown>> {
  try {
    const read: unknown = JSON.parse(await readFile(file, "utf8"));
    return new Map(isRecord(read) ? Object.entries(read) : []);
  } catch {
    return new Map(); // not there yet, or spoilt: people log in again
  }
}

async function writeWhole(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
}

async function underLock<Result>(lock: string, work: () => Promise<Result>): Promise<Result> {
  await mkdir(dirname(lock), { recursive: true, mode: 0o700 });
  while (!(await take(lock))) await sleep(POLL_MS);
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
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
