import type { MessagePort } from "node:worker_threads";

import type { SuspendedRun } from "../engine/snapshot.ts";
import type { PreparedSnapshot, EngineStop } from "../worker/isolate.ts";
import type { SharedChannel } from "./message-channel.ts";
import type { GuestValue } from "../codec/guest-value.ts";

/** What a worker gets when it starts. */
export interface WorkerStart {
  /** Words of the names in `CONTROL`. */
  readonly control: SharedArrayBuffer;
  /** Where it hears and speaks. The first that it hears is the `SharedEngine`. */
  readonly port: MessagePort;
  readonly channel: SharedChannel;
}

/** What all workers share. */
export interface SharedEngine {
  readonly module: WebAssembly.Module;
  readonly prepared: PreparedSnapshot;
  /** The most heap that any run may ask for. */
  readonly heapBytes: number;
}

/** Words of the memory that a worker shares with the host's thread. */
export const CONTROL = {
  /** The number of the run that shall stop where it is. */
  interrupted: 0,
  /** Counts the answers to calls for which the guest stands still. */
  answered: 1,
  /** 1 while more guests want to go on than there are threads for: who waits must not keep a core busy. */
  crowded: 2,
} as const;

/** What a run may still do in the slice of work that begins. All numbers are finite. */
export interface SliceBudget {
  readonly computeMs: number;
  readonly calls: number;
  readonly questions: number;
  readonly callsInFlight: number;
  readonly argumentBytes: number;
  readonly resultBytes: number;
  readonly outputBytes: number;
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
      readonly allowance: SliceBudget;
    }
  | {
      readonly kind: "resume";
      readonly run: number;
      /** The run's pages, unless it still lies in this worker. */
      readonly parked: SuspendedRun | undefined;
      /** JSON of `[id, ok, value, …]`. */
      readonly answers: string;
      readonly allowance: SliceBudget;
    }
  | { readonly kind: "park"; readonly run: number }
  /** What came after a `wait`: JSON of `[id, ok, value, …]`, nothing if nothing can come. Read while the worker stands still. */
  | {
      readonly kind: "answers";
      readonly run: number;
      readonly answers: string | undefined;
      /** Calls that may be made before more answers are in. */
      readonly callsInFlight: number;
    };

export interface GuestCall {
  readonly id: number;
  readonly path: string;
  /** A list. */
  readonly arguments: GuestValue;
  /** Where in the snippet it stands, as lines of a stack. */
  readonly stack: string;
}

/** A path of one name is a question about what there is: it has an allowance of its own, and is no call. */
export function isQuestion(path: string): boolean {
  return !path.includes(".");
}

/** So many places at which a snippet stood still are told of. */
export const MOST_WAITS = 8;

export interface Print {
  readonly slot: number;
  readonly level: number;
  readonly text: string;
}

export interface Timer {
  readonly id: number;
  /** Finite. Negative: the timer is not wanted any more. */
  readonly milliseconds: number;
}

/** Why a slice of work was the run's last. */
export type SliceEnd =
  | { readonly kind: "done"; readonly json: string }
  | { readonly kind: "fail"; readonly json: string }
  | { readonly kind: "stop"; readonly stop: EngineStop | Overrun };

export type Overrun = "calls" | "callsInFlight" | "argument" | "result" | "nesting" | "protocol";

/** What the guest did since the last message. */
export interface SliceReport {
  readonly calls: readonly GuestCall[];
  readonly prints: readonly Print[];
  readonly timers: readonly Timer[];
  /** Where the snippet stood still for a promise, as stacks. */
  readonly waits: readonly string[];
  readonly computeMs: number;
  readonly heapBytes: number;
}

/** From a worker to the host's thread. */
export type FromWorker =
  | { readonly kind: "ready" }
  | { readonly kind: "slice"; readonly run: number; readonly deeds: SliceReport; readonly end: SliceEnd | undefined }
  | {
      readonly kind: "wait";
      readonly run: number;
      readonly deeds: SliceReport;
      /** The calls among these that nothing in the snippet waits for. */
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
    case "park":
      return 0;
    case "answers":
      return message.answers?.length ?? 0;
  }
}

export function estimateFromWorker(message: FromWorker): number {
  switch (message.kind) {
    case "ready":
      return 0;
    case "slice":
      return (
        estimateReport(message.deeds) +
        (message.end !== undefined && "json" in message.end ? message.end.json.length : 0)
      );
    case "wait":
      return estimateReport(message.deeds);
    case "parked":
      return Infinity;
  }
}

/** The buffers of a message that are its own. */
export function listTransferables(message: FromWorker): ArrayBuffer[] {
  switch (message.kind) {
    case "slice":
    case "wait":
      return message.deeds.calls.flatMap(getTransferable);
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
