import type { Caller } from "../model/caller.ts";
import type { Limits } from "../model/limits.ts";
import type { Outcome } from "../model/outcome.ts";
import type { CodeSegment } from "../model/program.ts";

/** Everything that a run depends on, except its deliveries. Plain data. */
export interface RunHeader {
  /** Version of Skillgate that began the run. */
  readonly version: string;
  /** The text that the model wrote. */
  readonly source: string;
  readonly program: {
    readonly code: string;
    readonly paths: readonly string[];
    readonly readOnly: readonly string[];
    readonly waits: readonly number[];
    readonly segments: readonly CodeSegment[];
  };
  /** Remarks of the check. */
  readonly notes: readonly string[];
  /** Eight bytes, base64. */
  readonly seed: string;
  /** The guest's clock at the start, in milliseconds since 1970. */
  readonly time: number;
  readonly caller: Caller;
  readonly limits: Limits;
  /** Digests of the definitions of the methods that the program can call, by path. */
  readonly methods: Readonly<Record<string, string>>;
  /** Keys of the values that skills take from the request of the run, by skill. Only the process of the run can compare them. */
  readonly requestKeys?: Readonly<Record<string, string>>;
  /** The ids of the connections that the methods of the program used when the run began, by the names of their accounts. */
  readonly accounts?: Readonly<Record<string, string>>;
  /** Calls that have an effect need an approval, whatever the policy says. */
  readonly asksForEffects?: boolean;
  /** The value that the program gets from `device.input()`; absent for a run without an input. */
  readonly input?: unknown;
  /** True if that value is from elsewhere. */
  readonly isForeignInput?: boolean;
  /** The automation that the run belongs to. */
  readonly automation?: string;
  /** The run that this one continues. */
  readonly continues?: string;
  /** Numbers of calls of that run that may be made again, and that count as made. */
  readonly again?: readonly number[];
  readonly reuse?: readonly number[];
}

/** An outcome as it is stored; `value` is JSON for `decodeFromGuest`. */
export type StoredOutcome = Omit<Outcome, "value"> & {
  readonly value?: { readonly json: string; readonly tagged: boolean };
};
