import { getMessage, SkillgateError } from "../../errors.ts";
import { type Database, hasEnded, type RunRow } from "../../store/index.ts";

export interface FollowOptions {
  readonly open: () => Promise<Database>;
  readonly resume: (id: string) => Promise<unknown>;
  readonly warn: (text: string) => void;
}

/** The longest delay of a timer, in milliseconds, and the shortest between two looks at the store. */
const MAX_DELAY_MS = 2 ** 31 - 1;
const MIN_DELAY_MS = 1_000;

/** A program that ends its process each time is not continued for ever. */
const MAX_ATTEMPTS = 5;

/** Continues the runs of processes that have ended, now and when their questions are closed. Returns the function that stops it. */
export async function followRuns({ open, resume, warn }: FollowOptions): Promise<() => void> {
  const database = await open();
  const active = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let isStale = false;
  let isScanning = false;

  function start(id: string): void {
    if (active.has(id)) return;
    active.add(id);
    resume(id)
      .catch((error: unknown) => {
        const isBusy = error instanceof SkillgateError && error.code === "RUN_BUSY";
        if (!isBusy) warn(`Cannot continue run ${id}: ${getMessage(error)}`);
      })
      .finally(() => active.delete(id))
      .catch(() => {}); // the failure was reported
  }

  async function scan(): Promise<void> {
    const now = Date.now();
    await database.approvals.expire(now);
    for (const row of await database.runs.list({ ended: null })) {
      if (isStopped || !isFree(row, now) || row.attempts >= MAX_ATTEMPTS) continue;
      if (row.state === "running" || (await hasNews(row, database))) start(row.id);
    }
    const expiries = (await database.approvals.list("pending")).map(({ expires }) => expires);
    clearTimeout(timer);
    if (isStopped || expiries.length === 0) return;
    const delay = Math.min(Math.max(MIN_DELAY_MS, Math.min(...expiries) - now), MAX_DELAY_MS);
    timer = setTimeout(() => void scanAgain(), delay).unref();
  }

  /** Scans once more if the store has changed meanwhile. */
  async function scanAgain(): Promise<void> {
    isStale = true;
    if (isScanning) return;
    isScanning = true;
    try {
      while (isStale) {
        isStale = false;
        if (!isStopped) await scan();
      }
    } catch (error) {
      warn(`Cannot read the runs to continue: ${getMessage(error)}`);
    } finally {
      isScanning = false;
    }
  }

  const stopWatching = database.watch(() => void scanAgain());
  void scanAgain();
  return () => {
    isStopped = true;
    stopWatching();
    clearTimeout(timer);
  };
}

/** True if a question of the run was closed after the run was last executed. */
async function hasNews({ id, updated }: RunRow, { approvals }: Database): Promise<boolean> {
  const questions = await approvals.listOfRun(id);
  if (questions.length === 0) return true;
  return questions.some(({ state, answeredAt, expires }) => state !== "pending" && (answeredAt ?? expires) >= updated);
}

/** True if no process executes the run. */
export function isFree({ claimedBy, claimedUntil }: Pick<RunRow, "claimedBy" | "claimedUntil">, now: number): boolean {
  return claimedBy === null || claimedUntil < now || hasEnded(claimedBy);
}
