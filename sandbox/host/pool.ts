import type { SandboxLoad } from "../contract.ts";
import { WorkerSpinWait } from "./spin-wait.ts";
import type { FromWorker, SharedEngine } from "../shared/protocol.ts";
import type { Run } from "./run.ts";
import { RunQueue } from "./run-queue.ts";
import { type WorkerThreadOptions, WorkerThreads } from "./threads.ts";
import { GRACE_MS, type WorkerHandle } from "./worker-handle.ts";

const WATCH_MS = 20;
/** With more runs, the event loop has other work than to stand still for one of them. */
const MAX_SPINNING_RUNS = 2;
/** Schedules a microtask by `then`, which creates fewer objects than `queueMicrotask`. */
const MICROTASK = Promise.resolve();

/**
 * Worker threads, each with one isolate. A run that waits for calls stays in its isolate until another run needs the
 * worker; then its pages are suspended, and it continues in any free worker when its answers have arrived.
 */
export class Pool {
  readonly #options: WorkerThreadOptions;
  readonly #threads: WorkerThreads;
  readonly #queue = new RunQueue();
  #scheduled = false;
  /** True once a spare is worth its start: two runs were under way at once, or one takes long. */
  #needsSpare = false;
  #watch: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #spinWait = new WorkerSpinWait();
  /** True while a turn of the event loop is under way after which messages are read. */
  #readsNext = false;

  constructor(options: WorkerThreadOptions) {
    this.#options = options;
    this.#threads = new WorkerThreads(options, {
      message: (slot, message) => this.#onMessage(slot, message),
      end: (slot) => this.#fire(slot),
      free: () => this.#schedule(),
    });
  }

  /** Gives the threads their engine, and starts the first one if none was started. No run starts before. */
  open(engine: SharedEngine): void {
    this.#threads.open(engine);
  }

  /** Starts a thread, which may happen before the engine is ready. */
  hire(): void {
    this.#threads.hire();
  }

  add(run: Run): void {
    this.#needsSpare ||= this.#threads.count("busy") + this.#threads.count("blocked") + this.#queue.length > 0;
    this.#queue.add(run);
    this.#schedule();
  }

  get load(): SandboxLoad {
    return { workers: this.#threads.countStates(), queuedRuns: this.#queue.length };
  }

  /**
   * Wakes a thread for a run that is about to start, if none is awake: waking takes as long as parsing a program. While others
   * compute, the thread would find nothing to do.
   */
  wakeWorker(): void {
    if (this.#threads.count("busy") > 0 || this.#queue.length > 0) return;
    const idle = this.#threads.listIdle();
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
    const slot = [...this.#threads].find(({ resident, state }) => resident === run && state === "busy");
    if (slot !== undefined) this.#interrupt(slot, run);
    return slot !== undefined;
  }

  /** Forgets a run that is over for the host, and stops its guest if it still computes. */
  drop(run: Run): void {
    this.#queue.deleteReady(run);
    for (const slot of this.#threads) {
      if (slot.resident !== run) continue;
      if (slot.state === "idle") slot.resident = undefined;
      else this.#interrupt(slot, run);
    }
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    await this.#threads.close();
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
    for (const slot of this.#threads) {
      const run = slot.resident;
      if (slot.state === "idle" && run !== undefined && this.#queue.isReady(run)) this.#resume(slot, run);
    }
    this.#handOut(this.#threads.count("busy") === 0 ? 1 : 0);
    this.#threads.staff(this.#queue.length, performance.now() - WATCH_MS, this.#needsSpare);
    this.#keepWatch();
    this.#threads.thinOut();
    const { size } = this.#options;
    const working = this.#threads.listBusy();
    // A working thread may finish before another one is awake. If none does, there is enough work for all.
    if (working.length > 0 && this.#isCrowded()) this.#readNextTurn(working);
    else if (!this.#spinWait.spin(working, (slot, message) => this.#onMessage(slot, message))) this.#handOut(Infinity);
    if (this.#threads.count("blocked") > size) this.#freeThreads();
  }

  #isCrowded(): boolean {
    return this.#threads.count("busy") + this.#threads.count("blocked") + this.#queue.length > MAX_SPINNING_RUNS;
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
    if (this.#threads.size < maxWorkers) return;
    const missing = Math.min(this.#queue.movableCount, size - (this.#threads.size - this.#threads.count("blocked")));
    const runs = [...this.#threads]
      .filter(({ state, resident }) => state === "blocked" && resident?.mayMakeWay === true)
      .sort((a, b) => a.computesSince - b.computesSince)
      .flatMap(({ resident }) => resident ?? []);
    for (const run of runs.slice(0, Math.max(0, missing))) run.suspend();
  }

  /** Hands out work to idle threads that are awake, and to at most `sleepers` that sleep. */
  #handOut(sleepers: number): void {
    let wakeable = sleepers;
    for (const slot of this.#threads.listIdle()) {
      if (!slot.isAwake && wakeable-- <= 0) continue;
      const run = this.#queue.take((caller) => this.#mayCompute(caller));
      if (run === undefined) break;
      if (run.started) this.#resume(slot, run);
      else this.#start(slot, run);
    }
  }

  /**
   * Returns false if as many threads compute as may, and one, unless the caller has none of them and has computed less than those
   * that do: its program may be short. The spare is for such programs.
   */
  #mayCompute(caller: string): boolean {
    const busy = this.#threads.listBusy().flatMap(({ resident }) => resident?.caller ?? []);
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
    slot.wake(this.#threads.count("blocked") + this.#threads.count("busy") > this.#options.size);
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

  /** Removes a worker that has ended or must end, and stops the runs in it. Suspended runs are not affected. */
  #fire(slot: WorkerHandle): void {
    if (slot.state === "dead") return;
    this.#threads.end(slot);
    const lost = [...slot.parking.values()];
    if (slot.resident !== undefined) lost.push(slot.resident);
    for (const run of lost) run.stop("ENGINE_TRAP");
    this.#schedule();
  }

  /** Keeps one interval running while any worker is busy: a timer for each slice would cost as much as some slices. */
  #keepWatch(): void {
    if (this.#threads.count("busy") > 0) this.#watch ??= setInterval(() => this.#checkDeadlines(), WATCH_MS).unref();
  }

  /** Ends the threads of guests that ignore interrupts: native loops never poll the clock. */
  #checkDeadlines(): void {
    if (this.#threads.count("busy") === 0) {
      clearInterval(this.#watch);
      this.#watch = undefined;
      return;
    }
    for (const slot of this.#threads) {
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
    this.#needsSpare ||= this.#threads.countSince(performance.now() - WATCH_MS) > 0;
    this.#schedule();
  }
}
