import type { Method } from "./catalog.ts";
import type { Client } from "./client-requests.ts";
import type { CallRecord } from "./outcome.ts";
import type { RequestValues } from "./requests/request-values.ts";
import type { CallContext } from "./skill.ts";

/** Facts about an answer, in addition to its value. */
export interface AnswerFacts {
  readonly cached: boolean;
  /** Warnings about a call that succeeded. */
  readonly notes: readonly string[];
}

/** Receives the events of a run or a call while it lasts. The run waits only for answers of `client`. */
export interface RunObserver {
  /** A call has begun; `id` is that of its record. */
  readonly onCallStart?: (path: string, id: number) => void;
  /** A call has ended, in whatever way. */
  readonly onCallEnd?: (record: CallRecord) => void;
  /** The program has passed its check, and starts; the id is that of its outcome. */
  readonly onStart?: (runId: string) => void;
  /** A recorded run begins to wait for a person, or does not wait for any more. */
  readonly onWait?: (isWaiting: boolean) => void;
  /** A program that is still running has printed something. */
  readonly onOutput?: (text: string) => void;
  readonly log?: (path: string, ...words: Parameters<CallContext["log"]>) => void;
  readonly progress?: (path: string, ...steps: Parameters<CallContext["progress"]>) => void;
  /** Receives the result of an MCP server as it was on the wire, to pass it on unchanged. */
  readonly wire?: (result: unknown) => void;
  /** Returns a receiver of the result of a call of a program, as an MCP server sent it; `undefined` if it is not needed. */
  readonly getResultReceiver?: (method: Method) => ((result: unknown) => void) | undefined;
  /** Receives the function that says which listed skills the caller gets; without it, the caller gets all of them. */
  readonly deferSkills?: CallContext["deferSkills"];
  /** A single call, outside of a run, has its answer. */
  readonly answered?: (facts: AnswerFacts) => void;
  /** The client that can answer for the user while methods run. */
  readonly client?: Client;
  /** The headers and session values of the request, for MCP servers whose entries name them. They are never recorded. */
  readonly requestValues?: RequestValues;
}

/** Returns the facts as fields of a result object. */
export function shownFacts({ cached, notes }: AnswerFacts): { cached?: true; notes?: readonly string[] } {
  return { ...(cached && { cached }), ...(notes.length > 0 && { notes }) };
}
