import type { ErrorObject } from "ajv";

import type { ArgumentProblem } from "../model/arguments.ts";
import { isRecord } from "../model/json.ts";
import { fieldAt, pointerTo, type Pointer } from "./json-pointer.ts";
import { describeFinding, type ErrorText } from "./error-texts.ts";

/** An error that ajv found. */
export interface AjvFinding {
  readonly keyword: string;
  /** The place in the value. */
  readonly pointer: Pointer;
  /** The place in the schema: `#/properties/query/type`. */
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The value of the keyword. */
  readonly schema: unknown;
  /** The schema that has the keyword. */
  readonly parent: Readonly<Record<string, unknown>>;
  /** The value at the place. */
  readonly data: unknown;
}

export function findingFrom(error: ErrorObject): AjvFinding {
  const { keyword, instancePath, schemaPath, schema, parentSchema, data } = error;
  const params: unknown = error.params;
  return {
    keyword,
    pointer: instancePath,
    schemaPath,
    params: isRecord(params) ? params : {},
    schema,
    parent: isRecord(parentSchema) ? parentSchema : {},
    data,
  };
}

/** Converts an ajv error to a problem. */
export function problemFrom(finding: AjvFinding, root: unknown): ArgumentProblem {
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
