import { getMessage, SkillgateError } from "../../errors.ts";
import type { Claims } from "../../runs/index.ts";
import type { Database, RunRow } from "../../store/index.ts";

export interface FollowOptions {
  readonly claims: Pick<Claims, "findFree" | "checkProcesses" | "forget">;
  readonly open: () => Promise<Database>;
  readonly resume: (id: string) => Promise<unknown>;
  readonly warn: (text: string) => void;
  /** Milliseconds between two looks whether other processes live; 5,000 by default. */
  readonly lookMs?: number;
}

/** Milliseconds between two looks whether other processes live. */
const LOOK_MS = 5_000;

/** The longest and the shortest time between two looks at the store without a change, in milliseconds. */
const MAX_DELAY_MS = 60_000;
const MIN_DELAY_MS = 1_000;

/** The longest time between two attempts to read the store after a failure, in milliseconds. */
const MAX_RETRY_MS = 15_000;

/** A question may be closed this many milliseconds before one that was read earlier. */
const OVERLAP_MS = 10_000;

/** Milliseconds by which the clock of the process that executed a run may be ahead of the store's. */
const MAX_SKEW_MS = 600_000;

/**
 * Continues the runs of processes that have ended, now and when their questions are closed. Returns the function that stops
 * it.
 */
export async function followRuns(options: FollowOptions): Promise<() => void> {
  const { warn, lookMs = LOOK_MS } = options;
  const database = await options.open();
  const watch = new AnswerWatch(database, options);
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let isStale = false;
  let isLooking = false;
  let retryMs = MIN_DELAY_MS;

  /** Looks once more if the store has changed meanwhile. */
  async function checkStore(): Promise<void> {
    isStale = true;
    if (isLooking) return;
    isLooking = true;
    try {
      while (isStale) {
        isStale = false;
        clearTimeout(timer);
        if (isStopped) return;
        const next = await watch.check();
        retryMs = MIN_DELAY_MS;
        if (!isStopped) timer = setTimeout(() => void checkStore(), next).unref();
      }
    } catch (error) {
      warn(`Cannot read the runs to continue: ${getMessage(error)}`);
      if (!isStopped) timer = setTimeout(() => void checkStore(), retryMs).unref();
      retryMs = Math.min(2 * retryMs, MAX_RETRY_MS);
    } finally {
      isLooking = false;
    }
  }

  /** A process that ends changes nothing in the store. */
  async function checkProcesses(): Promise<void> {
    try {
      if (!(await options.claims.checkProcesses())) return;
    } catch {
      return; // the next look tries again
    }
    watch.scanNext();
    await checkStore();
  }

  const stopWatching = database.watch(() => void checkStore());
  const looking = setInterval(() => void checkProcesses(), lookMs).unref();
  void checkStore();
  return () => {
    isStopped = true;
    clearInterval(looking);
    watch.stop();
    stopWatching();
    clearTimeout(timer);
  };
}

/**
 * Finds the runs to continue. After a change of the store it reads the questions that were closed since the last look, and their
 * runs. It reads all runs once a minute: a process that ends changes nothing in the store.
 */
class AnswerWatch {
  readonly #database: Database;
  readonly #options: FollowOptions;
  /** The runs that are being continued. */
  readonly #active = new Set<string>();
  /** Runs whose questions are closed, and which another process may still hold. */
  readonly #claimed = new Set<string>();
  /** The closed questions that were read, with the times at which they were closed. */
  readonly #read = new Map<string, number>();
  #closedUntil: number | undefined;
  #nextScan = 0;
  #nextExpiry = 0;
  #isStopped = false;

