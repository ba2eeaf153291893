import type { ArgumentProblem } from "../model/arguments.ts";
import { fieldAt, pointerTo, type Pointer } from "./json-pointer.ts";
import type { Finding } from "./schema/evaluation.ts";
import { describeFinding, type ErrorText } from "./error-texts.ts";

/** Converts a finding to a problem. */
export function problemFrom(finding: Finding, root: unknown): ArgumentProblem {
  return problemIn(describeFinding(finding), finding.pointer, root);
}

/** Creates the problem of a place; the place is written as in JavaScript. */
export function problemIn(words: ErrorText, pointer: Pointer = "", root?: unknown): ArgumentProblem {
  const { type, reason, suggestions, member } = words;
  return {
    field: fieldAt(member === undefined ? pointer : pointerTo(pointer, member), root),
    type,
    reason,
    suggestions,
  };
}
