import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";

import { CONTROL, type FromWorker, type SharedEngine, type ToWorker, type WorkerStart } from "./protocol.ts";
import type { Run } from "./run.ts";

/** Time beyond its deadline that a guest gets to be stopped by an interrupt, before its thread is ended. */
const GRACE_MS = 120;
const WATCH_MS = 20;
/** The longest that the host's event loop stands still for a slice of work. */
const LINGER_MS = 0.2;
/** After a wait in vain, so many slices of work are not waited for. */
const HASTE = 8;

export interface PoolOptions {
  readonly workerFile: URL;
  /** Workers that compute at the same time. */
  readonly size: number;
  /** Workers in all, those included whose guests stand still for a call. */
  readonly most: number;
}

interface Slot {
  readonly worker: Worker;
  readonly port: MessagePort;
  readonly words: Int32Array;
  /** Messages from the worker that were read. */
  heard: number;
  state: "starting" | "idle" | "busy" | "blocked" | "dead";
  /** The run that lies in the worker's isolate, computing or waiting. */
  resident: Run | undefined;
  /** Runs whose pages the worker is about to hand over. */
  readonly parking: Map<number, Run>;
  /** When the guest must have given back control, in `performance.now()`. */
  killAt: number;
  /** Since when the guest computes, as far as the host has not been told yet. */
  computesSince: number;
}