  constructor(database: Database, options: FollowOptions) {
    this.#database = database;
    this.#options = options;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Reads all runs at the next look. */
  scanNext(): void {
    this.#nextScan = 0;
  }

  /** Continues what can be continued. Resolves to the milliseconds after which to look again if nothing changes. */
  async check(): Promise<number> {
    const { approvals } = this.#database;
    const now = await approvals.now();
    if (now >= this.#nextExpiry) await approvals.expire(now);
    const isFirst = this.#closedUntil === undefined;
    const closed = await this.#readClosed(now);
    if (performance.now() >= this.#nextScan) await this.#scan(now, isFirst);
    for (const id of new Set([...(isFirst ? [] : closed), ...this.#claimed])) await this.#checkRun(id);
    this.#nextExpiry = (await approvals.findNextExpiry()) ?? Infinity;
    const delay = Math.min(this.#nextScan - performance.now(), this.#nextExpiry - now);
    return Math.min(Math.max(MIN_DELAY_MS, delay), MAX_DELAY_MS);
  }

  /** Returns the runs whose questions were closed since the last look. */
  async #readClosed(now: number): Promise<ReadonlySet<string>> {
    const last = this.#closedUntil ?? now;
    const since = last - OVERLAP_MS;
    const closed = await this.#database.approvals.listClosedAfter(since);
    const news = closed.filter(({ id }) => !this.#read.has(id));
    this.#closedUntil = Math.max(last, ...news.map(({ closedAt }) => closedAt ?? 0));
    for (const { id, closedAt } of news) this.#read.set(id, closedAt ?? 0);
    for (const [id, closedAt] of this.#read) if (closedAt < since) this.#read.delete(id);
    return new Set(news.map(({ runId }) => runId));
  }

  /** Reads all runs that have not ended. Continues those that no process holds, and that wait for no person. */
  async #scan(now: number, isFirst: boolean): Promise<void> {
    // Not all processes read the store at once.
    this.#nextScan = performance.now() + MAX_DELAY_MS * (0.75 + Math.random() / 4);
    const { approvals, runs } = this.#database;
    const rows = await runs.list({ ended: null });
    const asking = new Set((await approvals.list("pending")).map(({ runId }) => runId));
    const free = await this.#options.claims.findFree(rows);
    await this.#options.claims.forget(rows);
    for (const row of rows.filter(({ state, id }) => state === "running" || !asking.has(id)))
      if (free.has(row)) this.#start(row.id);
      else if (row.state === "waiting") this.#claimed.add(row.id);
    // While no process ran, one of several questions of a run may have been closed.
    if (!isFirst) return;
    const waiting = rows.filter(({ id }) => asking.has(id));
    const oldest = waiting.reduce((least, { updated }) => Math.min(least, updated), now);
    const closed = new Set((await approvals.listClosedAfter(oldest - MAX_SKEW_MS)).map(({ runId }) => runId));
    for (const { id } of waiting) if (closed.has(id)) await this.#checkRun(id);
  }

  /** Continues a run if it can be. */
  async #checkRun(id: string): Promise<void> {
    const row = await this.#database.runs.get(id);
    this.#claimed.delete(id);
    if (row === undefined || row.ended !== null || !(await hasNews(row, this.#database))) return;
    if ((await this.#options.claims.findFree([row])).has(row)) this.#start(id);
    else this.#claimed.add(id);
  }

  #start(id: string): void {
    if (this.#isStopped || this.#active.has(id)) return;
    this.#active.add(id);
    this.#options
      .resume(id)
      .catch((error: unknown) => {
        const isBusy = error instanceof SkillgateError && error.code === "RUN_BUSY";
        if (!isBusy) this.#options.warn(`Cannot continue run ${id}: ${getMessage(error)}`);
      })
      .finally(() => this.#active.delete(id))
      .catch(() => {}); // the failure was reported
  }
}

/** True if a question of the run was closed after the run was last executed, or none is open. */
async function hasNews({ id, updated }: RunRow, { approvals }: Database): Promise<boolean> {
  const questions = await approvals.listOfRun(id);
  if (questions.every(({ state }) => state !== "pending")) return true;
  return questions.some(({ state, closedAt }) => state !== "pending" && (closedAt ?? 0) >= updated - MAX_SKEW_MS);
}
