import type { Cancellable } from "../../sandbox/index.ts";
import type { FindAccount } from "../model/account.ts";
import type { Approve, RecordedRun, RunApprovals } from "../model/approval.ts";
import { argumentsMessage, bindArguments } from "../model/arguments.ts";
import type { Caller } from "../model/caller.ts";
import type { Method, Skill } from "../model/catalog.ts";
import type { MethodRule, Policy } from "../model/policy.ts";
import type { CallSite } from "../model/plan.ts";
import type { CallContext } from "../model/skill.ts";
import type { Client } from "../model/client-requests.ts";
import type { RequestValues } from "../model/requests/request-values.ts";
import { createError, SkillgateError } from "../errors.ts";
import type { Validation, Validator } from "../validation/index.ts";
import type { TraceContext } from "../telemetry/index.ts";
import type { AuditEntry } from "./audit-log.ts";
import type { RequestUnit } from "./caller-limits.ts";
import { hashValue } from "../shared/digest.ts";
import { isSink, type KnownOrigin, type RunTexts } from "./provenance.ts";
import { type CheckedParts, combineRules, findQueryParts, listTargets, NO_PARTS } from "./query-parts.ts";
import { createRequestKey, findUsedAccounts, type UsedAccount } from "./used-accounts.ts";

/** A call in the record of a run. */
export interface RecordedPlace {
  readonly runId: string;
  readonly id: number;
}

/** A call of one method, as its run requests it. */
export interface Call {
  /** The number of the call within the run. */
  readonly id: number;
  readonly runId: string;
  /** The call of a recorded run whose saved program makes this one. */
  readonly within?: RecordedPlace;
  readonly caller: Caller;
  /** The automation that the run belongs to. */
  readonly automation?: string;
  readonly skill: Skill;
  /** The method in the catalog that the run sees. */
  readonly method: Method;
  /** The arguments as the guest passed them; plain data. */
  readonly args: readonly unknown[];
  /** True if the program that makes the call reads members of this name; absent for a call without a program. */
  readonly reads?: (name: string) => boolean;
  /** Cancelled when the run ends. */
  readonly cancellable: Cancellable;
  /** Returns the milliseconds that the run has left; absent for a call outside of a run. */
  readonly readTimeLeft?: () => number;
  /** Milliseconds until the timeout of the call, once it is set. */
  readonly timeoutMs?: number;
  readonly log: CallContext["log"];
  readonly progress: CallContext["progress"];
  /** Receives the stack of an error that a skill threw, for the log of the owner; a caller never sees it. */
  readonly onSkillError?: (stack: string) => void;
  /** The client that the method can send requests to while it runs. */
  readonly client?: Client;
  /** The headers and session values of the caller's request; absent for a call that belongs to none. */
  readonly requestValues?: RequestValues;
  readonly onRawResult?: (result: unknown) => void;
  readonly deferSkills?: CallContext["deferSkills"];
  readonly task?: CallContext["task"];
  /** Asks the person at the program that makes the call for its approval; with `false` the call does not wait for a person. */
  readonly approve?: Approve | false;
  /** The call needs an approval if it has an effect, whatever the policy says. */
  readonly asksForEffects?: boolean;
  /** Calls of the run that were approved together with an earlier one; absent for a call outside of a run. */
  readonly approvedInRun?: RunApprovals;
  /** The record of the run, if it has one. */
  readonly recorded?: RecordedRun;
  /** Receives the connections that the call uses. Throws if it must not use them. */
  readonly onAccounts?: (accounts: readonly UsedAccount[]) => void;
  /**
   * Is called just before the provider; the call waits for a promise that it returns. `isElsewhere`: another process may make a request
   * of the call, and looks for it in the record of the run.
   */
  readonly onBegin?: (argumentsDigest: string, isElsewhere: boolean) => Promise<void> | undefined;
  /** The unit of the limits of the caller that the run has counted; absent for a call outside of a run. */
  readonly requestUnit?: RequestUnit;
  /** Returns the calls that the program contains; absent for a call without a program. */
  readonly getPlannedCalls?: () => readonly CallInPlan[];
  /** The texts of the run so far, if they are recorded. */
  readonly resultTexts?: RunTexts;
  /** The place in a trace at which the call begins; by default the active span. */
  readonly trace?: TraceContext | undefined;
  /** The ids of the connections for which another process has decided on the call. */
  readonly decidedFor?: readonly string[];
  /** Receives remarks for the caller about a call that succeeded. */
  readonly addNote: (text: string) => void;
  /** Receives the record of the call when it has ended, whatever the outcome. */
  readonly onEnded: (entry: AuditEntry) => void;
  /** Waits for an answer from a user or client; the wait does not count towards the timeout of the method. */
  readonly pauseTimeoutFor?: CallContext["pauseTimeoutFor"];
}

/** A call in the text of a program, with its method if the catalog has it. */
export interface CallInPlan {
  readonly site: CallSite;
  readonly method: Method | undefined;
}

