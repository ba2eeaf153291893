import type { ErrorCode } from "../errors.ts";
import type { CallRecord, Outcome } from "../model/outcome.ts";
import type { ChatMessage } from "./messages.ts";

/**
 * An event of an agent. All events are plain data that JSON can represent. `step` names the program or the tool call that
 * an event belongs to; it is unique in the conversation.
 */
export type AgentEvent =
  /** A request to the model begins. Deltas of an earlier request without a `message` are void: it was cut off. */
  | { readonly type: "turn"; readonly turn: number; readonly model: string; readonly mode: ActiveMode }
  | { readonly type: "delta"; readonly channel: "text" | "thinking"; readonly text: string }
  /** The model has written a program; it was checked, and has not run yet. */
  | { readonly type: "code"; readonly step: string; readonly code: string }
  /** The calls that the program will make. They are empty for a program that will be refused. */
  | { readonly type: "plan"; readonly step: string; readonly calls: readonly PlannedStep[] }
  /** `call` counts the calls of the step. `path` is `Skill.method`, or the name of a built-in tool. */
  | { readonly type: "call_started"; readonly step: string; readonly call: number; readonly path: string }
  | {
      readonly type: "call_progress";
      readonly step: string;
      readonly path: string;
      /** In the unit of the method. */
      readonly done: number;
      readonly total?: number;
      readonly text?: string;
    }
  | {
      readonly type: "call_ended";
      readonly step: string;
      readonly call: number;
      readonly path: string;
      readonly outcome: CallRecord["outcome"];
      readonly durationMs: number;
    }
  /** A running program has printed something. */
  | { readonly type: "output"; readonly step: string; readonly text: string }
  /** A program or a tool call has ended. `text` is what the model reads; `outcome` is absent if no program ran. */
  | {
      readonly type: "result";
      readonly step: string;
      readonly name: string;
      readonly isError: boolean;
      readonly text: string;
      readonly outcome?: Outcome;
    }
  /** A program waits for a person. It has no result yet: `resume` of the agent continues the work after the answer. */
  | ({ readonly type: "waiting" } & WaitingRun)
  /** A message was added to the conversation. */
  | { readonly type: "message"; readonly message: ChatMessage }
  /** The tokens of one reply, and of all replies since `send`. */
  | { readonly type: "usage"; readonly reply: TokenUsage; readonly total: TokenUsage }
  | { readonly type: "notice"; readonly code: NoticeCode; readonly text: string; readonly waitMs?: number }
  | { readonly type: "error"; readonly error: AgentError }
  /** The last event of each `send`. */
  | AgentDone;

/** A run of a conversation that waits for a person. */
export interface WaitingRun {
  readonly step: string;
  readonly runId: string;
  /** Ids of the questions that it waits for. */
  readonly approvals: readonly string[];
}

export interface AgentDone {
  readonly type: "done";
  readonly reason: DoneReason;
  /** The budget that ended the work; only with the reason `budget`. */
  readonly budget?: BudgetName;
  /** The answer of the model; the text so far if it has not finished. */
  readonly text: string;
  readonly turns: number;
  /** Calls of methods. */
  readonly calls: number;
  readonly usage: TokenUsage;
  readonly durationMs: number;
}

/** How the model acts: with programs in fences, with three tools, or with one tool for each method. */
export type ActiveMode = "code" | "tools" | "native";

/** `auto` begins with tools, and changes to programs in fences where the model or its server does not call tools. */
export type AgentMode = "auto" | ActiveMode;

export type DoneReason = "answer" | "budget" | "error" | "cancelled" | "waiting";

export type BudgetName = "turns" | "seconds" | "tokens" | "calls";

export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A call in the plan of a program. */
export interface PlannedStep {
  readonly line: number;
  readonly path: string;
  /** The call as text, with `…` for what is known only at run time: `MailSkill.send("bob", …)`. */
  readonly text: string;
  readonly inLoop: boolean;
  readonly conditional: boolean;
  readonly parallel: boolean;
}

/**
 * `retry`: the request is repeated after `waitMs`. `mode`: the model acts in another way from now on. `repeated`: a program
 * or a call was made before. `empty`: a reply was empty; the model is asked again after the first one. `incomplete`: the answer ended at
 * its maximum length, or by a filter of the server. `context`: old messages were shortened.
 * `budget`: a budget is used up; the model is asked for its answer if there is time. `cut`: the reply was cut off behind a program.
 * `fence`: a block without the word of the conversation was not run, and the model reads how to write it. `quote`: a program occurs in a
 * result, so its calls with an effect need an approval.
 */
export type NoticeCode =
  | "retry"
  | "mode"
  | "repeated"
  | "empty"
  | "incomplete"
  | "context"
  | "budget"
  | "cut"
  | "skipped"
  | "fence"
  | "quote";

export interface AgentError {
  readonly code: ErrorCode;
  /** The whole sentence. */
  readonly message: string;
  /** How to fix it. */
  readonly fix: string;
}
