/**
 * Entry point of a worker thread: one isolate, one slice of work at a time. It knows calls only by their ids, and
 * holds a run's state only in the isolate.
 */
import { randomFillSync } from "node:crypto";
import { workerData } from "node:worker_threads";

import type { ResultDescription } from "../contract.ts";
import { OP } from "../guest/host-protocol.ts";
import type { ArrivedAnswers } from "./guest-contract.ts";
import { Isolate } from "./isolate.ts";
import { WorkerChannel } from "../shared/message-channel.ts";
import { plainJson } from "../shared/dates.ts";
import { findJsonExcess } from "../shared/nesting.ts";
import { ThreadWait } from "../spin-wait.ts";
import type { GuestValue } from "../codec/guest-value.ts";
import {
  type SliceBudget,
  listTransferables,
  CONTROL,
  type SliceReport,
  type SliceEnd,
  type EngineStop,
  type FromWorker,
  getOpenBytes,
  type GuestCall,
  isQuestion,
  MAX_MISREADS,
  type Misread,
  MISREAD_KINDS,
  MAX_WAITS,
  type Overrun,
  type Print,
  type SharedEngine,
  type ToWorker,
  estimateFromWorker,
  type WorkerStart,
} from "../shared/protocol.ts";

/** An isolate that has grown beyond this is replaced by a new one, so that its memory goes back. */
const KEEP_BYTES = 24 << 20;

/** How long a worker without work polls for it. */
const MAX_SPIN_MS = 0.3;
/** Maximum size of an error's description; the guest cuts it to a fraction of this. */
const ERROR_BYTES = 256 << 10;
/** Maximum size of one print; the guest cuts it to a third of this many characters. */
const PRINT_BYTES = 1 << 20;
/** Maximum length of the name of a misread member; the guest cuts it to the same. */
const MAX_MEMBER_NAME = 60;
/** Maximum of timers that a guest may start and stop in one slice of work; its own code allows fewer. */
const MAX_TIMERS = 4_000;

const { control, port, channel: sharedLine, canSpin } = workerData as WorkerStart;
const channel = new WorkerChannel<FromWorker, ToWorker>("worker", port, sharedLine, estimateFromWorker);
const words = new Int32Array(control);
/** Messages that arrived while the guest waited for another one. */
const late: ToWorker[] = [];
/** Id of the run in the isolate, or 0. */
let current = 0;
const spinMs = canSpin ? MAX_SPIN_MS : 0;
const waits = { forRun: new ThreadWait(spinMs), forAnswers: new ThreadWait(spinMs), standing: new ThreadWait(spinMs) };
const { module, prepared, heapBytes, describer } = sharedEngine(nextMessage());
const seeds = new Uint8Array(8 * 512);
let nextSeed = seeds.length;

let capacity = heapBytes;
let isolate = openIsolate();
let slice = newSlice(undefined);
let describe: DescribeResult | undefined;

post({ kind: "ready" });
for (;;) work(nextMessage());

function sharedEngine(message: ToWorker): SharedEngine {
  if (message.kind !== "open") throw new Error(`Cannot ${message.kind} without an engine`);
  return message.engine;
}

/**
 * Returns the next message. Waking a sleeping thread takes longer than most slices of work, so the thread polls for a while
 * before it sleeps. It never returns to its event loop: no message comes from there.
 */
function nextMessage(): ToWorker {
  const message = late.shift();
  if (message !== undefined) return message;
  const wait = current === 0 ? waits.forRun : waits.forAnswers;
  wait.until(
    () => channel.hasMessage,
    () => channel.wait(),
  );
  return channel.take() ?? nextMessage();
}

function work(message: ToWorker): void {
  switch (message.kind) {
    case "start":
      parkCurrent(message.run);
      provide(message.heapBytes);
      begin(message.run, message.allowance, (deadline) =>
        isolate.start({ ...message, seed: message.seed ?? freshSeed() }, deadline),
      );
      return;
    case "resume":
      if (message.parked !== undefined) {
        parkCurrent(message.run);
        provide(message.parked.range.end - prepared.snapshot.heapStart);
        isolate.unpark(message.parked);
      }
      begin(message.run, message.allowance, (deadline) => isolate.deliver(message.answers, deadline, message.time));
      return;
    case "answers":
    case "open":
      return; // answers to a wait that ended in another way
  }
}

/** Replaces the isolate if it cannot hold a heap of that size, or if a large run has made it grow. */
function provide(bytes: number): void {
  if (bytes <= capacity && isolate.memoryBytes <= KEEP_BYTES) return;
  capacity = Math.max(heapBytes, bytes);
  isolate = openIsolate();
}

/** Suspends the run in the isolate to make place for another one. The host must know before anything else runs here. */
function parkCurrent(next: number): void {
  if (current !== 0 && current !== next) post({ kind: "parked", run: current, parked: isolate.park() });
  current = 0;
}

