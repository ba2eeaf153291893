import { ERRORS, type ErrorCode, SkillgateError } from "../errors.ts";
import type { Caller } from "../model/caller.ts";
import { isRecord, isTextList, type JsonSchema } from "../model/json.ts";
import type { Limits } from "../model/limits.ts";
import type { StoredOutcome } from "../runs/index.ts";
import { parseVersion, type RuntimeVersion } from "./version.ts";

/** The longest message between a front and an executor in bytes: it holds a result that is kept, and one at hand. */
export const MAX_BYTES = 96 * 1024 * 1024;

/** An event that an executor sends while it has a job. */
export type JobEvent =
  | { readonly kind: "event"; readonly event: readonly unknown[] }
  | { readonly kind: "question"; readonly id: number; readonly question: Readonly<Record<string, unknown>> }
  | { readonly kind: "closeQuestion"; readonly id: number };

/** Something that an executor does for a front. */
export type Job =
  | {
      readonly kind: "run";
      readonly runId: string;
      readonly source: string;
      readonly caller: Caller;
      readonly limits?: Partial<Limits>;
      readonly continue?: string;
      readonly again?: readonly number[];
      readonly reuse?: readonly number[];
      readonly asksForEffects?: boolean;
      readonly input?: unknown;
      readonly inputSchema?: JsonSchema;
      readonly isForeignInput?: boolean;
      readonly automation?: string;
      readonly asks: Asks;
      /** The name of a result that a later program can use. */
      readonly handle: string;
    }
  | {
      readonly kind: "resume";
      readonly runId: string;
      readonly caller: Caller;
      readonly acceptsChanges: boolean;
      readonly asks: Asks;
      readonly handle: string;
    };

/** The events that the front wants to hear, and the questions that it answers, while a run lasts. */
export interface Asks {
  /** Names of events. */
  readonly events: readonly string[];
  readonly approve: boolean;
  /** Requests to the client, by their MCP names. */
  readonly client: readonly string[];
}

/** A result that the executor gives to the front, which keeps it for the caller. */
export interface ReturnedResults {
  readonly texts: readonly string[];
  readonly handled?: { readonly json: string; readonly tagged: boolean; readonly summary: string };
}

/** How a job ended. `left`: the run was left to other executors. */
export type JobResult =
  | (ReturnedResults & { readonly outcome: StoredOutcome })
  | { readonly error: { readonly code?: string; readonly message: string; readonly facts?: unknown } }
  | { readonly left: true };

/** The facts that an executor reports about itself. */
export interface ExecutorFacts {
  /** The name of the process, as claims on runs have it. */
  readonly process: string;
  readonly version: RuntimeVersion;
  /** False while it finishes its runs. */
  readonly isTaking: boolean;
}

/** Parses what an executor says about itself; `undefined` if it is not valid. */
export function parseFacts(value: unknown): ExecutorFacts | undefined {
  const { process, version: text, isTaking } = isRecord(value) ? value : {};
  const version = parseVersion(text);
  if (version === undefined || typeof process !== "string" || process.length > 500) return undefined;
  return { process, version, isTaking: isTaking === true };
}

/** Parses a job; `undefined` if it is not valid. Its sender is trusted as far as its key says. */
export function parseJob(value: unknown): Job | undefined {
  if (!isRecord(value) || !isText(value["runId"], 200) || !isCaller(value["caller"]) || !isAsks(value["asks"]))
    return undefined;
  if (!isText(value["handle"], 40)) return undefined;
  if (value["kind"] === "resume") return typeof value["acceptsChanges"] === "boolean" ? (value as Job) : undefined;
  const { kind, source, limits, continue: run, again, reuse } = value;
  const { asksForEffects, inputSchema, isForeignInput, automation } = value;
  const isValid =
    kind === "run" &&
    typeof source === "string" &&
    (limits === undefined || isRecord(limits)) &&
    (run === undefined || isText(run, 200)) &&
    [asksForEffects, isForeignInput].every((flag) => flag === undefined || typeof flag === "boolean") &&
    (inputSchema === undefined || isRecord(inputSchema)) &&
    (automation === undefined || isText(automation, 200)) &&
    [again, reuse].every((list) => list === undefined || (Array.isArray(list) && list.every(Number.isInteger)));
  return isValid ? (value as Job) : undefined;
}

/** Parses the end of a job. */
export function parseResult(value: unknown): JobResult | undefined {
  if (!isRecord(value)) return undefined;
  const { outcome, texts, handled, error, left } = value;
  if (left === true) return { left };
  if (isRecord(error)) return typeof error["message"] === "string" ? (value as JobResult) : undefined;
  const isValid =
    isRecord(outcome) &&
    isText(outcome["kind"], 20) &&
    isText(outcome["runId"], 200) &&
    typeof outcome["text"] === "string" &&
    isTextList(texts) &&
    (handled === undefined || (isRecord(handled) && typeof handled["json"] === "string"));
  return isValid ? (value as JobResult) : undefined;
}

/** Restores an error that an executor reported. */
export function restoreError({ code, message, facts }: Extract<JobResult, { error: unknown }>["error"]): Error {
  if (code === undefined || !Object.hasOwn(ERRORS, code)) return new Error(message);
  return new SkillgateError(code as ErrorCode, message, isRecord(facts) ? facts : {});
}

function isCaller(value: unknown): boolean {
  return isRecord(value) && isText(value["id"], 512) && isTextList(value["permissions"]);
}

function isAsks(value: unknown): boolean {
  if (!isRecord(value)) return false;
  return isTextList(value["events"]) && typeof value["approve"] === "boolean" && isTextList(value["client"]);
}

function isText(value: unknown, maxUnits: number): boolean {
  return typeof value === "string" && value !== "" && value.length <= maxUnits;
}
