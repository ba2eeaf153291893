import { WorkerSpinWait } from "./spin-wait.ts";
import type { FromWorker, SharedEngine } from "../shared/protocol.ts";
import type { Run } from "./run.ts";
import { WorkerHandle } from "./worker-handle.ts";

const WATCH_MS = 20;
/** What is chained to it comes in a microtask; `queueMicrotask` makes more of it. */
const MICROTASK = Promise.resolve();

export interface PoolOptions {
  readonly workerFile: URL;
  /** Workers that compute at the same time. */
  readonly size: number;
  /** Workers in all, those included whose guests stand still for a call. */
  readonly most: number;
  /** How long workers beyond those that compute, and a spare, are kept without work. */
  readonly idleMs: number;
}

/**
 * Worker threads, each with one isolate. A run that waits for calls stays in its isolate until somebody else needs the
 * place; then its pages are put aside, and it goes on in whichever worker is free when its answers are in.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #slots = new Set<WorkerHandle>();
  readonly #fresh: Run[] = [];
  readonly #ready = new Set<Run>();
  #engine: SharedEngine | undefined;
  #scheduled = false;
  /** True once a spare is worth its start: a second run has come, or one takes long. */
  #warm = false;
  #added = 0;
  #watch: NodeJS.Timeout | undefined;
  #thinning: NodeJS.Timeout | undefined;
  /** Threads that are on their way out. */
  readonly #ending = new Set<Promise<unknown>>();
  #closed = false;
  readonly #lookout = new WorkerSpinWait();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Gives the threads their engine. Nothing runs before. */
  open(engine: SharedEngine): void {
    this.#engine = engine;
    for (const slot of this.#slots) slot.post({ kind: "open", engine });
  }

  add(run: Run): void {
    this.#warm ||= this.#added++ > 0;
    this.#fresh.push(run);
    this.#schedule();
  }

  /** A run is about to come: waking a thread takes as long as reading a snippet. */
  rouse(): void {
    const idle = this.#idleSlots();
    if (!idle.some((slot) => slot.isAwake)) idle[0]?.rouse();
  }

  /** Answers are in: the run can go on. */
  ready(run: Run): void {
    this.#ready.add(run);
    this.#schedule();
  }

  /** Puts a run aside for good as soon as it waits; it says itself when that is done. */
  release(run: Run): void {
    run.leaving = true;
    if (run.parked !== undefined) run.leave();
    for (const slot of this.#slots) if (slot.resident === run && slot.state === "idle") this.#evict(slot, run);
  }

  /** Asks a guest that computes to stop: its slice will say what it has done until then. False if it does not compute. */
  interrupt(run: Run): boolean {
    const slot = [...this.#slots].find(({ resident, state }) => resident === run && state === "busy");
    if (slot !== undefined) this.#interrupt(slot, run);
    return slot !== undefined;
  }

  /** The run is over for the host; a guest that still computes for it must stop. */
  drop(run: Run): void {
    this.#ready.delete(run);
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
    for (const slot of this.#slots) this.#end(slot);
    await Promise.all(this.#ending);
  }

  /**
   * Decides once for everything that happens now. A tick that is asked for in a microtask comes when all microtasks are
   * done: answers that were ready by then are delivered together, and no run is put aside whose answer is about to come.
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
      if (slot.state === "idle" && run !== undefined && !run.leaving && this.#ready.has(run)) this.#resume(slot, run);
    }
    this.#handOut(this.#count("busy") === 0 ? 1 : 0);
    this.#staff();
    this.#keepWatch();
    this.#thinOut();
    const working = [...this.#slots].filter(({ state }) => state === "busy");
    // Who works may be done before another is awake. If not, there is enough to do for all.
    if (!this.#lookout.spin(working, (slot, message) => this.#hear(slot, message))) this.#handOut(Infinity);
  }

  /** Hands out work to those that are awake, and to so many of those that sleep. */
  #handOut(sleepers: number): void {
    let left = sleepers;
    for (const slot of this.#idleSlots()) {
      if (!slot.isAwake && left-- <= 0) continue;
      const run = this.#nextReady() ?? this.#nextFresh();
      if (run === undefined) break;
      if (run.started) this.#resume(slot, run);
      else this.#start(slot, run);
    }
  }

  /** Those without a waiting run first: nothing has to be put aside for them. */
  #idleSlots(): readonly WorkerHandle[] {
    const idle = [...this.#slots].filter((slot) => slot.state === "idle");
    return idle.length < 2
      ? idle
      : idle.sort((a, b) => Number(a.resident !== undefined) - Number(b.resident !== undefined));
  }

  #nextReady(): Run | undefined {
    for (const run of this.#ready) if (run.parked !== undefined && !run.leaving) return run;
    return undefined;
  }

  #nextFresh(): Run | undefined {
    for (let run = this.#fresh.shift(); run !== undefined; run = this.#fresh.shift()) if (!run.over) return run;
    return undefined;
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
      allowance: run.allowance(),
    });
  }

  #resume(slot: WorkerHandle, run: Run): void {
    this.#ready.delete(run);
    const { parked } = run;
    run.parked = undefined;
    this.#occupy(slot, run);
    slot.work({ kind: "resume", run: run.id, parked, answers: run.takeAnswers(), allowance: run.allowance() });
  }

  #evict(slot: WorkerHandle, run: Run): void {
    slot.parking.set(run.id, run);
    slot.resident = undefined;
    slot.post({ kind: "park", run: run.id });
  }

  #occupy(slot: WorkerHandle, run: Run): void {
    if (slot.resident !== undefined && slot.resident !== run) slot.parking.set(slot.resident.id, slot.resident);
    slot.resident = run;
  }

  #hear(slot: WorkerHandle, message: FromWorker): void {
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
        run?.onSlice(message.deeds, message.end);
        if (run?.leaving === true && !run.over) this.#evict(slot, run);
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
    if (run.leaving) run.leave();
  }

  async #answerWait(slot: WorkerHandle, message: Extract<FromWorker, { kind: "wait" }>): Promise<void> {
    const run = slot.resident;
    if (run === undefined || run.over) {
      slot.wake(); // it was interrupted before it stood still: nothing else would wake it
      return;
    }
    slot.state = "blocked";
    const computeLeft = slot.killAt - performance.now();
    const answers = await run.onWait(message.deeds, message.inOrder);
    if (run.over || (slot.state as WorkerHandle["state"]) !== "blocked") return;
    slot.computes(computeLeft);
    slot.post({ kind: "answers", run: run.id, ...answers });
    slot.wake(this.#count("blocked") + this.#count("busy") > this.#options.size);
    this.#schedule();
  }

  #interrupt(slot: WorkerHandle, run: Run): void {
    slot.interrupt(run);
    this.#keepWatch();
  }

  /** Starts what is missing: a worker for each run that could compute now, and one spare. */
  #staff(): void {
    const { size, most } = this.#options;
    const computing = Math.min(size, this.#count("busy") + this.#fresh.length + this.#ready.size);
    const target = Math.min(most, computing + this.#count("blocked") + (this.#warm ? 1 : 0));
    while (this.#slots.size < target && this.#count("starting") < size) this.hire();
  }

  /** Some time after a rush, ends the threads that it has left without work: each holds a memory of its own. */
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

  /** Threads beyond those whose guests stand still, those that may compute, and a spare. */
  #surplus(): number {
    return this.#slots.size - this.#count("blocked") - this.#options.size - 1;
  }

  #count(state: WorkerHandle["state"]): number {
    let count = 0;
    for (const slot of this.#slots) if (slot.state === state) count++;
    return count;
  }

  /** Starts a thread. It may be asked for before there is an engine: it has enough to do until then. */
  hire(): void {
    const slot: WorkerHandle = new WorkerHandle(this.#options.workerFile, {
      message: (message) => this.#hear(slot, message),
      end: () => this.#fire(slot),
    });
    this.#slots.add(slot);
    if (this.#engine !== undefined) slot.post({ kind: "open", engine: this.#engine });
  }

  /** The worker is gone, or has to go. Its run ends; those whose pages were put aside are not touched by it. */
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

  /** From the first slice of work until a look finds nobody at work: starting a clock for each would take as long as some. */
  #keepWatch(): void {
    if (this.#count("busy") > 0) this.#watch ??= setInterval(() => this.#look(), WATCH_MS).unref();
  }

  /** Ends the threads of guests that are deaf to interrupts: native loops never look at the clock. */
  #look(): void {
    if (this.#count("busy") === 0) {
      clearInterval(this.#watch);
      this.#watch = undefined;
      return;
    }
    for (const slot of this.#slots) {
      if (!slot.isOverdue) continue;
      // Its message may be waiting for us: let it be read first.
      setImmediate(() => {
        if (!slot.isOverdue) return;
        const computeMs = performance.now() - slot.computesSince;
        slot.resident?.onSlice(
          { calls: [], prints: [], timers: [], waits: [], computeMs, heapBytes: 0 },
          { kind: "stop", stop: "time" },
        );
        slot.resident = undefined;
        this.#fire(slot);
      });
    }
    const since = performance.now() - WATCH_MS;
    this.#warm ||= [...this.#slots].some((slot) => slot.state === "busy" && slot.computesSince <= since);
    this.#staff();
  }
}