function begin(run: number, allowance: SliceBudget, go: (deadline: number) => EngineStop | undefined): void {
  current = run;
  slice = newSlice(allowance);
  const stop = go(slice.startedAt + allowance.computeMs);
  const end: SliceEnd | undefined = slice.end ?? (stop === undefined ? undefined : { kind: "stop", stop });
  if (end !== undefined) current = 0;
  const report = takeReport();
  post({
    kind: "slice",
    run,
    report,
    end: slice.overrun === undefined ? describeEnd(end, run) : { kind: "stop", stop: slice.overrun },
  });
  const isLarge = end !== undefined && isolate.memoryBytes > KEEP_BYTES;
  if (stop !== undefined || slice.overrun !== undefined || isLarge) isolate = openIsolate();
  else if (end !== undefined && !channel.hasMessage) isolate.refresh();
}

function openIsolate(): Isolate {
  return new Isolate(module, prepared, capacity, {
    onMessage,
    isInterrupted: () => current !== 0 && Atomics.load(words, CONTROL.interrupted) === current,
    isOver: () => slice.end !== undefined || slice.overrun !== undefined,
    textBytes,
    waitForAnswers,
    onTouch: () => {
      if (slice.waits.size < MAX_WAITS) slice.waits.add(isolate.stack);
    },
    takesBytes: (op) => op === OP.call,
  });
}

function textBytes(op: number): number {
  switch (op) {
    case OP.done:
      return slice.allowance.resultBytes;
    case OP.fail:
      return ERROR_BYTES;
    case OP.log:
      return PRINT_BYTES;
    default:
      return slice.allowance.argumentBytes;
  }
}

/** Handles every message of the guest. Its numbers and texts are hostile. */
function onMessage(op: number, id: number, a: string, b: GuestValue | undefined, promise: number): void {
  if (slice.end !== undefined || slice.overrun !== undefined) return;
  switch (op) {
    case OP.call:
      if (!mayCall(a, b)) return;
      slice.calls.push({ id, path: a, arguments: b, stack: isolate.stack });
      slice.promises.push(promise);
      return;
    case OP.log:
      print(id, Number(a) | 0, typeof b === "string" ? b : "[text too long to print]");
      return;
    case OP.timer:
      setTimer(id, finite(Number(a)));
      return;
    case OP.misread:
      noteMisread(a, typeof b === "string" ? b : "", id);
      return;
    case OP.done:
      if (typeof b !== "string") overrun("result");
      else endWith(b);
      return;
    case OP.fail:
      slice.end = { kind: "fail", json: typeof b === "string" ? b : "{}" };
      return;
    default:
      overrun("protocol");
      return;
  }
}

/** Ends the run with its result, unless that is nested too deeply. */
function endWith(result: string): void {
  const json = plainJson(result);
  if (findJsonExcess(json) !== undefined) overrun("nesting");
  else slice.end = json === result ? { kind: "done", json } : { kind: "done", json, tagged: result };
}

