import { open, readFile, rm, stat } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";

/** How long somebody waits for a lock (X8), and how long at most between two looks at it. */
const PATIENCE_MS = 500;
const LONGEST_PAUSE_MS = 20;
/** Nobody holds a lock this long who is still at work. */
const STALE_MS = 10_000;

/** Does something while no other process does it. Throws when the lock does not become free in time. */
export async function withLock<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  await take(file);
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function take(file: string): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    if (await create(file)) return;
    if (await isStale(file)) await rm(file, { force: true });
    else if (performance.now() > until) throw new Error(`Cannot write: "${file}" is held by another process`);
    else await wait(pauseMs * (0.5 + Math.random()));
  }
}

/** The system sees to it that only one succeeds. */
async function create(file: string): Promise<boolean> {
  try {
    const handle = await open(file, "wx", 0o600);
    await handle.writeFile(String(process.pid));
    await handle.close();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/** Its holder has ended, or it has been there for longer than anything takes. */
async function isStale(file: string): Promise<boolean> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(file, "utf8"), stat(file)]);
    if (Date.now() - mtimeMs > STALE_MS) return true;
    return text !== "" && !isAlive(Number(text));
  } catch {
    // It was released meanwhile.
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
