import { sentence, SkillgateError } from "../../../errors.ts";
import type { CallContext } from "../../../model/skill.ts";
import type { Failure } from "./messages.ts";

/** Codes with which a skill may fail on purpose; any other would let it speak for the runtime. */
const OPEN_CODES = ["ARGUMENTS_INVALID", "CALL_FAILED", "NESTING_LIMIT"] as const;

/** An error of a skill as its caller gets it: the same name and message, without the place where the skills are. */
export function toCallError(path: string, { failure, isStray }: StrayableFailure, root: string): Error {
  const { name, code } = failure;
  const message = withoutPaths(failure.message, root);
  if (code === OWN_CODE) return callFailed(path, message);
  if (isStray) return callFailed(path, `failed outside of its call: ${message}`);
  const open = OPEN_CODES.find((each) => each === code);
  if (name === "SkillgateError" && open !== undefined) return new SkillgateError(open, message, getPathFacts(path));
  return Object.assign(new Error(message), { name });
}

interface StrayableFailure {
  readonly failure: Failure;
  readonly isStray: boolean;
}

/** Paths within the skills folder become relative to it. */
export function withoutPaths(text: string, root: string): string {
  return text.replaceAll(`file://${root}/`, "").replaceAll(`${root}/`, "").replaceAll(root, "the skills folder");
}

/** Marks errors that this room throws in the process of the skills; their messages go on after the name of the method. */
export const OWN_CODE = "SKILL_MISCONDUCT";

/** `Cannot complete the call: "HogSkill.eat" did not finish: … (CALL_FAILED)`. */
export function callFailed(path: string, what: string): SkillgateError {
  return new SkillgateError("CALL_FAILED", sentence("CALL_FAILED", `"${path}" ${what}`), getPathFacts(path));
}

/** What a call ends with whose signal has fired: the reason that was given, if it is one of ours. */
export function callCancelled(path: string, { reason }: CallContext["signal"]): SkillgateError {
  if (reason instanceof SkillgateError) return reason;
  return new SkillgateError("CALL_CANCELLED", sentence("CALL_CANCELLED", `"${path}"`), getPathFacts(path));
}

export function runtimeClosed(path: string): SkillgateError {
  return new SkillgateError("RUNTIME_CLOSED", sentence("RUNTIME_CLOSED", `"${path}"`), getPathFacts(path));
}

function getPathFacts(path: string): { readonly skill: string; readonly method: string } {
  const [skill = "", method = ""] = path.split(".");
  return { skill, method };
}

/** A module that could not be imported: it threw, or its process ended. */
export class ModuleFailure extends Error {
  override readonly name = "ModuleFailure";
  /** What it threw, if it threw. */
  readonly failure: Failure | undefined;

  constructor(cause: Failure | string) {
    super(typeof cause === "string" ? cause : cause.message);
    this.failure = typeof cause === "string" ? undefined : cause;
  }
}

/** An order that came to nothing because the process had ended before; another process can have it. */
export class ProcessGone extends Error {
  override readonly name = "ProcessGone";
  /** It ended for another order, whose failure that is. */
  readonly byAnother: boolean;

  constructor(why: string, byAnother: boolean) {
    super(why);
    this.byAnother = byAnother;
  }
}
