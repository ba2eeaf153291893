import type { Cancellable } from "./host/cancellation.ts";
import type { SuspendedRun } from "./engine/snapshot.ts";
import type { DecodedValue } from "./codec/guest-value.ts";
import type { GuestCall, Print, Timer } from "./shared/protocol.ts";

/** What one run may use; see the fields of the same names in the package's own limits. */
export interface RunLimits {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly memoryBytes: number;
  readonly calls: number;
  readonly callsInFlight: number;
  readonly argumentBytes: number;
  readonly answerBytes: number;
  readonly resultBytes: number;
  readonly outputBytes: number;
}

export interface SandboxProgram {
  /** Statements of the body of a strict async function. */
  readonly code: string;
  /** What `device` shall have: `Skill.method`, or a plain name. */
  readonly paths: readonly string[];
  /** Those among them that change nothing: their calls may pass each other. */
  readonly readOnly?: readonly string[];
  /** Eight bytes for `Math.random`; fresh ones if missing. */
  readonly seed?: Uint8Array;
  /** What the guest's clock says, in milliseconds since 1970. It stands still there; the host's time if missing. */
  readonly time?: number;
}

/** A call as the guest made it. Nothing in it has been checked. It is called off when the run ends before the answer is in. */
export interface SandboxCall extends Cancellable {
  readonly id: number;
  readonly path: string;
  /** JSON of a list of arguments. */
  readonly arguments: string;
  /** The same as values, which is quicker than to parse it where it is long. Throws for what is no JSON. */
  readArguments(datesAs?: "dates" | "text"): DecodedValue;
  /** True where an earlier process asked this already and did not learn the answer. */
  readonly resumed: boolean;
  /** Stops the wall time of the run, for as long as somebody thinks; returns what lets it go on. */
  hold(): () => void;
}

/** `json` may hold `{"$bytes": base64}`, `{"$date": iso}` and `{"$undefined": 1}` where `tagged` is set. */
export type SandboxAnswer =
  | { readonly ok: true; readonly json: string; readonly tagged?: boolean }
  | { readonly ok: false; readonly error: Readonly<Record<string, unknown>> };

export type AnswerCall = (call: SandboxCall) => Promise<SandboxAnswer>;

/** What ended a run that neither returned nor threw. */
export type StopReason =
  | "CPU_LIMIT"
  | "WALL_LIMIT"
  | "MEMORY_LIMIT"
  | "STACK_LIMIT"
  | "CALL_LIMIT"
  | "CALLS_IN_FLIGHT_LIMIT"
  | "ARGUMENT_LIMIT"
  | "RESULT_LIMIT"
  | "NESTING_LIMIT"
  | "NEVER_SETTLES"
  | "CANCELLED"
  | "ENGINE_TRAP";

export type SandboxEnd =
  /** `tagged` is there where something in it is a date, or looks like one: `parseTagged` reads it. */
  | { readonly kind: "returned"; readonly json: string; readonly tagged?: string }
  /** `json` is what the guest says of the error: `{name, message, stack, code?, …}`, all of it untrusted. */
  | { readonly kind: "threw"; readonly json: string }
  | { readonly kind: "stopped"; readonly reason: StopReason }
  /** Put aside while it waited: `state` can be resumed later, also by another process of the same version. */
  | { readonly kind: "parked"; readonly state: RunState };

/** A run that waits, as plain data. */
export interface RunState {
  readonly limits: RunLimits;
  readonly parked: { readonly bytes: Uint8Array; readonly range: SuspendedRun["range"] };
  /** Calls without an answer, as the guest made them. */
  readonly pending: readonly GuestCall[];
  /** JSON of answers that the guest has not seen yet. */
  readonly answers: readonly string[];
  readonly timers: readonly Timer[];
  readonly prints: readonly Print[];
  readonly cpuMs: number;
  readonly memoryBytes: number;
  readonly calls: number;
}

export interface SandboxOutcome {
  readonly end: SandboxEnd;
  /** What was printed, in order, one line for each call of `console` or `print`. */
  readonly output: string;
  readonly outputCut: boolean;
  /** Stacks of some places at which the snippet stood still for a promise. Untrusted. */
  readonly waits: readonly string[];
  /** Calls that had no answer when the run ended; they were cancelled. */
  readonly unfinished: readonly number[];
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly memoryBytes: number;
  readonly calls: number;
}
