import type { GuestValue } from "../codec/guest-value.ts";

/** Receives the calls of the one host function. */
export interface GuestListener {
  /** Handles a message of the guest: numbers and texts are as hostile as the program. `b` is missing if it was too long. */
  readonly onMessage: (op: number, id: number, a: string, b: GuestValue | undefined, promise: number) => void;
  /** Called when the guest must block on a promise. */
  readonly onTouch: () => void;
  /** Blocks until answers have arrived; undefined if none can come. */
  readonly waitForAnswers: (isAwaited: (promise: number) => boolean) => ArrivedAnswers | undefined;
  /** Maximum length of `b` for an operation. */
  readonly textBytes: (op: number) => number;
  /** Whether `b` may be bytes for an operation. */
  readonly takesBytes: (op: number) => boolean;
  /** Called whenever the engine polls for interrupts. */
  readonly isInterrupted: () => boolean;
  /** True once the run has its result: the guest need not continue. */
  readonly isOver: () => boolean;
}

/** Answers for a guest that blocks. */
export interface ArrivedAnswers {
  /** JSON for the guest's `deliver`. */
  readonly json: string;
  /** Time of the guest's clock from then on; missing if it stays as it is. */
  readonly time: number | undefined;
}

/** The program and the limits that a run starts with. */
export interface GuestProgram {
  /** Source of an expression whose value is an async function. */
  readonly expression: string;
  /** JSON of the paths of `device`. */
  readonly paths: string;
  readonly heapBytes: number;
  /** Eight bytes for `Math.random`. */
  readonly seed: Uint8Array;
  /** Fixed time of its clock; the host's time if missing. */
  readonly time?: number | undefined;
  /** True if the clock starts at that time, and moves with deliveries and when it is read. */
  readonly isRecorded?: boolean;
}
