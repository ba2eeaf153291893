import type { Cancellable } from "../../sandbox/index.ts";
import { argumentsMessage, bindArguments } from "../model/arguments.ts";
import type { Caller } from "../model/caller.ts";
import type { Method, Skill } from "../model/catalog.ts";
import type { CallContext } from "../model/skill.ts";
import type { Client } from "../model/client-requests.ts";
import { sentence, SkillgateError } from "../errors.ts";
import type { Validation, Validator } from "../validation/index.ts";
import type { AuditEntry } from "./audit-log.ts";
import { hashValue } from "./digest.ts";
import type { Approve } from "./guards/approval.ts";

/** One call of a method, as its run asks for it. */
export interface Call {
  /** Counts the calls of the run. */
  readonly id: number;
  readonly runId: string;
  readonly caller: Caller;
  readonly skill: Skill;
  /** From the catalog that the run sees. */
  readonly method: Method;
  /** As the guest wrote them; plain data. */
  readonly args: readonly unknown[];
  /** Called off when the run ends. */
  readonly cancellable: Cancellable;
  readonly log: CallContext["log"];
  readonly progress: CallContext["progress"];
  /** Who can be asked while the method runs. */
  readonly client?: Client;
  readonly wire?: (result: unknown) => void;
  /** Approves this call in place of the router's own `approve`. */
  readonly approve?: Approve;
  /** Gets what the caller should know although the call went well. */
  readonly addNote: (text: string) => void;
  /** Gets the record of the call when it has ended, in whatever way. */
  readonly ended: (entry: AuditEntry) => void;
  /** Waits for somebody's answer, in time that is not the method's. */
  readonly patiently?: CallContext["patiently"];
}

/** The way of a call: what its method returned, or a `SkillgateError` for every refusal and failure. */
export type Route = (call: Call) => Promise<unknown>;

/** A call on its way through the guards. What follows from its arguments is worked out when first asked for. */
export interface GuardedCall extends Call {
  /** The arguments by name, validated, with defaults. */
  readonly validation: () => Validation;
  /** Of the validated input; of the arguments as they came if they are not valid. */
  readonly argumentsDigest: () => string;
}

export interface CallAnswer {
  readonly value: unknown;
  readonly cached: boolean;
}

/**
 * One stage on the way of a call; throws a `SkillgateError`, or rejects with one, to refuse it or to say how it failed.
 * Those that only look at the call pass it on in the same moment.
 */
export type Handler = (call: GuardedCall) => Promise<CallAnswer>;

/** Wraps the stages further in. */
export type Guard = (next: Handler) => Handler;

export function guardedCall(call: Call, validator: Validator): GuardedCall {
  const validation = once(() => validateCall(call, validator));
  const argumentsDigest = once(() => {
    const checked = validation();
    return hashValue(checked.kind === "valid" ? checked.input : call.args);
  });
  return { ...call, validation, argumentsDigest };
}

/** The validated arguments by name; refuses the call if there are none. */
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
  return new SkillgateError("VALIDATION_TIMEOUT", sentence("VALIDATION_TIMEOUT", values), getMethodFacts(method));
}

/** What an error tells about the method that it is about. */
export function getMethodFacts(method: Method): { readonly skill: string; readonly method: string } {
  return { skill: method.skill, method: method.name };
}

function validateCall({ method, args }: Call, validator: Validator): Validation {
  const binding = bindArguments(method, args);
  return binding.kind === "unfit"
    ? { kind: "invalid", problems: binding.problems }
    : validator.validate(method, binding.input);
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Somebody's answer, in time that is not the call's. */
export function pauseTimeout<Value>({ patiently }: Pick<Call, "patiently">, answer: Promise<Value>): Promise<Value> {
  return patiently === undefined ? answer : patiently(answer);
}