/**
 * Worker threads, each with one isolate. A run that waits for calls stays in its isolate until somebody else needs the
 * place; then its pages are put aside, and it goes on in whichever worker is free when its answers are in.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #slots = new Set<Slot>();
  readonly #fresh: Run[] = [];
  readonly #ready = new Set<Run>();
  #engine: SharedEngine | undefined;
  #scheduled = false;
  /** True once a spare is worth its start: a second run has come, or one takes long. */
  #warm = false;
  #added = 0;
  #watch: NodeJS.Timeout | undefined;
  #closed = false;
  /** So many slices of work are not waited for. */
  #hasty = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Gives the threads their engine. Nothing runs before. */
  open(engine: SharedEngine): void {
    this.#engine = engine;
    for (const slot of this.#slots) this.#post(slot, { kind: "open", engine });
  }

  add(run: Run): void {
    this.#warm ||= this.#added++ > 0;
    this.#fresh.push(run);
    this.#schedule();
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
    const slots = [...this.#slots];
    this.#slots.clear();
    // What a worker has still said is not heard: it would no longer count, and the process could end before it has.
    for (const slot of slots) slot.state = "dead";
    await Promise.all(slots.map((slot) => slot.worker.terminate()));
  }

  /**
   * Decides once for everything that happens now. A tick that is asked for in a microtask comes when all microtasks are
   * done: answers that were ready by then are delivered together, and no run is put aside whose answer is about to come.
   */
  #schedule(): void {
    if (this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    queueMicrotask(() =>
      process.nextTick(() => {
        this.#scheduled = false;
        if (!this.#closed) this.#dispatch();
      }),
    );
  }

  #dispatch(): void {
    for (const slot of this.#slots) {
      const run = slot.resident;
      if (slot.state === "idle" && run !== undefined && !run.leaving && this.#ready.has(run)) this.#resume(slot, run);
    }
    for (const slot of this.#idleSlots()) {
      const run = this.#nextReady() ?? this.#nextFresh();
      if (run === undefined) break;
      if (run.started) this.#resume(slot, run);
      else this.#start(slot, run);
    }
    this.#staff();
    this.#keepWatch();
    this.#linger();
  }

  /**
   * Going to sleep and being woken takes longer than most slices of work. So we look out for what the workers say, for a
   * moment in which the event loop stands still; where that was in vain, not again for a while.
   */
  #linger(): void {
    const working = [...this.#slots].filter(({ state }) => state === "busy");
    if (working.length === 0 || this.#hasty-- > 0) return;
    const until = performance.now() + LINGER_MS;
    while (!working.some(hasSpoken)) {
      if (performance.now() < until) continue;
      this.#hasty = HASTE;
      return;
    }
    for (const slot of working) {
      const received = hasSpoken(slot) ? receiveMessageOnPort(slot.port) : undefined;
      if (received !== undefined) this.#hear(slot, received.message as FromWorker);
    }
  }

  /** Those without a waiting run first: nothing has to be put aside for them. */
  #idleSlots(): readonly Slot[] {
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

  #start(slot: Slot, run: Run): void {
    run.started = true;
    this.#occupy(slot, run);
    const { program, limits } = run;
    this.#send(slot, {
      kind: "start",
      run: run.id,
      expression: `(async () => {"use strict";\n${program.code}\n})`,
      paths: JSON.stringify(program.paths),
      heapBytes: limits.memoryBytes,
      seed: program.seed,
      allowance: run.allowance(),
    });
  }

  #resume(slot: Slot, run: Run): void {
    this.#ready.delete(run);
    const { parked } = run;
    run.parked = undefined;
    this.#occupy(slot, run);
    this.#send(slot, { kind: "resume", run: run.id, parked, answers: run.takeAnswers(), allowance: run.allowance() });
  }

  #evict(slot: Slot, run: Run): void {
    slot.parking.set(run.id, run);
    slot.resident = undefined;
    this.#post(slot, { kind: "park", run: run.id });
  }

  #occupy(slot: Slot, run: Run): void {
    if (slot.resident !== undefined && slot.resident !== run) slot.parking.set(slot.resident.id, slot.resident);
    slot.resident = run;
  }

  #send(slot: Slot, message: Extract<ToWorker, { kind: "start" | "resume" }>): void {
    slot.state = "busy";
    slot.computesSince = performance.now();
    slot.killAt = slot.computesSince + message.allowance.computeMs + GRACE_MS;
    slot.worker.ref();
    this.#post(slot, message);
  }

  #post(slot: Slot, message: ToWorker): void {
    slot.port.postMessage(message);
    Atomics.add(slot.words, CONTROL.posted, 1);
    Atomics.notify(slot.words, CONTROL.posted);
  }

  #hear(slot: Slot, message: FromWorker): void {
    slot.heard = (slot.heard + 1) | 0;
    if (slot.state === "dead") return;
    switch (message.kind) {
      case "ready":
        slot.state = "idle";
        slot.worker.unref();
        break;
      case "parked":
        this.#parked(slot, message);
        break;
      case "slice": {
        const run = slot.resident;
        slot.state = "idle";
        slot.worker.unref();
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

  #parked(slot: Slot, message: Extract<FromWorker, { kind: "parked" }>): void {
    const run = slot.parking.get(message.run);
    slot.parking.delete(message.run);
    if (run === undefined || run.over) return;
    run.parked = message.parked;
    if (run.leaving) run.leave();
  }

  async #answerWait(slot: Slot, message: Extract<FromWorker, { kind: "wait" }>): Promise<void> {
    const run = slot.resident;
    if (run === undefined || run.over) return;
    slot.state = "blocked";
    const computeLeft = slot.killAt - performance.now();
    const answer = await run.onWait(message.deeds, message.call);
    if (run.over || (slot.state as Slot["state"]) !== "blocked") return;
    slot.state = "busy";
    slot.computesSince = performance.now();
    slot.killAt = slot.computesSince + computeLeft;
    this.#post(slot, { kind: "answer", run: run.id, answer });
    this.#wake(slot);
  }

  #interrupt(slot: Slot, run: Run): void {
    Atomics.store(slot.words, CONTROL.interrupted, run.id);
    slot.state = "busy";
    slot.killAt = Math.min(slot.killAt, performance.now() + GRACE_MS);
    this.#wake(slot);
    this.#keepWatch();
  }

  #wake(slot: Slot): void {
    Atomics.add(slot.words, CONTROL.answered, 1);
    Atomics.notify(slot.words, CONTROL.answered);
  }

  /** Starts what is missing: a worker for each run that could compute now, and one spare. */
  #staff(): void {
    const { size, most } = this.#options;
    const count = (state: Slot["state"]): number => [...this.#slots].filter((slot) => slot.state === state).length;
    const wanted = Math.min(size, count("busy") + this.#fresh.length + this.#ready.size) + count("blocked");
    const target = Math.min(most, wanted + (this.#warm ? 1 : 0));
    while (this.#slots.size < target && count("starting") < size) this.hire();
  }

  /** Starts a thread. It may be asked for before there is an engine: it has enough to do until then. */
  hire(): void {
    const control = new SharedArrayBuffer(4 * Object.keys(CONTROL).length);
    const { port1: port, port2 } = new MessageChannel();
    const worker = new Worker(this.#options.workerFile, {
      workerData: { control, port: port2 } satisfies WorkerStart,
      transferList: [port2],
      name: "skillgate-sandbox",
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { stackSizeMb: 64, maxOldGenerationSizeMb: 512 },
    });
    const slot: Slot = {
      worker,
      port,
      words: new Int32Array(control),
      heard: 0,
      state: "starting",
      resident: undefined,
      parking: new Map(),
      killAt: Infinity,
      computesSince: 0,
    };
    this.#slots.add(slot);
    port.on("message", (message: FromWorker) => this.#hear(slot, message)).unref();
    worker.on("error", () => this.#fire(slot));
    worker.on("exit", () => this.#fire(slot));
    if (this.#engine !== undefined) this.#post(slot, { kind: "open", engine: this.#engine });
  }

  /** The worker is gone, or has to go. Its run ends; those whose pages were put aside are not touched by it. */
  #fire(slot: Slot): void {
    if (slot.state === "dead") return;
    slot.state = "dead";
    this.#slots.delete(slot);
    const lost = [...slot.parking.values()];
    if (slot.resident !== undefined) lost.push(slot.resident);
    for (const run of lost) run.stop("ENGINE_TRAP");
    void slot.worker.terminate();
    this.#schedule();
  }

  #keepWatch(): void {
    const working = [...this.#slots].some((slot) => slot.state === "busy");
    if (working) this.#watch ??= setInterval(() => this.#look(), WATCH_MS).unref();
    else {
      clearInterval(this.#watch);
      this.#watch = undefined;
    }
  }

  /** Ends the threads of guests that are deaf to interrupts: native loops never look at the clock. */
  #look(): void {
    for (const slot of this.#slots) {
      if (slot.state !== "busy" || performance.now() < slot.killAt) continue;
      // Its message may be waiting for us: let it be read first.
      setImmediate(() => {
        if (slot.state !== "busy" || performance.now() < slot.killAt) return;
        const computeMs = performance.now() - slot.computesSince;
        slot.resident?.onSlice(
          { calls: [], prints: [], timers: [], computeMs, heapBytes: 0 },
          { kind: "stop", stop: "time" },
        );
        slot.resident = undefined;
        this.#fire(slot);
      });
    }
    this.#keepWatch();
    this.#warm = true;
    this.#staff();
  }
}

function hasSpoken({ words, heard }: Slot): boolean {
  return Atomics.load(words, CONTROL.said) !== heard;
}
