import type { SandboxLoad } from "../contract.ts";
import type { FromWorker, SharedEngine } from "../shared/protocol.ts";
import { reserveThread, takeReservedThread } from "./thread-reserve.ts";
import { type ThreadListener, WorkerHandle } from "./worker-handle.ts";

export interface WorkerThreadOptions {
  readonly workerFile: URL;
  /** Workers that compute at the same time. */
  readonly size: number;
  /** All workers, including those whose guests stand still for a call. */
  readonly maxWorkers: number;
  /** How long idle workers beyond `size` and one spare are kept. */
  readonly idleMs: number;
  /** How long a thread without work outlives the pool, for the next one of the process. */
  readonly keepMs: number;
}

export interface PoolListener {
  readonly message: (slot: WorkerHandle, message: FromWorker) => void;
  /** A thread has ended by itself. */
  readonly end: (slot: WorkerHandle) => void;
  /** A thread that can begin at once was added. */
  readonly free: () => void;
}

/** The worker threads of a pool: how many there are, and what they do. */
export class WorkerThreads {
  readonly #options: WorkerThreadOptions;
  readonly #listener: PoolListener;
  readonly #slots = new Set<WorkerHandle>();
  #engine: SharedEngine | undefined;
  #thinning: NodeJS.Timeout | undefined;
  /** Threads that are ending. */
  readonly #ending = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(options: WorkerThreadOptions, listener: PoolListener) {
    this.#options = options;
    this.#listener = listener;
  }

  [Symbol.iterator](): IterableIterator<WorkerHandle> {
    return this.#slots.values();
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Gives the threads their engine, and starts the first one if none was started. */
  open(engine: SharedEngine): void {
    this.#engine = engine;
    for (const slot of this.#slots) slot.post({ kind: "open", engine });
    if (this.#slots.size === 0) this.hire();
  }

  /**
   * Starts a thread, or takes one that a closed pool has left. This may happen before the engine is ready: the thread's own start
   * takes longer.
   */
  hire(): void {
    const listener: ThreadListener = {
      message: (message) => this.#listener.message(slot, message),
      end: () => this.#listener.end(slot),
    };
    const engine = this.#engine;
    const left = engine && takeReservedThread(engine, listener);
    const slot = left ?? new WorkerHandle(this.#options.workerFile, listener);
    this.#slots.add(slot);
    if (left !== undefined) this.#listener.free();
    else if (engine !== undefined) slot.post({ kind: "open", engine });
  }

  /**
   * Starts missing workers: one for each run that could compute now, and one spare. Programs that compute for long, since `longSince`,
   * do not count toward `size`, so that there is a spare beside them.
   */
  staff(queuedRuns: number, longSince: number, needsSpare: boolean): void {
    const { size, maxWorkers } = this.#options;
    const computing = Math.max(Math.min(size, this.count("busy") + queuedRuns), this.countSince(longSince));
    const target = Math.min(maxWorkers, computing + this.count("blocked") + (needsSpare ? 1 : 0));
    while (this.#slots.size < target && this.count("starting") < size) this.hire();
  }

  /** Ends surplus threads some time after a burst of runs: each holds its own memory. */
  thinOut(): void {
    if (this.#surplus <= 0 || this.#isClosed) return;
    this.#thinning ??= setTimeout(() => {
      this.#thinning = undefined;
      const since = performance.now() - this.#options.idleMs;
      const unused = [...this.#slots].filter((slot) => slot.isUnusedSince(since));
      for (const slot of unused.slice(0, Math.max(0, this.#surplus))) this.end(slot);
      this.thinOut();
    }, this.#options.idleMs).unref();
  }

  /** Number of threads beyond the blocked ones, those that may compute, and one spare. */
  get #surplus(): number {
    return this.#slots.size - this.count("blocked") - this.#options.size - 1;
  }

  count(state: WorkerHandle["state"]): number {
    let count = 0;
    for (const slot of this.#slots) if (slot.state === state) count++;
    return count;
  }

  /** The number of workers whose guests have computed since that moment. */
  countSince(moment: number): number {
    let count = 0;
    for (const { state, computesSince } of this.#slots) if (state === "busy" && computesSince <= moment) count++;
    return count;
  }

  countStates(): SandboxLoad["workers"] {
    const workers = { starting: 0, idle: 0, busy: 0, blocked: 0 };
    for (const { state } of this.#slots) if (state !== "dead") workers[state]++;
    return workers;
  }

  /** Idle workers, those without a waiting run first: they need not suspend one. */
  listIdle(): readonly WorkerHandle[] {
    const idle = [...this.#slots].filter((slot) => slot.state === "idle");
    return idle.length < 2
      ? idle
      : idle.sort((a, b) => Number(a.resident !== undefined) - Number(b.resident !== undefined));
  }

  listBusy(): readonly WorkerHandle[] {
    return [...this.#slots].filter(({ state }) => state === "busy");
  }

  end(slot: WorkerHandle): void {
    this.#slots.delete(slot);
    const ending: Promise<unknown> = slot.end().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#thinning);
    for (const slot of this.#slots) this.#leave(slot);
    await Promise.all(this.#ending);
  }

  /** Ends a thread, unless another pool of the process can use it. */
  #leave(slot: WorkerHandle): void {
    const { keepMs } = this.#options;
    if (keepMs <= 0 || this.#engine === undefined || !slot.isUnused || slot.hasMessage) return this.end(slot);
    this.#slots.delete(slot);
    slot.watched = false;
    reserveThread(slot, this.#engine, keepMs);
  }
}
