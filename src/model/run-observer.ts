import type { Client } from "./client-requests.ts";
import type { CallRecord } from "./outcome.ts";
import type { CallContext } from "./skill.ts";

/** What is known of an answer besides its value. */
export interface AnswerFacts {
  readonly cached: boolean;
  /** What the caller should know although the call went well. */
  readonly notes: readonly string[];
}

/** Whoever follows a run or a call while it is under way. It is told; nothing waits for it, except what it is asked. */
export interface RunObserver {
  /** A call has begun. */
  readonly onCallStart?: (path: string) => void;
  /** A call has ended, in whatever way. */
  readonly onCallEnd?: (record: CallRecord) => void;
  /** A program has printed something, while it goes on. */
  readonly onOutput?: (text: string) => void;
  readonly log?: (path: string, ...words: Parameters<CallContext["log"]>) => void;
  readonly progress?: (path: string, ...steps: Parameters<CallContext["progress"]>) => void;
  /** Gets the result of an MCP server as it was on the wire, for who passes it on whole. */
  readonly wire?: (result: unknown) => void;
  /** A single call, outside of a run, has its answer. */
  readonly answered?: (facts: AnswerFacts) => void;
  /** Who can answer for the user while methods run. */
  readonly client?: Client;
}

/** As a result object has them (X5, X7). */
export function shownFacts({ cached, notes }: AnswerFacts): { cached?: true; notes?: readonly string[] } {
  return { ...(cached && { cached }), ...(notes.length > 0 && { notes }) };
}
