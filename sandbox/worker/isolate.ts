import { ValueTooDeep } from "../codec/format.ts";
import { CallSites } from "../engine/call-site.ts";
import { DeviceSnapshots } from "../engine/device-snapshots.ts";
import { type Engine, type EngineHost, openEngine, PROMISE } from "../engine/quickjs.ts";
import { NESTED, OP } from "../guest/host-protocol.ts";
import { MAX_REQUEST_BYTES } from "../guest/web/locale-options.ts";
import { GuestClock } from "./guest-clock.ts";
import { GuestValues, OutOfMemory } from "./guest-values.ts";
import { LocaleFormats } from "./locale-formats.ts";
import {
  type HeapRange,
  getHeapEnd,
  type Snapshot,
  limitHeap,
  suspend,
  type SuspendedRun,
  restoreSnapshot,
  STACK_GAP,
  takeSnapshot,
  resume,
} from "../engine/snapshot.ts";
import { growMemory, openMemory } from "../engine/memory.ts";
import type { GuestValue } from "../codec/guest-value.ts";
import type { PreparedSnapshot } from "../engine/prepared-snapshot.ts";
import type { EngineStop } from "../shared/protocol.ts";
import type { GuestListener, GuestProgram } from "./guest-contract.ts";

/** Jobs between two reads of the clock: the engine swallows interrupts inside promise jobs. */
const JOBS_AT_ONCE = 64;
/** Source that may create an object with a `toJSON` of its own, which must be called. */
const WRITES_ITSELF = /toJSON|URL/;

/** A call with enough arguments for a gap of more than `STACK_GAP.small` has at least this many characters. */
const LONG_SOURCE = 8 << 10;

/** Offsets in the unused low part of the C stack, from its lowest address: a result, an argument, a file's name, texts. */
const PLACE = { result: 0, argument: 16, fileName: 64, texts: 256 } as const;

/** All fields that are read of an engine's object lie within this many bytes. */
const MAX_OBJECT_BYTES = 64;

/** Maximum length of a name that the guest sends. */
const NAME_BYTES = 512;

interface Beginning {
  readonly snapshot: Snapshot;
  readonly heapBytes: number;
}

/** One QuickJS in one capped `WebAssembly.Memory`. The only file that drives the engine. */
export class Isolate {
  readonly #memory: WebAssembly.Memory;
  readonly #engine: Engine;
  readonly #stackTop: number;
  readonly #prepared: PreparedSnapshot;
  readonly #listener: GuestListener;
  readonly #values: GuestValues;
  readonly #devices = new DeviceSnapshots();
  readonly #formats = new LocaleFormats();
  readonly #sites: CallSites;
  readonly #clock: GuestClock;
  #range: HeapRange = { extra: 0, end: 0 };
  /** Snapshot and heap size that the last run began with. */
  #last: Beginning;
  /** Snapshot and heap size that the memory is prepared for, if no code has run there since. */
  #ready: Beginning | undefined;
  /** Longest gap that the last run may have left between the parts of the C stack that it used. */
  #stackGap: number = STACK_GAP.small;
  #deadline = 0;
  #stop: EngineStop | undefined;
  #thrown: unknown;
  /** `heapBytes` is the largest heap that a run of this isolate may ask for. */
  constructor(module: WebAssembly.Module, prepared: PreparedSnapshot, heapBytes: number, listener: GuestListener) {
    this.#memory = openMemory(prepared.snapshot.heapStart + heapBytes);
    this.#engine = openEngine(module, this.#memory, this.#host());
    this.#stackTop = this.#engine.stackSave();
    this.#prepared = prepared;
    this.#values = new GuestValues(this.#memory, this.#engine, prepared.handles, this.#address("texts"));
    this.#clock = new GuestClock(this.#values, prepared.handles.clock);
    this.#sites = new CallSites(prepared.handles.runtime);
    this.#last = { snapshot: prepared.snapshot, heapBytes };
    this.#listener = listener;
  }

