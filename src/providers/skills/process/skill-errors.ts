import { fileURLToPath } from "node:url";

import { findPackageFolder } from "../../../../sandbox/package-files.ts";
import { createError, SkillgateError } from "../../../errors.ts";
import type { CallContext } from "../../../model/skill.ts";
import type { Failure } from "./messages.ts";
import { splitPath } from "../../../shared/names/method-paths.ts";
import { SkillError } from "../../../shared/errors/skill-error.ts";

/** Error codes that a skill may use; any other would let it imitate an error of the runtime. */
const OPEN_CODES = ["ARGUMENTS_INVALID", "CALL_FAILED", "NESTING_LIMIT"] as const;

/** Converts an error of a skill for its caller: same name and message, without the path of the skills folder. */
export function toCallError(path: string, { failure, isStray }: StrayableFailure, root: string): Error {
  const { name, code } = failure;
  const cause = createSkillError(failure);
  const message = describeMissingPackage(failure) ?? withoutPaths(failure.message, root);
  if (code === OWN_CODE) return callFailed(path, message, cause);
  if (isStray) return callFailed(path, `failed outside of its call: ${message}`, cause);
  const open = OPEN_CODES.find((each) => each === code);
  if (name === "SkillgateError" && open !== undefined) return new SkillgateError(open, message, getPathFacts(path));
  return new SkillError({ name, message, stack: cause.stack ?? "" });
}

/** Creates the error with the stack that owners see. */
function createSkillError({ name, message, stack }: Failure): SkillError {
  return new SkillError({ name, message, stack: [`${name}: ${message}`, ...getProjectFrames(stack)].join("\n") });
}

/** Returns the lines of a stack in files of the project, without those in packages and in Skillgate. */
export function getProjectFrames(stack: string): readonly string[] {
  // The code of Skillgate itself, whose frames tell an author nothing.
  const ownFolder = fileURLToPath(findPackageFolder());
  const frames = stack.split("\n").filter((line) => {
    const [, file] = /^ {4}at .*?((?:\/|[A-Za-z]:\\)[^()]*):\d+:\d+\)?$/.exec(line.replace("file://", "")) ?? [];
    const isForeign =
      /[ (]node:/.test(line) || file?.startsWith(ownFolder) || /[\\/]node_modules[\\/]/.test(file ?? "");
    return file !== undefined && !isForeign;
  });
  // V8 names the holder of an exported function.
  return frames.map((line) => line.replace(/^( {4}at (?:async )?)(?:Object|Module)\./, "$1"));
}

interface StrayableFailure {
  readonly failure: Failure;
  readonly isStray: boolean;
}

/** Makes paths within the skills folder relative to it. */
export function withoutPaths(text: string, root: string): string {
  return text.replaceAll(`file://${root}/`, "").replaceAll(`${root}/`, "").replaceAll(root, "the skills folder");
}

const MISSING_PACKAGE = /Cannot find (?:package|module) '((?:@[\w.-]+\/)?[\w-][\w.-]*)(?:\/[^']*)?'/;

/** Describes an import of a package that is not installed; `undefined` for any other failure. */
export function describeMissingPackage({
  message,
  code,
}: Pick<Failure, "message"> & { readonly code?: string | undefined }): string | undefined {
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return undefined;
  const name = MISSING_PACKAGE.exec(message)?.[1];
  return name === undefined ? undefined : `the package "${name}" is not installed; run npm i ${name}`;
}

/** Marks errors of this module in the skill process; their messages continue after the method name. */
export const OWN_CODE = "SKILL_MISCONDUCT";

/** `Cannot complete the call: "HogSkill.eat" did not finish: … (CALL_FAILED)`. */
export function callFailed(path: string, what: string, cause?: Error): SkillgateError {
  const options = cause === undefined ? {} : { cause };
  return createError("CALL_FAILED", `"${path}" ${what}`, getPathFacts(path), options);
}

/** Returns the error of a call whose module cannot be imported. */
export function startFailed(path: string, error: unknown): SkillgateError {
  const isModuleFailure = error instanceof ModuleFailure;
  return callFailed(
    path,
    `could not start: ${isModuleFailure ? error.message : String(error)}`,
    isModuleFailure ? error : undefined,
  );
}

/** True for an import that did not finish in time, and for the error of a call that waited for it. */
export function isImportTimeout(error: unknown): boolean {
  if (error instanceof ModuleFailure) return error.isTimeout;
  return error instanceof SkillgateError && error.cause instanceof ModuleFailure && error.cause.isTimeout;
}

/** Returns the error of an aborted call: the abort reason, if it is a `SkillgateError`. */
export function callCancelled(path: string, { reason }: CallContext["signal"]): SkillgateError {
  if (reason instanceof SkillgateError) return reason;
  return createError("CALL_CANCELLED", `"${path}"`, getPathFacts(path));
}

export function runtimeClosed(path: string): SkillgateError {
  return createError("RUNTIME_CLOSED", `"${path}"`, getPathFacts(path));
}

function getPathFacts(path: string): { readonly skill: string; readonly method: string } {
  const { skill, method } = splitPath(path);
  return { skill, method };
}

/** A module that could not be imported: it threw, or its process ended. */
export class ModuleFailure extends Error {
  override readonly name = "ModuleFailure";
  /** The error that it threw, if it threw. */
  readonly failure: Failure | undefined;

  /** True if its import did not finish in time. */
  readonly isTimeout: boolean;

  constructor(cause: Failure | string, isTimeout = false) {
    super(typeof cause === "string" ? cause : cause.message);
    this.isTimeout = isTimeout;
    this.failure = typeof cause === "string" ? undefined : cause;
  }
}

/** A request that was lost because the process had exited; another process can take it. */
export class ProcessGone extends Error {
  override readonly name = "ProcessGone";
  /** True if another request caused the exit. */
  readonly byAnother: boolean;

  constructor(why: string, byAnother: boolean) {
    super(why);
    this.byAnother = byAnother;
  }
}
