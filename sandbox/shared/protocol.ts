import type { MessagePort } from "node:worker_threads";

import type { ResultDescription, RunLimits } from "../contract.ts";
import type { SuspendedRun } from "../engine/snapshot.ts";
import type { PreparedSnapshot } from "../engine/prepared-snapshot.ts";
import type { SharedChannel } from "./message-channel.ts";
import type { GuestValue } from "../codec/guest-value.ts";

/** Data that a worker receives when it starts. */
export interface WorkerStart {
  /** The words that `CONTROL` names. */
  readonly control: SharedArrayBuffer;
  /** The worker's end of the port. Its first message carries the `SharedEngine`. */
  readonly port: MessagePort;
  readonly channel: SharedChannel;
  /** False if the worker must sleep at once when it waits. */
  readonly canSpin: boolean;
}

/** Data that all workers share. */
export interface SharedEngine {
  readonly module: WebAssembly.Module;
  readonly prepared: PreparedSnapshot;
  /** Default size of an isolate's heap. A run that asks for more gets a larger isolate. */
  readonly heapBytes: number;
  /** The text of the module that describes large results, which requires no other. */
  readonly describer?: string;
}

/** Indexes of the words that a worker shares with the host's thread. */
export const CONTROL = {
  /** Id of the run that must stop where it is. */
  interrupted: 0,
  /** Counts the answers to calls for which the guest stands still. */
  answered: 1,
  /** 1 while more guests can continue than there are threads: a waiting worker must not keep a core busy. */
  crowded: 2,
  /** Id of the run whose guest has ended, while its result is described. */
  described: 3,
} as const;

/** Limits of a run for the slice of work that begins. All numbers are finite. */
export interface SliceBudget {
  readonly computeMs: number;
  readonly calls: number;
  readonly questions: number;
  /** Bytes of arguments that calls may hold until they have an answer. */
  readonly openBytes: number;
  readonly argumentBytes: number;
  readonly resultBytes: number;
  readonly outputBytes: number;
  readonly described: RunLimits["described"];
}

/** From the host's thread to a worker. A worker does one thing at a time; it answers `start` and `resume` with one `slice`. */
export type ToWorker =
  | { readonly kind: "open"; readonly engine: SharedEngine }
  | {
      readonly kind: "start";
      readonly run: number;
      readonly expression: string;
      readonly paths: string;
      readonly heapBytes: number;
      readonly seed: Uint8Array | undefined;
      readonly time: number | undefined;
      /** True if the guest's clock stands still between deliveries. */
      readonly isRecorded: boolean;
      readonly allowance: SliceBudget;
    }
  | {
      readonly kind: "resume";
      readonly run: number;
      /** The run's pages, unless it still lies in this worker. */
      readonly parked: SuspendedRun | undefined;
      /** JSON of `[id, ok, value, …]`. */
      readonly answers: string;
      /** Time of the guest's clock; missing if it was not recorded. */
      readonly time: number | undefined;
      readonly allowance: SliceBudget;
    }
  /** Answers to a `wait`: JSON of `[id, ok, value, …]`; undefined if none can come. Read while the worker stands still. */
  | {
      readonly kind: "answers";
      readonly run: number;
      readonly answers: string | undefined;
      /** Time of the guest's clock, and time that the guest may compute from now on; missing if deliveries are not recorded. */
      readonly time: number | undefined;
      readonly computeMs: number | undefined;
      /** Bytes of arguments that calls may hold until more answers are in. */
      readonly openBytes: number;
    };

export interface GuestCall {
  readonly id: number;
  readonly path: string;
  /** The list of arguments. */
  readonly arguments: GuestValue;
  /** Position of the call in the program, as lines of a stack. */
  readonly stack: string;
}

/** Bytes of a call beside its arguments: its path and its place. */
export const CALL_BYTES = 256;

/** Returns the bytes that a call holds until it has an answer. */
export function getOpenBytes(list: GuestValue): number {
  return CALL_BYTES + (typeof list === "string" ? list.length : list.byteLength);
}

/** Tests whether a path is a plain name: such a question about the catalog has its own limit and is not counted as a call. */
export function isQuestion(path: string): boolean {
  return !path.includes(".");
}

/** Maximum of places reported at which a program blocked on a promise. */
export const MAX_WAITS = 8;

