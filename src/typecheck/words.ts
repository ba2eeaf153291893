import ts from "typescript";

import type { Misfit } from "./fits.ts";
import { itemOf, type Kind, kindOf, kindsOf, literalOf, withoutPromise } from "./kinds.ts";

const MOST_NAMES = 12;
const MOST_VALUES = 10;
const VALUE_CHARACTERS = 60;

/** `must be a number, not a string`. */
export function wordsForMisfit({ given, wanted }: Misfit, checker: ts.TypeChecker): string {
  const values = literalsOf(wanted, checker);
  const wish = values !== undefined && values.length > 1 ? `one of ${values.join(", ")}` : wordsFor(wanted, checker);
  return `must be ${wish}, not ${wordsFor(given, checker)}`;
}

export function listed(names: readonly string[]): string {
  const more = names.length > MOST_NAMES ? [`and ${names.length - MOST_NAMES} more`] : [];
  return names.length === 0 ? "none" : [...names.slice(0, MOST_NAMES), ...more].join(", ");
}

export const KIND_WORDS: Readonly<Record<Kind, string>> = {
  string: "a string",
  number: "a number",
  boolean: "a boolean",
  array: "an array",
  object: "an object",
};

/** Not as the compiler writes it: that can take as long as a type is large. */
function wordsFor(type: ts.Type, checker: ts.TypeChecker): string {
  const words = literalsOf(type, checker) ?? formsOf(type).map((form) => wordsForForm(form, checker));
  return [...new Set(words)].join(" or ");
}

function wordsForForm(type: ts.Type, checker: ts.TypeChecker): string {
  const kind = kindOf(type, checker);
  if (kind === undefined) return "another value";
  const items = kind === "array" ? wordsForItems(itemOf(type, checker), checker) : undefined;
  return items === undefined ? KIND_WORDS[kind] : `an array of ${items}`;
}

function wordsForItems(item: ts.Type | undefined, checker: ts.TypeChecker): string | undefined {
  if (item === undefined) return undefined;
  const kinds = [...kindsOf(item, checker)];
  const words = literalsOf(item, checker) ?? (kinds.includes(undefined) ? undefined : kinds.map((kind) => `${kind}s`));
  return words?.join(" or ");
}

function formsOf(type: ts.Type): readonly ts.Type[] {
  return (type.isUnion() ? type.types : [type]).map(withoutPromise);
}

/** The only values that a type has, as JSON; `undefined` if these are too many. */
function literalsOf(type: ts.Type, checker: ts.TypeChecker): readonly string[] | undefined {
  const literals = formsOf(type).map((form) => literalOf(form, checker));
  const isBoolean = (type.flags & ts.TypeFlags.Boolean) !== 0;
  if (isBoolean || literals.length > MOST_VALUES || literals.includes(undefined)) return undefined;
  return literals.map((literal) => cut(JSON.stringify(literal)));
}

function cut(text: string): string {
  return text.length > VALUE_CHARACTERS ? `${text.slice(0, VALUE_CHARACTERS - 1)}…` : text;
}
