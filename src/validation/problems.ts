import type { ErrorObject } from "ajv";

import type { ArgumentProblem } from "../model/arguments.ts";
import { isRecord } from "../model/json.ts";
import { fieldAt, pointerTo, type Pointer } from "./json-pointer.ts";
import { describeFinding, type ErrorText } from "./error-texts.ts";

/** What ajv found, and what it is about. */
export interface AjvFinding {
  readonly keyword: string;
  /** Where in the value. */
  readonly place: Pointer;
  /** Where in the schema: `#/properties/query/type`. */
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The value of the keyword. */
  readonly schema: unknown;
  /** The schema that has the keyword. */
  readonly parent: Readonly<Record<string, unknown>>;
  /** What stands at the place. */
  readonly data: unknown;
}

export function findingFrom(error: ErrorObject): AjvFinding {
  const { keyword, instancePath, schemaPath, schema, parentSchema, data } = error;
  const params: unknown = error.params;
  return {
    keyword,
    place: instancePath,
    schemaPath,
    params: isRecord(params) ? params : {},
    schema,
    parent: isRecord(parentSchema) ? parentSchema : {},
    data,
  };
}

/** A finding in our words (T6). */
export function problemFrom(finding: AjvFinding, root: unknown): ArgumentProblem {
  return problemIn(describeFinding(finding), finding.place, root);
}

/** What is wrong at a place of a value, which is named as somebody would write it. */
export function problemIn(words: ErrorText, place: Pointer = "", root?: unknown): ArgumentProblem {
  const { type, reason, suggestions, member } = words;
  return { field: fieldAt(member === undefined ? place : pointerTo(place, member), root), type, reason, suggestions };
}
