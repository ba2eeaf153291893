import { ERRORS, type ErrorCode, SkillgateError } from "../errors.ts";
import type { Caller } from "../model/caller.ts";
import { isRecord, isTextList } from "../model/json.ts";
import type { Limits } from "../model/limits.ts";
import type { StoredOutcome } from "../runs/index.ts";
import { parseVersion, type RuntimeVersion } from "./version.ts";

/** The name of the service of each executor in the NATS services API. */
export const SERVICE_NAME = "skillgate-executor";

/** Executors say here that they have come, changed or gone. */
export const EXECUTOR_NEWS = "skillgate.executors.here";

/** Fronts say here that they have come or changed. */
export const FRONT_NEWS = "skillgate.executors.front";

/** The queue group of the executors with one version. */
export const QUEUE = "executors";

/** The subject on which runs are offered to the executors with one version. */
export function getOfferSubject(token: string): string {
  return `skillgate.executors.offer.${token}`;
}

/** The subject on which one executor receives runs, answers and cancellations. */
export function getExecutorSubject({ device, id }: { readonly device: string; readonly id: string }): string {
  return `skillgate.executor.${device}.${id}`;
}

/** The longest message between a front and an executor in bytes: it holds a result that is kept, and one at hand. */
export const MAX_BYTES = 96 * 1024 * 1024;

/** The kinds of messages from a front to an executor. */
export type CommandKind = "job" | "answer" | "cancel" | "closeQuestion";

/** The kinds of replies of an executor. `take` and `busy` answer an offer. `left`: the run was left to other executors. */
export type JobReplyKind = "take" | "busy" | "event" | "question" | "closeQuestion" | "result" | "left";

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

/** How a job ended. */
export type JobResult =
  | (ReturnedResults & { readonly outcome: StoredOutcome })
  | { readonly error: { readonly code?: string; readonly message: string; readonly facts?: unknown } };

/** The facts that an executor announces about itself. */
export interface ExecutorNews {
  readonly kind: "here" | "gone";
  readonly id: string;
  readonly device: string;
  /** The name of the process, as claims on runs have it. */
  readonly process: string;
  readonly version: RuntimeVersion;
}

/** Parses an announcement; `undefined` if it is not valid. */
export function parseNews(value: unknown): ExecutorNews | undefined {
  const { kind, id, device, process, version: text } = isRecord(value) ? value : {};
  const version = parseVersion(text);
  if ((kind !== "here" && kind !== "gone") || version === undefined) return undefined;
  if (typeof id !== "string" || !/^[A-Za-z0-9]{10,40}$/.test(id)) return undefined;
  if (typeof device !== "string" || !/^[a-z0-9_]{1,100}$/.test(device)) return undefined;
  return typeof process === "string" && process.length <= 500 ? { kind, id, device, process, version } : undefined;
}

/** Parses a job; `undefined` if it is not valid. Its sender is trusted as far as its signature says. */
export function parseJob(value: unknown): Job | undefined {
  if (!isRecord(value) || !isText(value["runId"], 200) || !isCaller(value["caller"]) || !isAsks(value["asks"]))
    return undefined;
  if (!isText(value["handle"], 40)) return undefined;
  if (value["kind"] === "resume") return typeof value["acceptsChanges"] === "boolean" ? (value as Job) : undefined;
  const { kind, source, limits, continue: run, again, reuse } = value;
  const isValid =
    kind === "run" &&
    typeof source === "string" &&
    (limits === undefined || isRecord(limits)) &&
    (run === undefined || isText(run, 200)) &&
    [again, reuse].every((list) => list === undefined || (Array.isArray(list) && list.every(Number.isInteger)));
  return isValid ? (value as Job) : undefined;
}

/** Parses the end of a job. */
export function parseResult(value: unknown): JobResult | undefined {
  if (!isRecord(value)) return undefined;
  const { outcome, texts, handled, error } = value;
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
  return isRecord(value) && isText(value["id"], 512) && isTextList(value["grants"]);
}

function isAsks(value: unknown): boolean {
  if (!isRecord(value)) return false;
  return isTextList(value["events"]) && typeof value["approve"] === "boolean" && isTextList(value["client"]);
}

function isText(value: unknown, maxUnits: number): boolean {
  return typeof value === "string" && value !== "" && value.length <= maxUnits;
}
