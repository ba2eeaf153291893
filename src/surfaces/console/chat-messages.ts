// The JSON of the chat.

import type { AgentEvent } from "../../agent/events.ts";
import type { ProblemDetails } from "./messages.ts";
import type { ApprovalSummary } from "./run-messages.ts";

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
}
