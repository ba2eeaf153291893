import type { ErrorCode } from "../errors.ts";

/** A position in the text as the model wrote it. Lines count from 1, columns from 0 (UTF-16 units). */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One reason why a program was refused. */
export interface Violation extends Position {
  readonly code: ErrorCode;
  readonly message: string;
  readonly endLine: number;
  readonly endColumn: number;
  /** The lines around it, with a caret under the place. */
  readonly frame: string;
  /** The code or text to write instead. */
  readonly fix: string;
  /** The nearest names, best first. */
  readonly suggestions: readonly string[];
}

/** An error that ended a run. `line` is 0 if the error has no position in the program. */
export interface GuestError extends Position {
  readonly name: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly frame: string;
  readonly hint: string;
  /**
   * The error that a skill threw, with its stack, or that a server or the store reported, with its paths: for the program that
   * owns the runtime. It is not enumerable.
   */
  readonly cause?: Error;
  readonly skill?: string;
  readonly method?: string;
  readonly server?: string;
}

export interface CallRecord {
  readonly id: number;
  readonly skill: string;
  readonly method: string;
  readonly outcome: "ok" | "error" | "refused" | "unfinished";
  readonly durationMs: number;
  /** How often the server or skill was called, as a read is again after a transient failure; absent for once. */
  readonly attempts?: number;
  /** SHA-256 of the canonical JSON of the arguments, hexadecimal, first 16 digits. */
  readonly argumentsDigest: string;
}

export interface Usage {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly memoryBytes: number;
  readonly calls: number;
}

/** The result of a run. Mistakes of the program are values of this type; faults of the host are thrown. */
export type Outcome =
  | {
      readonly kind: "completed";
      readonly runId: string;
      /** Plain data, with dates and bytes. */
      readonly value: unknown;
      readonly output: string;
      readonly text: string;
      readonly notes: readonly string[];
      readonly calls: readonly CallRecord[];
      readonly usage: Usage;
    }
  | {
      readonly kind: "refused";
      readonly runId: string;
      readonly violations: readonly Violation[];
      readonly text: string;
      /** The run that the program corrects. */
      readonly continue?: string;
    }
  | {
      readonly kind: "failed";
      readonly runId: string;
      readonly error: GuestError;
      readonly output: string;
      readonly text: string;
      /** The run that a corrected program continues; missing if no call had an effect. */
      readonly continue?: string;
      readonly notes: readonly string[];
      readonly calls: readonly CallRecord[];
      readonly usage: Usage;
    }
  | {
      /** The run waits for answers of persons; `resume` returns the outcome of a later time. */
      readonly kind: "waiting";
      readonly runId: string;
      /** Ids of the questions that it waits for. */
      readonly approvals: readonly string[];
      readonly text: string;
    };