/** Maximum of misreads reported for one run. */
export const MAX_MISREADS = 8;

/** A place at which the program read a value as something else. All of it is the guest's word. */
export interface Misread {
  /**
   * `text`, `json` (a text that begins as JSON does) or `number`: a member was read that the value does not have.
   * `object` or `array`: `JSON.parse` was given a value that is no text.
   * `timer`: the program has ended before timers whose functions have calls.
   */
  readonly of: MisreadKind;
  /** Name of the member. */
  readonly name: string;
  /** Characters of the text, or the number of timers. */
  readonly size: number;
  /** Position in the program, as lines of a stack. */
  readonly stack: string;
}

export const MISREAD_KINDS = ["text", "lines", "json", "number", "object", "array", "timer"] as const;
export type MisreadKind = (typeof MISREAD_KINDS)[number];

export interface Print {
  readonly slot: number;
  readonly level: number;
  readonly text: string;
}

export interface Timer {
  readonly id: number;
  /** Finite. A negative number clears the timer. */
  readonly milliseconds: number;
}

/** Why guest code was stopped before its end. */
export type EngineStop = "time" | "memory" | "trap" | "stack";

/** Why a slice of work ended its run. */
export type SliceEnd =
  /** `tagged` is the result with its dates, if it has any; `json` has them as texts. */
  | {
      readonly kind: "done";
      readonly json: string;
      readonly tagged?: string;
      readonly description?: ResultDescription;
    }
  | { readonly kind: "fail"; readonly json: string }
  | { readonly kind: "stop"; readonly stop: EngineStop | Overrun };

export type Overrun = "calls" | "callsInFlight" | "argument" | "result" | "nesting" | "protocol";

/** The guest's actions since the last message. */
export interface SliceReport {
  readonly calls: readonly GuestCall[];
  readonly prints: readonly Print[];
  readonly timers: readonly Timer[];
  /** Places at which the program blocked on a promise, as stacks. */
  readonly waits: readonly string[];
  readonly misreads: readonly Misread[];
  readonly computeMs: number;
  readonly heapBytes: number;
}

/** From a worker to the host's thread. */
export type FromWorker =
  | { readonly kind: "ready" }
  | { readonly kind: "slice"; readonly run: number; readonly report: SliceReport; readonly end: SliceEnd | undefined }
  | {
      readonly kind: "wait";
      readonly run: number;
      readonly report: SliceReport;
      /** Ids of the calls among these that the program does not await. */
      readonly inOrder: readonly number[];
    }
  | { readonly kind: "parked"; readonly run: number; readonly parked: SuspendedRun };

export function estimateToWorker(message: ToWorker): number {
  switch (message.kind) {
    case "open":
      return Infinity;
    case "start":
      return message.seed === undefined ? message.expression.length + message.paths.length : Infinity;
    case "resume":
      return message.parked === undefined ? message.answers.length : Infinity;
    case "answers":
      return message.answers?.length ?? 0;
  }
}

export function estimateFromWorker(message: FromWorker): number {
  switch (message.kind) {
    case "ready":
      return 0;
    case "slice":
      return estimateReport(message.report) + estimateEnd(message.end);
    case "wait":
      return estimateReport(message.report);
    case "parked":
      return Infinity;
  }
}

function estimateEnd(end: SliceEnd | undefined): number {
  if (end === undefined || end.kind === "stop") return 0;
  if (end.kind === "fail") return end.json.length;
  return end.description === undefined ? end.json.length + (end.tagged?.length ?? 0) : Infinity;
}

/** Lists the buffers that a message owns and may transfer. */
export function listTransferables(message: FromWorker): ArrayBuffer[] {
  switch (message.kind) {
    case "slice":
    case "wait":
      return message.report.calls.flatMap(getTransferable);
    case "ready":
    case "parked":
      return [];
  }
}

function getTransferable(call: GuestCall): readonly ArrayBuffer[] {
  return typeof call.arguments === "string" ? [] : [call.arguments.buffer];
}

function estimateReport({ calls, prints }: SliceReport): number {
  let length = 0;
  for (const call of calls) length += estimateCall(call);
  for (const print of prints) length += print.text.length;
  return length;
}

function estimateCall(call: GuestCall): number {
  return typeof call.arguments === "string" ? call.path.length + call.arguments.length + call.stack.length : Infinity;
}