/** Describes a large result, when the guest has ended. Text with a tagged value is left to the host. */
function describeEnd(end: SliceEnd | undefined, run: number): SliceEnd | undefined {
  const { described } = slice.allowance;
  if (end?.kind !== "done" || describer === undefined || described === undefined) return end;
  const { json, tagged } = end;
  const [min, max] = described;
  if (json.length < min || json.length > max || !/^[[{]/.test(json) || tagged !== undefined) return end;
  Atomics.store(words, CONTROL.described, run);
  try {
    describe ??= loadDescriber(describer);
    return { ...end, description: describe(json) };
  } catch {
    return end; // only a corrupted guest returns text that is not JSON
  } finally {
    Atomics.store(words, CONTROL.described, 0);
  }
}

/** Evaluates the text of a module, which gets nothing but the names of JavaScript. */
function loadDescriber(text: string): DescribeResult {
  const loaded: { exports?: { readonly describeResult: DescribeResult } } = {};
  // oxlint-disable-next-line no-implied-eval -- the text comes from this package, and the thread may load no file
  new Function("module", text)(loaded);
  if (loaded.exports === undefined) throw new Error("The describer exports nothing");
  return loaded.exports.describeResult;
}

function noteMisread(kind: string, name: string, size: number): void {
  const of = MISREAD_KINDS.find((candidate) => candidate === kind);
  if (of === undefined || slice.misreads.size >= MAX_MISREADS) return;
  const { stack } = isolate;
  slice.misreads.set(`${stack}${name}`, { of, name: name.slice(0, MAX_MEMBER_NAME), size: Math.max(0, size), stack });
}

function mayCall(path: string, list: GuestValue | undefined): list is GuestValue {
  const remaining = isQuestion(path) ? slice.questionsLeft-- : slice.callsLeft--;
  if (remaining <= 0) overrun("calls");
  else if (list === undefined) overrun("argument");
  else if ((slice.openBytesLeft -= getOpenBytes(list)) < 0) overrun("callsInFlight");
  return slice.overrun === undefined;
}

/** Stops the guest: the run has exceeded a limit. */
function overrun(what: Overrun): void {
  slice.overrun = what;
  isolate.interrupt();
}

function print(slot: number, level: number, text: string): void {
  if (slice.outputLeft < 0) return;
  const visible = text.slice(0, slice.outputLeft + 1);
  slice.outputLeft -= visible.length + 1;
  slice.prints.push({ slot, level, text: visible });
}

/** Records a timer for the host. One that is stopped before the host knows of it is dropped. */
function setTimer(id: number, milliseconds: number): void {
  if (!(milliseconds < 0 && slice.timers.delete(id))) slice.timers.set(id, milliseconds);
  if (slice.timers.size > MAX_TIMERS) overrun("protocol");
}

function finite(milliseconds: number): number {
  return milliseconds >= 0 ? Math.min(milliseconds, Number.MAX_SAFE_INTEGER) : -1;
}

/**
 * Blocks until the host has answers; meanwhile no guest code runs and no time is billed. Returns undefined if no answer can
 * come. Reports the calls that the program does not await: they are made in the order of the program, which may rely on it.
 */
function waitForAnswers(isAwaited: (promise: number) => boolean): ArrivedAnswers | undefined {
  const inOrder = slice.calls.filter((_, index) => !isAwaited(slice.promises[index] ?? 0)).map(({ id }) => id);
  const before = Atomics.load(words, CONTROL.answered);
  post({ kind: "wait", run: current, report: takeReport(), inOrder });
  const waited = waits.standing.until(
    () => Atomics.load(words, CONTROL.answered) !== before,
    // The host counts first and notifies afterwards: a notification for an earlier wait may wake this one.
    () => Atomics.wait(words, CONTROL.answered, before),
    Atomics.load(words, CONTROL.crowded) === 0,
  );
  isolate.postpone(waited);
  slice.startedAt += waited;
  for (const message of channel.read()) {
    if (message.kind === "answers" && message.run === current) {
      slice.openBytesLeft = message.openBytes;
      if (message.computeMs !== undefined) isolate.setDeadline(performance.now() + message.computeMs);
      return message.answers === undefined ? undefined : { json: message.answers, time: message.time };
    }
    late.push(message);
  }
  isolate.interrupt();
  return { json: "[]", time: undefined };
}

function takeReport(): SliceReport {
  const now = performance.now();
  const report = {
    calls: slice.calls,
    prints: slice.prints,
    waits: [...slice.waits],
    misreads: [...slice.misreads.values()],
    timers: Array.from(slice.timers, ([id, milliseconds]) => ({ id, milliseconds })),
    computeMs: now - slice.startedAt,
    heapBytes: isolate.heapBytes,
  };
  slice.calls = [];
  slice.promises = [];
  slice.prints = [];
  slice.timers.clear();
  slice.waits.clear();
  slice.misreads.clear();
  slice.startedAt = now;
  return report;
}

type DescribeResult = (json: string) => ResultDescription;

interface Slice {
  allowance: SliceBudget;
  startedAt: number;
  calls: GuestCall[];
  /** Addresses of the promises of these calls in the guest's memory. */
  promises: number[];
  prints: Print[];
  readonly timers: Map<number, number>;
  /** Places at which the program blocked on a promise, as stacks. */
  readonly waits: Set<string>;
  /** By their place and name. */
  readonly misreads: Map<string, Misread>;
  callsLeft: number;
  questionsLeft: number;
  openBytesLeft: number;
  outputLeft: number;
  end: SliceEnd | undefined;
  overrun: Overrun | undefined;
}

function newSlice(allowance: SliceBudget | undefined): Slice {
  return {
    allowance: allowance ?? {
      computeMs: 0,
      calls: 0,
      questions: 0,
      openBytes: 0,
      argumentBytes: 0,
      resultBytes: 0,
      outputBytes: 0,
      described: undefined,
    },
    startedAt: performance.now(),
    calls: [],
    promises: [],
    prints: [],
    timers: new Map(),
    waits: new Set(),
    misreads: new Map(),
    callsLeft: allowance?.calls ?? 0,
    questionsLeft: allowance?.questions ?? 0,
    openBytesLeft: allowance?.openBytes ?? 0,
    outputLeft: allowance?.outputBytes ?? 0,
    end: undefined,
    overrun: undefined,
  };
}

function freshSeed(): Uint8Array {
  if (nextSeed >= seeds.length) {
    randomFillSync(seeds);
    nextSeed = 0;
  }
  nextSeed += 8;
  const seed = seeds.subarray(nextSeed - 8, nextSeed);
  seed[0] = (seed[0] as number) | 1; // the generator must not start at zero
  return seed;
}

function post(message: FromWorker): void {
  channel.send(message, listTransferables);
  channel.wakeHost();
}
