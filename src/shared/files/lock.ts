import { lstat, open, readFile, readlink, rm, symlink } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { createError, type SkillgateError } from "../../errors.ts";

/** The longest pause between two checks of a lock. */
const MAX_PAUSE_MS = 20;
/** A lock older than this is stale. */
const STALE_MS = 10_000;

/** Attempts between two looks at who holds a lock: these take two more operations of the file system, which the holder waits for. */
const STALE_INTERVAL = 8;

/** Runs `work` while holding the lock. Throws `LOCK_TIMEOUT` if the lock does not become free in time. */
export async function withLock<Result>(file: string, lockMs: number, work: () => Promise<Result>): Promise<Result> {
  await take(file, lockMs);
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function take(file: string, lockMs: number): Promise<void> {
  const until = performance.now() + lockMs;
  let pauseMs = 1;
  for (let attempt = 0; ; attempt++) {
    if (await create(file)) return;
    if (attempt % STALE_INTERVAL === 0 && (await isStale(file))) {
      await removeStale(file, isStale);
      continue;
    }
    if (performance.now() > until) throw lockTimeout(file, lockMs);
    await wait(pauseMs * (0.5 + Math.random()));
    pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
  }
}

/**
 * Removes a lock whose process has ended. One process at a time does so: another one would remove that of the process that takes
 * it next.
 */
export async function removeStale(file: string, isHeldNoMore: (file: string) => Promise<boolean>): Promise<void> {
  const removal = `${file}.stale`;
  if (!(await create(removal))) {
    if (await isStale(removal)) await rm(removal, { force: true });
    return;
  }
  try {
    if (await isHeldNoMore(file)) await rm(file, { force: true });
  } finally {
    await rm(removal, { force: true });
  }
}

function lockTimeout(file: string, lockMs: number): SkillgateError {
  const values = `"${basename(file)}" is still held by another process after ${lockMs} ms`;
  return createError("LOCK_TIMEOUT", values, { timeoutMs: lockMs });
}

/**
 * Creates the lock; the operating system lets only one process succeed. A link has the id of its process from the beginning, also
 * if the process is killed at once. Where a folder can have no links, the lock is a file.
 */
async function create(file: string): Promise<boolean> {
  try {
    await symlink(String(process.pid), file);
    return true;
  } catch (error) {
    return isExisting(error) ? false : createFile(file);
  }
}

async function createFile(file: string): Promise<boolean> {
  try {
    const handle = await open(file, "wx", 0o600);
    // On a full disk the lock counts until it is old.
    await handle.writeFile(String(process.pid)).catch(() => {});
    await handle.close();
    return true;
  } catch (error) {
    if (isExisting(error)) return false;
    throw error;
  }
}

function isExisting(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EEXIST";
}

/** True if the process that holds the lock has ended, or the lock is older than `STALE_MS`. */
async function isStale(file: string): Promise<boolean> {
  try {
    const { mtimeMs } = await lstat(file);
    const text = await readlink(file).catch(() => readFile(file, "utf8"));
    if (Date.now() - mtimeMs > STALE_MS) return true;
    return text !== "" && !isAlive(Number(text));
  } catch {
    // The lock was released in the meantime.
    return false;
  }
}

/** True if a process of this machine has the number. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
