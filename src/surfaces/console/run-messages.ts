// The JSON of runs, approvals and the playground. Times are in milliseconds since 1970, durations in milliseconds.

import type { ApprovalScope } from "../../model/approval.ts";
import type { CallRecord, Outcome, Position, Violation } from "../../model/outcome.ts";
import type { ProblemDetails } from "./messages.ts";

export type RecordedRunState = "running" | "waiting" | "completed" | "failed" | "cancelled" | "unknown";

export const RECORDED_RUN_STATES: readonly RecordedRunState[] = [
  "running",
  "waiting",
  "completed",
  "failed",
  "cancelled",
  "unknown",
];

/** A recorded run in lists. */
export interface RecordedRunSummary {
  readonly id: string;
  readonly caller: string;
  readonly state: RecordedRunState;
  /** The first line of the program. */
  readonly title: string;
  readonly created: number;
  readonly updated: number;
  readonly ended: number | null;
  /** The run that this one continues. */
  readonly continues: string | null;
  readonly calls: number;
  /** Calls that may have had an effect. */
  readonly effects: number;
  /** True if a process executes the program. */
  readonly isOpen: boolean;
}

/** A part of a long list. */
export interface RowPage<Row> {
  readonly rows: readonly Row[];
  /** The number of rows of the whole list. */
  readonly total: number;
}

/** A call of a recorded run. Times are in milliseconds since the run began. */
export interface RecordedCall {
  readonly id: number;
  readonly path: string;
  /** The line of the call in the source; missing if several lines may have made it. */
  readonly line?: number;
  /** JSON of the list of arguments, or its digest. */
  readonly arguments: string;
  readonly isEffect: boolean;
  readonly end: "ok" | "error" | "refused" | "unfinished";
  readonly from: number;
  readonly to?: number;
  readonly waits: readonly { readonly from: number; readonly to?: number; readonly approval: string }[];
  /** The answer as JSON; cut if it is long. */
  readonly answer: string | null;
  readonly notes: readonly string[];
}

export interface RecordedRunDetail extends RecordedRunSummary {
  readonly version: string;
  readonly source: string;
  readonly timeline: readonly RecordedCall[];
  /** Remarks of the check. */
  readonly notes: readonly string[];
  readonly outcome: Outcome | null;
  /** True for a failed run that a corrected program can continue. */
  readonly canContinue: boolean;
  /** True for the caller of the run, and for administrators. */
  readonly mayChange: boolean;
  /** True for a run that worked, for an administrator of a server with a project. */
  readonly maySave: boolean;
}

/** A saved skill that was saved. */
export interface SavedSkillFacts {
  /** `Skill.method` */
  readonly path: string;
  /** The names of its parameters. */
  readonly parameters: readonly string[];
  /** Relative to the project. */
  readonly file: string;
}

/** A difference between two runs. */
export interface RunDifferenceSummary {
  readonly call?: number;
  readonly path?: string;
  readonly part: string;
  readonly first: string;
  readonly second: string;
}

export interface RunComparison {
  readonly first: RecordedRunSummary;
  readonly second: RecordedRunSummary;
  readonly differences: readonly RunDifferenceSummary[];
}

/** A question whether a call may be made. */
export interface ApprovalSummary {
  readonly id: string;
  readonly runId: string;
  readonly caller: string;
  readonly path: string;
  readonly description: string;
  readonly marks: readonly string[];
  readonly approver: "user" | "admin";
  readonly arguments: unknown;
  readonly plan: readonly PlannedCallSummary[];
  /** Sentences that say which methods the arguments came from. */
  readonly provenance: readonly string[];
  readonly scopes: readonly ApprovalScope[];
  readonly state: "pending" | "approved" | "denied" | "expired" | "cancelled" | "orphaned";
  readonly scope: ApprovalScope | null;
  readonly created: number;
  readonly expires: number;
  readonly answeredBy: string | null;
  readonly answeredAt: number | null;
  /** True if a call waits; otherwise a yes counts for the next call with the same arguments. */
  readonly isWaiting: boolean;
  /** The question as text. */
  readonly card: string;
}

export interface PlannedCallSummary {
  readonly line: number;
  readonly text: string;
  readonly inLoop: boolean;
  readonly conditional: boolean;
  readonly isLiteral: boolean;
}

/** Candidates that may replace the end of the code before the cursor. */
export interface Completions {
  readonly candidates: readonly { readonly label: string; readonly detail: string }[];
  /** The number of UTF-16 units before the cursor that a candidate replaces. */
  readonly length: number;
}

/** A place of the program that calls a method. */
export interface PlannedSite extends Position {
  readonly path: string;
  readonly endLine: number;
  readonly endColumn: number;
  /** The arguments as code, as far as they are literal. */
  readonly text: string;
  readonly inLoop: boolean;
  readonly conditional: boolean;
  readonly parallel: boolean;
  readonly dynamic: boolean;
}

export interface ProgramCheck {
  readonly violations: readonly Violation[];
  readonly plan: readonly PlannedSite[];
  readonly notes: readonly string[];
}

/** A line of the answer to a run. */
export type RunLine =
  /** The program has passed its check. */
  | { readonly kind: "start"; readonly runId: string }
  | { readonly kind: "call-start"; readonly id: number; readonly path: string }
  | { readonly kind: "call-end"; readonly call: CallRecord }
  | {
      readonly kind: "progress";
      readonly path: string;
      readonly done: number;
      readonly total?: number;
      readonly text?: string;
    }
  | { readonly kind: "log"; readonly path: string; readonly level: string; readonly text: string }
  | { readonly kind: "output"; readonly text: string }
  /** A question was asked, or closed. */
  | { readonly kind: "approval"; readonly approval: ApprovalSummary }
  | { readonly kind: "outcome"; readonly outcome: Outcome }
  | { readonly kind: "problem"; readonly problem: ProblemDetails };
