import type { SandboxLoad } from "../contract.ts";
import { WorkerSpinWait } from "./spin-wait.ts";
import type { FromWorker, SharedEngine } from "../shared/protocol.ts";
import type { Run } from "./run.ts";
import { RunQueue } from "./run-queue.ts";
import { reserveThread, takeReservedThread } from "./thread-reserve.ts";
import { GRACE_MS, type ThreadListener, WorkerHandle } from "./worker-handle.ts";

const WATCH_MS = 20;
/** With more runs, the event loop has other work than to stand still for one of them. */
const MAX_SPINNING_RUNS = 2;
/** Schedules a microtask by `then`, which creates fewer objects than `queueMicrotask`. */
const MICROTASK = Promise.resolve();

export interface PoolOptions {
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

/**
 * Worker threads, each with one isolate. A run that waits for calls stays in its isolate until another run needs the
 * worker; then its pages are suspended, and it continues in any free worker when its answers have arrived.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #slots = new Set<WorkerHandle>();
  readonly #queue = new RunQueue();
  #engine: SharedEngine | undefined;
  #scheduled = false;
  /** True once a spare is worth its start: two runs were under way at once, or one takes long. */
  #needsSpare = false;
  #watch: NodeJS.Timeout | undefined;
  #thinning: NodeJS.Timeout | undefined;
  /** Threads that are ending. */
  readonly #ending = new Set<Promise<unknown>>();
  #closed = false;
  readonly #spinWait = new WorkerSpinWait();
  /** True while a turn of the event loop is under way after which messages are read. */
  #readsNext = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Gives the threads their engine, and starts the first one if none was started. No run starts before. */
  open(engine: SharedEngine): void {
    this.#engine = engine;
    for (const slot of this.#slots) slot.post({ kind: "open", engine });
    if (this.#slots.size === 0) this.hire();
  }

  add(run: Run): void {
    this.#needsSpare ||= this.#count("busy") + this.#count("blocked") + this.#queue.length > 0;
    this.#queue.add(run);
    this.#schedule();
  }

  get load(): SandboxLoad {
    const workers = { starting: 0, idle: 0, busy: 0, blocked: 0 };
    for (const { state } of this.#slots) if (state !== "dead") workers[state]++;
    return { workers, queuedRuns: this.#queue.length };
  }

  /**
   * Wakes a thread for a run that is about to start, if none is awake: waking takes as long as parsing a program. While others
   * compute, the thread would find nothing to do.
   */
  wakeWorker(): void {
    if (this.#count("busy") > 0 || this.#queue.length > 0) return;
    const idle = this.#idleSlots();
    if (!idle.some((slot) => slot.isAwake)) idle[0]?.wakeThread();
  }

  /** Marks a run as ready to continue: answers have arrived. */
  ready(run: Run): void {
    this.#queue.addReady(run);
    this.#schedule();
  }

  /** Reconsiders which run needs a thread: one that blocks may be suspended from now on. */
  reconsider(): void {
    this.#schedule();
  }

  /** Asks a computing guest to stop: its slice reports its work until then. Returns false if the guest is not computing. */
  interrupt(run: Run): boolean {
    const slot = [...this.#slots].find(({ resident, state }) => resident === run && state === "busy");
    if (slot !== undefined) this.#interrupt(slot, run);
    return slot !== undefined;
  }

  /** Forgets a run that is over for the host, and stops its guest if it still computes. */
  drop(run: Run): void {
    this.#queue.deleteReady(run);
    for (const slot of this.#slots) {
      if (slot.resident !== run) continue;
      if (slot.state === "idle") slot.resident = undefined;
      else this.#interrupt(slot, run);
    }
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    clearTimeout(this.#thinning);
    for (const slot of this.#slots) this.#leave(slot);
    await Promise.all(this.#ending);
  }

  /**
   * Schedules one dispatch for all events of this tick. A tick requested in a microtask comes after all microtasks:
   * answers that are ready by then are delivered together, and no run is suspended whose answer is about to arrive.
   */
  #schedule(): void {
    if (this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    void MICROTASK.then(() => process.nextTick(this.#decide));
  }

  readonly #decide = (): void => {
    this.#scheduled = false;
    if (!this.#closed) this.#dispatch();
  };

  #dispatch(): void {
    for (const slot of this.#slots) {
      const run = slot.resident;
      if (slot.state === "idle" && run !== undefined && this.#queue.isReady(run)) this.#resume(slot, run);
    }
    this.#handOut(this.#count("busy") === 0 ? 1 : 0);
    this.#staff();
    this.#keepWatch();
    this.#thinOut();
    const { size } = this.#options;
    const working = [...this.#slots].filter(({ state }) => state === "busy");
    // A working thread may finish before another one is awake. If none does, there is enough work for all.
    if (working.length > 0 && this.#isCrowded()) this.#readNextTurn(working);
    else if (!this.#spinWait.spin(working, (slot, message) => this.#onMessage(slot, message))) this.#handOut(Infinity);
    if (this.#count("blocked") > size) this.#freeThreads();
  }

  #isCrowded(): boolean {
    return this.#count("busy") + this.#count("blocked") + this.#queue.length > MAX_SPINNING_RUNS;
  }

  /** Reads what threads have sent once the event loop has turned: the turns of a busy loop are short. */
  #readNextTurn(working: readonly WorkerHandle[]): void {
    if (this.#readsNext) return;
    this.#readsNext = true;
    for (const slot of working) slot.watched = true;
    setImmediate(() => {
      this.#readsNext = false;
      for (const slot of working) slot.watched = false;
      if (this.#closed) return; // another pool may have the threads by now
      let count = 0;
      for (const slot of working)
        for (const message of slot.read()) {
          count++;
          this.#onMessage(slot, message);
        }
      if (count === 0) this.#handOut(Infinity);
    });
  }

  /**
   * Suspends blocked runs that wait for a person, those first that have waited longest, if other runs need their threads and
   * no further thread may start.
   */
  #freeThreads(): void {
    const { size, maxWorkers } = this.#options;
    if (this.#slots.size < maxWorkers) return;
    const missing = Math.min(this.#queue.movableCount, size - (this.#slots.size - this.#count("blocked")));
    const runs = [...this.#slots]
      .filter(({ state, resident }) => state === "blocked" && resident?.mayMakeWay === true)
      .sort((a, b) => a.computesSince - b.computesSince)
      .flatMap(({ resident }) => resident ?? []);
    for (const run of runs.slice(0, Math.max(0, missing))) run.suspend();
  }

  /** Hands out work to idle threads that are awake, and to at most `sleepers` that sleep. */
  #handOut(sleepers: number): void {
    let wakeable = sleepers;
    for (const slot of this.#idleSlots()) {
      if (!slot.isAwake && wakeable-- <= 0) continue;
      const run = this.#queue.take((caller) => this.#mayCompute(caller));
      if (run === undefined) break;
      if (run.started) this.#resume(slot, run);
      else this.#start(slot, run);
    }
  }

  /** Idle workers, those without a waiting run first: they need not suspend one. */
  #idleSlots(): readonly WorkerHandle[] {
    const idle = [...this.#slots].filter((slot) => slot.state === "idle");
    return idle.length < 2
      ? idle
      : idle.sort((a, b) => Number(a.resident !== undefined) - Number(b.resident !== undefined));
  }

  /**
   * Returns false if as many threads compute as may, and one, unless the caller has none of them and has computed less than those
   * that do: its program may be short. The spare is for such programs.
   */
  #mayCompute(caller: string): boolean {
    const busy = [...this.#slots]
      .filter(({ state }) => state === "busy")
      .flatMap(({ resident }) => resident?.caller ?? []);
    return busy.length <= this.#options.size || (!busy.includes(caller) && this.#queue.isFirst(caller, busy));
  }

  #start(slot: WorkerHandle, run: Run): void {
    run.started = true;
    this.#occupy(slot, run);
    const { program, limits } = run;
    slot.work({
      kind: "start",
      run: run.id,
      expression: `async () => {"use strict";\n${program.code}\n}`,
      paths: JSON.stringify(program.paths),
      heapBytes: limits.memoryBytes,
      seed: program.seed,
      time: program.time,
      isRecorded: run.isRecorded,
      allowance: run.allowance.forSlice,
    });
  }

  #resume(slot: WorkerHandle, run: Run): void {
    this.#queue.deleteReady(run);
    const { answers, time } = run.takeAnswers();
    if (run.over) return; // the recorder of its deliveries has ended it
    const { parked } = run;
    run.parked = undefined;
    this.#occupy(slot, run);
    slot.work({ kind: "resume", run: run.id, parked, answers, time, allowance: run.allowance.forSlice });
  }

  #occupy(slot: WorkerHandle, run: Run): void {
    if (slot.resident !== undefined && slot.resident !== run) slot.parking.set(slot.resident.id, slot.resident);
    slot.resident = run;
  }

  #onMessage(slot: WorkerHandle, message: FromWorker): void {
    if (slot.state === "dead") return;
    switch (message.kind) {
      case "ready":
        slot.rest();
        break;
      case "parked":
        this.#parked(slot, message);
        break;
      case "slice": {
        const run = slot.resident;
        slot.rest();
        if (message.end !== undefined || run?.over === true) slot.resident = undefined;
        if (run !== undefined) this.#charge(slot, run, message.report.computeMs);
        run?.onSlice(message.report, message.end);
        break;
      }
      case "wait":
        void this.#answerWait(slot, message);
        break;
    }
    this.#schedule();
  }

  #parked(slot: WorkerHandle, message: Extract<FromWorker, { kind: "parked" }>): void {
    const run = slot.parking.get(message.run);
    slot.parking.delete(message.run);
    if (run === undefined || run.over) return;
    run.parked = message.parked;
  }

  async #answerWait(slot: WorkerHandle, message: Extract<FromWorker, { kind: "wait" }>): Promise<void> {
    const run = slot.resident;
    if (run === undefined || run.over) {
      slot.wake(); // it was interrupted before it began to wait: nothing else would wake it
      return;
    }
    slot.state = "blocked";
    const computeLeft = slot.killAt - performance.now();
    this.#charge(slot, run, message.report.computeMs);
    const wait = await run.onWait(message.report, message.inOrder);
    if (!run.hasAnswers) this.#queue.deleteReady(run);
    if (run.over || (slot.state as WorkerHandle["state"]) !== "blocked") return;
    // A repetition that ends in a wait has another limit before than after.
    const computeMs = run.isRecorded ? run.allowance.computeMs : undefined;
    slot.computes(computeMs === undefined ? computeLeft : computeMs + GRACE_MS);
    slot.post({ kind: "answers", run: run.id, computeMs, ...wait });
    slot.wake(this.#count("blocked") + this.#count("busy") > this.#options.size);
    this.#schedule();
  }

  /** Counts the time that a guest has computed in its slice, without that which was counted during it. */
  #charge(slot: WorkerHandle, run: Run, computeMs: number): void {
    this.#queue.charge(run, computeMs - slot.chargedMs);
    slot.chargedMs = computeMs;
  }

  #interrupt(slot: WorkerHandle, run: Run): void {
    slot.interrupt(run);
    this.#keepWatch();
  }

  /**
   * Starts missing workers: one for each run that could compute now, and one spare. Programs that compute for long do not
   * count toward `size`, so that there is a spare beside them.
   */
  #staff(): void {
    const { size, maxWorkers } = this.#options;
    const busy = this.#count("busy");
    const computing = Math.max(Math.min(size, busy + this.#queue.length), this.#countLong());
    const target = Math.min(maxWorkers, computing + this.#count("blocked") + (this.#needsSpare ? 1 : 0));
    while (this.#slots.size < target && this.#count("starting") < size) this.hire();
  }

  /** The number of workers whose guests have computed since the last look at the deadlines. */
  #countLong(): number {
    const since = performance.now() - WATCH_MS;
    let count = 0;
    for (const { state, computesSince } of this.#slots) if (state === "busy" && computesSince <= since) count++;
    return count;
  }

  /** Ends surplus threads some time after a burst of runs: each holds its own memory. */
  #thinOut(): void {
    if (this.#surplus() <= 0 || this.#closed) return;
    this.#thinning ??= setTimeout(() => {
      this.#thinning = undefined;
      const since = performance.now() - this.#options.idleMs;
      const unused = [...this.#slots].filter((slot) => slot.isUnusedSince(since));
      for (const slot of unused.slice(0, Math.max(0, this.#surplus()))) this.#end(slot);
      this.#thinOut();
    }, this.#options.idleMs).unref();
  }

  /** Number of threads beyond the blocked ones, those that may compute, and one spare. */
  #surplus(): number {
    return this.#slots.size - this.#count("blocked") - this.#options.size - 1;
  }

  #count(state: WorkerHandle["state"]): number {
    let count = 0;
    for (const slot of this.#slots) if (slot.state === state) count++;
    return count;
  }

  /**
   * Starts a thread, or takes one that a closed pool has left. This may happen before the engine is ready: the thread's own start
   * takes longer.
   */
  hire(): void {
    const listener: ThreadListener = {
      message: (message) => this.#onMessage(slot, message),
      end: () => this.#fire(slot),
    };
    const engine = this.#engine;
    const left = engine && takeReservedThread(engine, listener);
    const slot = left ?? new WorkerHandle(this.#options.workerFile, listener);
    this.#slots.add(slot);
    if (left !== undefined) this.#schedule();
    else if (engine !== undefined) slot.post({ kind: "open", engine });
  }

  /** Ends a thread of the closed pool, unless another pool of the process can use it. */
  #leave(slot: WorkerHandle): void {
    const { keepMs } = this.#options;
    if (keepMs <= 0 || this.#engine === undefined || !slot.isUnused || slot.hasMessage) return this.#end(slot);
    this.#slots.delete(slot);
    slot.watched = false;
    reserveThread(slot, this.#engine, keepMs);
  }

  /** Removes a worker that has ended or must end, and stops the runs in it. Suspended runs are not affected. */
  #fire(slot: WorkerHandle): void {
    if (slot.state === "dead") return;
    this.#end(slot);
    const lost = [...slot.parking.values()];
    if (slot.resident !== undefined) lost.push(slot.resident);
    for (const run of lost) run.stop("ENGINE_TRAP");
    this.#schedule();
  }

  #end(slot: WorkerHandle): void {
    this.#slots.delete(slot);
    const ending: Promise<unknown> = slot.end().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  /** Keeps one interval running while any worker is busy: a timer for each slice would cost as much as some slices. */
  #keepWatch(): void {
    if (this.#count("busy") > 0) this.#watch ??= setInterval(() => this.#checkDeadlines(), WATCH_MS).unref();
  }

  /** Ends the threads of guests that ignore interrupts: native loops never poll the clock. */
  #checkDeadlines(): void {
    if (this.#count("busy") === 0) {
      clearInterval(this.#watch);
      this.#watch = undefined;
      return;
    }
    for (const slot of this.#slots) {
      if (slot.state === "busy" && slot.resident !== undefined)
        this.#charge(slot, slot.resident, performance.now() - slot.computesSince);
      if (!slot.isOverdue) continue;
      // Its message may already have arrived: let it be read first.
      setImmediate(() => {
        if (!slot.isOverdue) return;
        const computeMs = performance.now() - slot.computesSince;
        slot.resident?.onSlice(
          { calls: [], prints: [], timers: [], waits: [], misreads: [], computeMs, heapBytes: 0 },
          { kind: "stop", stop: "time" },
        );
        slot.resident = undefined;
        this.#fire(slot);
      });
    }
    this.#needsSpare ||= this.#countLong() > 0;
    this.#schedule();
  }
}