  /** Starts a program in a reset isolate, which shows no trace of earlier runs. */
  start(program: GuestProgram, deadline: number): EngineStop | undefined {
    const { expression, paths, heapBytes, seed, time = NaN, isRecorded = false } = program;
    const device = `[${WRITES_ITSELF.test(expression) ? 0 : 1},${paths}]`;
    const snapshot = this.#isWithin(heapBytes) ? this.#devices.get(device) : undefined;
    this.reset(heapBytes, seed, snapshot);
    this.#clock.start(time, isRecorded);
    if (expression.length > LONG_SOURCE) this.#stackGap = STACK_GAP.large;
    return this.#guarded(deadline, () => {
      if (snapshot === undefined) this.#makeDevice(device);
      const program = this.#evaluate(expression, "program.js");
      if (this.#hasThrown(program)) return;
      const promise = this.#call(program);
      if (!this.#hasThrown(promise)) this.#hasThrown(this.#call(this.#prepared.handles.follow, promise));
    });
  }

  /** Restores the snapshot, then sets the seed of `Math.random`. */
  reset(heapBytes: number, seed: Uint8Array, snapshot = this.#prepared.snapshot): void {
    if (this.#ready?.snapshot !== snapshot || this.#ready.heapBytes !== heapBytes) this.#begin({ snapshot, heapBytes });
    this.#ready = undefined;
    this.#values.bytes.set(seed, this.#prepared.handles.seed);
  }

  /** Restores the memory after a run, for another one with the same snapshot and heap size. */
  refresh(): void {
    this.#begin(this.#last);
    this.#ready = this.#last;
  }

  #begin(beginning: Beginning): void {
    this.#restore(beginning.snapshot);
    this.#range = limitHeap(this.#memory, this.#prepared.snapshot, beginning.heapBytes);
    this.#last = beginning;
  }