/** Lets another process make a call that this one has decided on, because the credentials are there. */
export type CallElsewhere = (call: GuardedCall, input: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** Runs a call. Resolves to the result of the method; rejects with a `SkillgateError` for every refusal and failure. */
export type Route = (call: Call) => Promise<unknown>;

/** A call inside the guards. Values that depend on its arguments are computed on first use. */
export interface GuardedCall extends Call, CheckedParts {
  /** The policy as it was when the call began, and its rule for the method: the strictest of its parts, if it has some. */
  readonly policy: Policy;
  readonly rule: MethodRule;
  /** Counts how often the provider was called; `mayHaveAsked` is true once it may have asked the client something. */
  readonly attempts: { count: number; mayHaveAsked: boolean };
  /** The arguments by name, validated, with defaults. */
  readonly validation: () => Validation;
  /** Digest of the validated input; digest of the raw arguments if they are invalid. */
  readonly argumentsDigest: () => string;
  /** The connections that the call uses; throws if its caller has not connected an account. */
  readonly accounts: () => readonly UsedAccount[];
  /** Key of the values that the skill takes from the request, and of the connections; throws if one is missing. */
  readonly requestKey: () => string | undefined;
  /** The parts of the arguments that came out of other methods, if the method is a sink. */
  readonly origins: () => readonly KnownOrigin[];
}

export interface CallAnswer {
  readonly value: unknown;
  readonly cached: boolean;
}

/**
 * A stage of the router. Throws a `SkillgateError`, or rejects with one, when the call is refused or fails.
 * Stages that only inspect the call pass it on synchronously.
 */
export type Handler = (call: GuardedCall) => Promise<CallAnswer>;

/** Wraps the inner stages. */
export type Guard = (next: Handler) => Handler;

interface GuardParts {
  readonly policy: Policy;
  readonly validator: Validator;
  readonly findAccount: FindAccount;
}

/** Prepares a call for the guards. A call with a query waits until its text is checked. */
export function guardedCall(call: Call, context: GuardParts): GuardedCall | Promise<GuardedCall> {
  const validation = once(() => validateCall(call, context.validator));
  if (call.method.definition.queryText === undefined) return withParts(call, NO_PARTS, validation, context);
  return findQueryParts(call, validation(), context.policy).then((parts) =>
    withParts(call, parts, validation, context),
  );
}

function withParts(
  call: Call,
  checked: CheckedParts,
  validation: GuardedCall["validation"],
  { policy, findAccount }: GuardParts,
): GuardedCall {
  const argumentsDigest = once(() => {
    const bound = validation();
    return hashValue(bound.kind === "valid" ? bound.input : call.args);
  });
  const origins = once(() => {
    if (call.resultTexts === undefined) return [];
    const targets = listTargets({ method: call.method, ...checked });
    if (!targets.some((target) => isSink(target, policy))) return [];
    const bound = validation();
    const found = bound.kind === "valid" ? call.resultTexts.find(bound.input) : [];
    return found.map(({ argument, source }) => ({ argument, from: source.path, method: source }));
  });
  const accounts = once(() => findUsedAccounts(call.method, call.caller, findAccount));
  const requestKey = once(() => createRequestKey(call.skill.provided.getRequestKey?.(call.requestValues), accounts()));
  const own = policy.getRule(call.method);
  const rule = combineRules(own, checked.parts);
  const attempts = { count: 1, mayHaveAsked: false };
  return { ...call, ...checked, policy, rule, attempts, validation, argumentsDigest, accounts, requestKey, origins };
}

/** Returns the validated arguments by name; throws if the arguments are invalid. */
export function requireInput({ method, validation }: GuardedCall): Record<string, unknown> {
  const checked = validation();
  if (checked.kind === "valid") return checked.input;
  if (checked.kind === "timed out")
    throw validationTimeout(method, `the arguments of ${method.path} take too long to check against its schema`);
  if (checked.kind === "quarantined")
    throw validationTimeout(method, `the arguments of ${method.path} ${checked.problems[0]?.reason}`);
  const message = argumentsMessage(method, checked.problems);
  throw new SkillgateError("ARGUMENTS_INVALID", message, { ...getMethodFacts(method), problems: checked.problems });
}

function validationTimeout(method: Method, values: string): SkillgateError {
  return createError("VALIDATION_TIMEOUT", values, getMethodFacts(method));
}

/** Returns the skill and the method for the facts of an error. */
export function getMethodFacts(method: Method): { readonly skill: string; readonly method: string } {
  return { skill: method.skill, method: method.name };
}

export function validateCall({ method, args }: Pick<Call, "method" | "args">, validator: Validator): Validation {
  const binding = bindArguments(method, args);
  return binding.kind === "unfit"
    ? { kind: "invalid", problems: binding.problems }
    : validator.validate(method, binding.input);
}

function once<Value>(make: () => Value): () => Value {
  let result: { readonly value: Value } | undefined;
  return () => (result ??= { value: make() }).value;
}

/** Waits for an answer while the timeout of the call is paused. */
export function pauseTimeout<Value>(
  { pauseTimeoutFor }: Pick<Call, "pauseTimeoutFor">,
  answer: Promise<Value>,
): Promise<Value> {
  return pauseTimeoutFor === undefined ? answer : pauseTimeoutFor(answer);
}
