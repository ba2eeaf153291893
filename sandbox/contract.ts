import type { Cancellable } from "./host/cancellation.ts";
import type { DecodedValue } from "./codec/guest-value.ts";
import type { Misread } from "./shared/protocol.ts";

/** Limits of one run; see the fields of the same names in `src/model/limits.ts`. */
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
  /** The least and the largest length of the JSON of a list or an object that the describer describes; none if missing. */
  readonly described?: readonly [min: number, max: number];
}

export interface SandboxProgram {
  /** Statements of the body of a strict async function. */
  readonly code: string;
  /** Paths of `device`: `Skill.method`, a plain name, or `node.Skill.method` for `devices`. */
  readonly paths: readonly string[];
  /** The paths among them that change nothing: their calls may overtake each other. */
  readonly readOnly?: readonly string[];
  /** Eight bytes for `Math.random`; fresh ones if missing. */
  readonly seed?: Uint8Array;
  /** Fixed time of the guest's clock, in milliseconds since 1970; the host's running time if missing. */
  readonly time?: number;
  /**
   * Deliveries of an earlier execution of the same program with the same seed and time. They are repeated in order before
   * anything new; only then are calls made that they do not contain.
   */
  readonly deliveries?: readonly Delivery[];
  /**
   * Allows a program that only begins like the one of the deliveries. It is asked for each call, in the guest's order, and for
   * each timer during the repetition, until it returns false or the next delivery cannot be repeated. Then the deliveries
   * that are left are dropped, and the run continues live. The repeated ones are recorded again.
   */
  readonly matches?: (step: ProgramStep) => boolean;
  /** Resources that the earlier execution used: they count toward the limits, the replay itself does not. */
  readonly used?: RunUsage;
}

/** A call or a timer of a program. */
export interface ProgramStep {
  readonly id: number;
  /** The call; missing for a timer. `arguments` is JSON of a list. */
  readonly call?: { readonly path: string; readonly arguments: string };
}

/** Answers and timers that reached the guest together, by their numbers in order, and the time of its clock then. */
export interface Delivery {
  readonly ids: readonly number[];
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** Resources that a run used until its last delivery. Its calls and its output are not here: a replay repeats them. */
export interface RunUsage {
  readonly cpuMs: number;
  /** Without the time in which the clock was held. */
  readonly wallMs: number;
  /** Number of texts that `print` received: a replay does not pass them on again. */
  readonly prints: number;
}

/** The parts of its limits that a run has not used. Whole numbers, 0 or more. */
export interface RunBudget {
  readonly cpuMs: number;
  /** Without the time in which the clock is held. */
  readonly wallMs: number;
  readonly calls: number;
  readonly memoryBytes: number;
  readonly outputBytes: number;
}

/** A call as the guest made it, unchecked. It is cancelled when the run ends before the answer arrives. */
export interface SandboxCall extends Cancellable {
  readonly id: number;
  readonly path: string;
  /** JSON of a list of arguments. */
  readonly arguments: string;
  /** The place of the call in the code of the program, for `findProgramPosition`; missing if the guest does not say it. */
  readonly site: string | undefined;
  /** Returns the arguments as values, faster than parsing a long `arguments`. Throws if they are not JSON. */
  readArguments(datesAs?: "dates" | "text"): DecodedValue;
  /** True if the deliveries of the program contain this call: its recorded answer is expected. */
  readonly replayed: boolean;
  /** Returns what the run may still use. */
  readBudget(): RunBudget;
  /**
   * Pauses the wall time of the run, for example while a user is asked; returns a function that continues it. A
   * `suspendable` call has had no effect yet: the run may be suspended meanwhile, and makes the call again later.
   */
  hold(options?: { readonly suspendable: boolean }): () => void;
}

/** `json` may hold `{"$bytes": base64}`, `{"$date": iso}` and `{"$undefined": 1}` where `tagged` is set. */
export type SandboxAnswer =
  | { readonly ok: true; readonly json: string; readonly tagged?: boolean }
  | { readonly ok: false; readonly error: Readonly<Record<string, unknown>> };

/** A method that a program has searched for or asked about. */
export interface CallableMethod {
  /** `Skill.method` */
  readonly path: string;
  readonly signature: string;
  readonly summary: string;
}

/**
 * The answer to a question about methods, or to several at once. A program reads it as a text, and gets the methods as a list
 * (`list`, `several`) or as members (`text`).
 */
export type CatalogAnswer =
  | { readonly kind: "list" | "text"; readonly text: string; readonly methods: readonly CallableMethod[] }
  | { readonly kind: "several"; readonly text: string; readonly answers: readonly CatalogAnswer[] };

/** How busy a sandbox is at the moment. */
export interface SandboxLoad {
  /** Worker threads by state. `blocked` ones hold a run that waits for a call. */
  readonly workers: Readonly<Record<"starting" | "idle" | "busy" | "blocked", number>>;
  /** Runs that wait for a worker thread. */
  readonly queuedRuns: number;
}

export type AnswerCall = (call: SandboxCall) => Promise<SandboxAnswer>;

/** Why a run ended that neither returned nor threw. */
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
  /** The program does not repeat the execution that its deliveries come from. */
  | "REPLAY_DIVERGED"
  | "ENGINE_TRAP";

/** Description of a large result, for a model. */
export interface ResultDescription {
  readonly text: string;
  readonly summary: string;
}

export type SandboxEnd =
  /**
   * `tagged` is set if the value holds a date, or an object that looks like a tagged one: `parseTagged` reads it. With a
   * `description`, `json` is JSON of a list or an object.
   */
  | {
      readonly kind: "returned";
      readonly json: string;
      readonly tagged?: string;
      readonly description?: ResultDescription;
    }
  /** `json` is the guest's description of the error: `{name, message, stack, code?, …}`, all of it untrusted. */
  | { readonly kind: "threw"; readonly json: string }
  | { readonly kind: "stopped"; readonly reason: StopReason }
  /**
   * Given up while it only waited for suspendable calls and timers. The same program continues with all deliveries so far
   * and with `used`. `timerAt` is when its first timer is due, in milliseconds since 1970; missing if it has none.
   */
  | { readonly kind: "suspended"; readonly used: RunUsage; readonly timerAt?: number };

export interface SandboxOutcome {
  readonly end: SandboxEnd;
  /** Printed text, in order, one line for each call of `console` or `print`. */
  readonly output: string;
  readonly outputCut: boolean;
  /** Stacks of some places at which the program blocked on a promise. Untrusted. */
  readonly waits: readonly string[];
  /** Places at which the program read a value as something else, at most eight. Untrusted. */
  readonly misreads: readonly Misread[];
  /** Calls that had no answer when the run ended; they were cancelled. */
  readonly unfinished: readonly number[];
  /** Paths of calls that were never made, because as many as may be under way at once were; not among `unfinished`. */
  readonly queued: readonly string[];
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly memoryBytes: number;
  readonly calls: number;
}