  /** Returns the changed pages of this run. */
  park(): SuspendedRun {
    return suspend(this.#memory, this.#prepared.snapshot, this.#range);
  }

  unpark(parked: SuspendedRun): void {
    this.#restore(this.#prepared.snapshot);
    resume(this.#memory, parked);
    this.#range = parked.range;
    this.#stackGap = STACK_GAP.large; // its source is not known
  }

  /** Delivers answers to the guest and lets it continue. */
  deliver(answersJson: string, deadline: number, time?: number): EngineStop | undefined {
    const { context, deliver } = this.#prepared.handles;
    this.#clock.continue(time);
    return this.#guarded(deadline, () => {
      const result = this.#call(deliver, this.#values.ofJson(answersJson));
      if (!this.#hasThrown(result)) this.#engine.freeValue(context, result);
    });
  }

  /** Position of the guest in the program, while it calls the host. */
  get stack(): string {
    return this.#sites.stack(this.#values.view);
  }

  /** Extends the deadline by time in which the guest waited. */
  postpone(milliseconds: number): void {
    this.#deadline += milliseconds;
  }

  /** Sets the deadline, of `performance.now()`. */
  setDeadline(deadline: number): void {
    this.#deadline = deadline;
  }

  /** Ends the run at the next check of the deadline. */
  interrupt(): void {
    this.#deadline = 0;
  }

  /** Bytes of heap that the run uses. */
  get heapBytes(): number {
    const { snapshot } = this.#prepared;
    const end = getHeapEnd(this.#values.view);
    return this.#range.extra === 0
      ? end - snapshot.heapStart
      : snapshot.heapEnd - snapshot.heapStart + end - this.#range.extra;
  }

  /** Bytes of all memory that the isolate holds. */
  get memoryBytes(): number {
    return this.#memory.buffer.byteLength;
  }

  #host(): EngineHost {
    return {
      called: (argv, argc) => this.#called(argv, argc),
      shouldInterrupt: () => {
        const { isInterrupted, isOver } = this.#listener;
        if (performance.now() > this.#deadline || isInterrupted() || isOver()) this.#stop ??= "time";
        return this.#stop !== undefined;
      },
      now: () => this.#clock.read(),
      grow: (bytes) => {
        if (bytes <= this.#range.end && growMemory(this.#memory, bytes)) return true;
        this.#stop = "memory";
        return false;
      },
    };
  }

  #called(argv: number, argc: number): number {
    const values = this.#values;
    const op = values.view.getInt32(argv, true);
    const id = values.view.getInt32(argv + 8, true);
    if (argc < 4 || this.#stop !== undefined) return 0; // ignore a guest that was stopped
    if (op === OP.settle) return this.#settle(argv + 24, id);
    if (op === OP.format) return values.ofText(this.#formats.answer(values.text(argv + 24, MAX_REQUEST_BYTES)));
    const name = values.text(argv + 16, NAME_BYTES) ?? "";
    const maxBytes = this.#listener.textBytes(op);
    let payload: GuestValue | undefined;
    try {
      payload =
        argc === 4
          ? values.text(argv + 24, maxBytes)
          : values.plain(argv + 24, maxBytes, this.#listener.takesBytes(op));
    } catch (error) {
      if (error instanceof ValueTooDeep) return values.ofText(NESTED);
      throw error;
    }
    // The value has no certain JSON: the guest sends it again as JSON.
    if (argc !== 4 && payload === undefined) return values.ofText("");
    // Address of the call's promise.
    const promise = argc > 5 ? values.view.getUint32(argv + 40, true) : 0;
    this.#listener.onMessage(op, id, name, payload, promise);
    return 0;
  }

  /**
   * Blocks until a promise is settled. A call is settled by its answer alone; for any other promise the program's jobs
   * run meanwhile, inside the waiting job: the engine takes a job off its list before it runs it.
   */
  #settle(promise: number, call: number): number {
    const { runtime, context } = this.#prepared.handles;
    const engine = this.#engine;
    if (engine.promiseState(context, promise) === PROMISE.pending) this.#listener.onTouch();
    while (this.#stop === undefined && !this.#listener.isOver()) {
      const state = engine.promiseState(context, promise);
      if (state < 0) return engine.dupValue(context, promise); // it only inherits from Promise.prototype
      if (state !== PROMISE.pending) return this.#readResult(promise, state === PROMISE.rejected);
      if (call === 0 && engine.isJobPending(runtime) !== 0) {
        engine.freeValueOfRuntime(runtime, engine.executeJobs(runtime, 1, this.#address("result")));
      } else if (!this.#goesOn() && !this.#receive())
        return this.#throw(this.#call(this.#prepared.handles.cannotSettle));
      if (performance.now() > this.#deadline) this.#stop ??= "time";
    }
    return 0;
  }

  #readResult(promise: number, isRejected: boolean): number {
    const result = this.#engine.promiseResult(this.#prepared.handles.context, promise);
    return isRejected ? this.#throw(result) : result;
  }

  /** Makes the host function throw a value, and frees the value. */
  #throw(value: number): number {
    const { context } = this.#prepared.handles;
    const thrown = this.#engine.throwValue(context, value);
    this.#engine.freeValue(context, value);
    return thrown;
  }

  /** Waits for the next answers and delivers them to the guest; false if none can come. */
  #receive(): boolean {
    const { context, deliver } = this.#prepared.handles;
    const answers = this.#listener.waitForAnswers(this.#isAwaited);
    if (answers === undefined) return false;
    this.#clock.set(answers.time);
    const result = this.#call(deliver, this.#values.ofJson(answers.json));
    if (!this.#hasThrown(result)) this.#engine.freeValue(context, result);
    return true;
  }

  /** Tests whether the program has a handler on a promise. The pointer may be hostile: then only the answer is wrong. */
  readonly #isAwaited = (promise: number): boolean => {
    const { view } = this.#values;
    if (promise === 0 || promise > view.byteLength - MAX_OBJECT_BYTES) return false;
    if (view.getUint16(promise + PROMISE.classId, true) !== PROMISE.class) return false;
    const data = view.getUint32(promise + PROMISE.data, true);
    return data <= view.byteLength - MAX_OBJECT_BYTES && view.getUint32(data + PROMISE.isHandled, true) !== 0;
  };

  /** Runs guest code until it has no more work, under a deadline (of `performance.now()`). */
  #guarded(deadline: number, work: () => void): EngineStop | undefined {
    this.#deadline = deadline;
    this.#stop = undefined;
    try {
      work();
      do this.#pump();
      while (this.#stop === undefined && !this.#listener.isOver() && this.#goesOn());
    } catch (error) {
      this.#thrown = error;
      this.#stop ??= toStopReason(error);
    }
    return this.#stop;
  }

  /** Calls the guest's `idle`; true if that has given it more work. */
  #goesOn(): boolean {
    const { context, idle } = this.#prepared.handles;
    const result = this.#call(idle);
    if (this.#hasThrown(result)) return false;
    const goesOn = this.#values.view.getInt32(result, true) === 1;
    this.#engine.freeValue(context, result);
    return goesOn;
  }

  /** The last exception caught around guest code: a trap of the engine, or an error of this package. */
  get thrown(): unknown {
    return this.#thrown;
  }

  #pump(): void {
    const { runtime } = this.#prepared.handles;
    const out = this.#address("result");
    while (this.#stop === undefined && !this.#listener.isOver() && this.#engine.isJobPending(runtime) !== 0) {
      this.#engine.freeValueOfRuntime(runtime, this.#engine.executeJobs(runtime, JOBS_AT_ONCE, out));
      if (performance.now() > this.#deadline) this.#stop ??= "time";
    }
  }

  /** Creates the guest's `device`, and takes a snapshot with it if the heap lies at its usual address. */
  #makeDevice(device: string): void {
    this.#call(this.#prepared.handles.prepare, this.#values.ofText(device));
    if (this.#stop === undefined && this.#range.extra === 0)
      this.#devices.countCreation(device, () => takeSnapshot(this.#memory, this.#prepared.snapshot));
  }

  #evaluate(source: string, fileName: string): number {
    const name = this.#address("fileName");
    this.#values.write(fileName, name);
    return this.#values.withText(source, (at, length) =>
      this.#engine.evaluate(this.#prepared.handles.context, at, length, name, 0, 0),
    );
  }

  /** Calls a function of the guest. Frees the argument, if any; the caller owns the result. */
  #call(func: number, argument = 0): number {
    const { context, undefined: self } = this.#prepared.handles;
    const argv = this.#address("argument");
    if (argument !== 0) this.#values.view.setUint32(argv, argument, true);
    const result = this.#engine.call(context, func, self, argument === 0 ? 0 : 1, argv);
    if (argument !== 0) this.#engine.freeValue(context, argument);
    return result;
  }

  /** Tests whether a call has thrown, which fails the run, unless it threw because it was interrupted. */
  #hasThrown(result: number): boolean {
    const { context, fail } = this.#prepared.handles;
    const thrown = this.#engine.resolveException(context, result);
    if (thrown !== 0 && this.#stop === undefined) this.#call(fail, thrown);
    return thrown !== 0;
  }

  #restore(snapshot: Snapshot): void {
    this.#ready = undefined;
    this.#formats.clear();
    const { bytes, view } = this.#values;
    const last = { ...this.#range, heapEnd: getHeapEnd(view) };
    restoreSnapshot(bytes, snapshot, last, { textEnd: this.#values.scratchEnd, gap: this.#stackGap });
    this.#values.scratchEnd = this.#address("texts");
    this.#stackGap = STACK_GAP.small;
    this.#sites.forget();
    this.#engine.stackRestore(this.#stackTop);
    this.#stop = undefined;
  }

  /** True if a heap of that size may extend to the current end of the memory: it then directly follows the snapshot's. */
  #isWithin(heapBytes: number): boolean {
    return this.#prepared.snapshot.heapStart + heapBytes >= this.memoryBytes;
  }

  #address(what: keyof typeof PLACE): number {
    return this.#prepared.snapshot.dataEnd + PLACE[what];
  }
}

function toStopReason(error: unknown): EngineStop {
  if (error instanceof OutOfMemory) return "memory";
  return error instanceof RangeError ? "stack" : "trap";
}
