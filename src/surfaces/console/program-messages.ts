// The JSON of programs that the server sends to the pages of the console: their runs, the questions of their calls, and chats.

import type { AgentEvent } from "../../agent/events.ts";
import type { TokenPrice } from "../../agent/index.ts";
import type { Approval, ListedApproval } from "../../approvals/index.ts";
import type { CallRecord, Outcome, Violation } from "../../model/outcome.ts";
import type { CallSite } from "../../model/plan.ts";
import type { RunDifference, TimelineCall } from "../../runs/index.ts";
import type { RecordedRunFacts, RefusalGroup, RefusalReport, RunNeighbours } from "../../runtime.ts";
import type { RunOrder, RunStatus } from "../../store/index.ts";
import type { LogLine, ProblemDetails } from "./messages.ts";

export const RECORDED_RUN_STATES: readonly RunStatus[] = [
  "refused",
  "running",
  "waiting",
  "completed",
  "failed",
  "cancelled",
  "unknown",
];

/** The columns by which the list of runs can be sorted. */
export const RUN_SORT_COLUMNS: readonly RunOrder[] = ["created", "duration", "calls", "caller", "state"];

export type RecordedRunSummary = RecordedRunFacts;
export type { RunNeighbours };

export type { RefusalGroup, RefusalReport };

/** A part of a long list. */
export interface RowPage<Row> {
  readonly rows: readonly Row[];
  /** The number of rows of the whole list. */
  readonly total: number;
}

/** A call of a recorded run. */
export interface RecordedCall extends TimelineCall {
  /** The answer as JSON; cut if it is long. */
  readonly answer: string | null;
  readonly notes: readonly string[];
}

export interface RecordedRunDetail extends RecordedRunSummary {
  /** True if the run names methods that the caller may not see: program, calls and outcome are left out. */
  readonly isHidden: boolean;
  readonly version: string;
  readonly source: string;
  readonly timeline: readonly RecordedCall[];
  /** Remarks of the check. */
  readonly notes: readonly string[];
  /** Lines of the log that its methods have written since the start of the server, for administrators. */
  readonly log: readonly LogLine[];
  readonly outcome: Outcome | null;
  /** True for a failed run that a corrected program can continue. */
  readonly canContinue: boolean;
  /** True for the caller of the run, and for those who manage runs. */
  readonly mayChange: boolean;
  /** True for a run that worked, for those who manage servers, at a server with a project. */
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

export interface RunComparison {
  readonly differences: readonly RunDifference[];
}

/** A question whether a call may be made. */
export interface ApprovalSummary extends Omit<Approval, "closedAt" | "digest" | "plan" | "provenance" | "usedAt"> {
  readonly plan: readonly {
    readonly line: number;
    readonly text: string;
    readonly inLoop: boolean;
    readonly conditional: boolean;
  }[];
  /** Sentences that say which methods the arguments came from. */
  readonly provenance: readonly string[];
}

/** Questions without an answer, the oldest first, and the newest of those that were closed. */
export interface ApprovalLists {
  readonly pending: readonly ListedApproval[];
  readonly closed: readonly ListedApproval[];
}

/** Candidates that may replace the end of the code before the cursor. */
export interface Completions {
  readonly candidates: readonly { readonly label: string; readonly detail: string }[];
  /** The number of UTF-16 units before the cursor that a candidate replaces. */
  readonly length: number;
}

/** A place of the program that calls a method. */
export interface PlannedSite extends Omit<CallSite, "literalArguments"> {
  /** The arguments as code, as far as they are literal. */
  readonly text: string;
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
  /** `type` is the type of the value as TypeScript; empty without a value. */
  | { readonly kind: "outcome"; readonly outcome: Outcome; readonly type?: string }
  | { readonly kind: "problem"; readonly problem: ProblemDetails };

/** An event of the agent as a browser gets it; results have no outcome, whose value may be of any size. */
export type ChatEvent = AgentEvent extends infer Event
  ? Event extends { readonly type: "result" }
    ? Omit<Event, "outcome">
    : Event
  : never;

/** A part of a conversation. Numbers grow, and have gaps where a part was replaced by a later one. */
export type ChatEntry = { readonly id: number } & (
  | { readonly kind: "event"; readonly event: ChatEvent }
  /** A call waits for an answer, or has got one. */
  | { readonly kind: "approval"; readonly approval: ApprovalSummary }
  | { readonly kind: "problem"; readonly problem: ProblemDetails }
);

/** A line of the answer to `GET /chat` and `POST /chat`. `state` is the first and the last. */
export type ChatLine =
  | ChatEntry
  | {
      readonly kind: "state";
      readonly isRunning: boolean;
      /** Names the conversation; another one begins with an empty page. */
      readonly conversation: string;
    };

/** The model and the budgets of the next message. */
export interface ChatInfo {
  /** `provider:name`; `null` without a model. */
  readonly model: string | null;
  /** The reason why there is no model, and how to get one. */
  readonly problem: ProblemDetails | null;
  readonly budgets: readonly { readonly name: string; readonly limit: number }[];
  /** The price of a million tokens, in the currency of the owner; `null` if the settings have none. */
  readonly price: TokenPrice | null;
}
