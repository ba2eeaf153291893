import ts from "typescript";

import type { TypeMismatch } from "./assignability.ts";
import { getItemType, type JsonKind, getKind, getKinds, getLiteral, withoutPromise } from "./json-kinds.ts";
import { formatList, truncateText } from "../shared/format-text.ts";

const MAX_NAMES = 12;
const MAX_VALUES = 10;
const VALUE_CHARACTERS = 60;

/** `must be a number, not a string`. */
export function describeMismatch({ actual, expected }: TypeMismatch, checker: ts.TypeChecker): string {
  const values = getLiterals(expected, checker);
  const wish =
    values !== undefined && values.length > 1 ? `one of ${values.join(", ")}` : describeType(expected, checker);
  return `must be ${wish}, not ${describeType(actual, checker)}`;
}

export function listed(names: readonly string[]): string {
  return names.length === 0 ? "none" : formatList(names, MAX_NAMES);
}

export const KIND_WORDS: Readonly<Record<JsonKind, string>> = {
  string: "a string",
  number: "a number",
  boolean: "a boolean",
  array: "an array",
  object: "an object",
};

/** Not as the compiler writes it: that can take as long as a type is large. */
function describeType(type: ts.Type, checker: ts.TypeChecker): string {
  const words = getLiterals(type, checker) ?? getForms(type).map((form) => describeForm(form, checker));
  return [...new Set(words)].join(" or ");
}

function describeForm(type: ts.Type, checker: ts.TypeChecker): string {
  const kind = getKind(type, checker);
  if (kind === undefined) return "another value";
  const items = kind === "array" ? describeItems(getItemType(type, checker), checker) : undefined;
  return items === undefined ? KIND_WORDS[kind] : `an array of ${items}`;
}

function describeItems(item: ts.Type | undefined, checker: ts.TypeChecker): string | undefined {
  if (item === undefined) return undefined;
  const kinds = [...getKinds(item, checker)];
  const words = getLiterals(item, checker) ?? (kinds.includes(undefined) ? undefined : kinds.map((kind) => `${kind}s`));
  return words?.join(" or ");
}

function getForms(type: ts.Type): readonly ts.Type[] {
  return (type.isUnion() ? type.types : [type]).map(withoutPromise);
}

/** The only values that a type has, as JSON; `undefined` if these are too many. */
function getLiterals(type: ts.Type, checker: ts.TypeChecker): readonly string[] | undefined {
  const literals = getForms(type).map((form) => getLiteral(form, checker));
  const isBoolean = (type.flags & ts.TypeFlags.Boolean) !== 0;
  if (isBoolean || literals.length > MAX_VALUES || literals.includes(undefined)) return undefined;
  return literals.map((literal) => truncateText(JSON.stringify(literal), VALUE_CHARACTERS));
}
