import ts from "typescript";

import type { Misfit } from "./fits.ts";
import { type Kind, kindOf, literalOf, withoutPromise } from "./kinds.ts";

const MOST_NAMES = 12;
const MOST_VALUES = 10;
const TYPE_CHARACTERS = 80;

/** `must be a number, not a string`. */
export function wordsForMisfit({ given, wanted }: Misfit, checker: ts.TypeChecker): string {
  const [is, shouldBe] = [wordsFor(given, checker, "given"), wordsFor(wanted, checker, "wanted")];
  if (is !== shouldBe) return `must be ${shouldBe}, not ${is}`;
  return `must be ${typeText(wanted, checker)}, not ${typeText(given, checker)}`;
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

function wordsFor(type: ts.Type, checker: ts.TypeChecker, side: "given" | "wanted"): string {
  const forms = type.isUnion() ? type.types : [type];
  const literals = forms.map((form) => literalOf(form, checker));
  if (literals.length <= MOST_VALUES && !literals.includes(undefined) && !isBoolean(type)) {
    const texts = literals.map((literal) => cut(JSON.stringify(literal)));
    return side === "wanted" && texts.length > 1 ? `one of ${texts.join(", ")}` : texts.join(" or ");
  }
  const kinds = new Set(forms.map((form) => kindOf(withoutPromise(form), checker)));
  return [...kinds].map((kind) => (kind === undefined ? typeText(type, checker) : KIND_WORDS[kind])).join(" or ");
}

function isBoolean(type: ts.Type): boolean {
  return (type.flags & ts.TypeFlags.Boolean) !== 0;
}

/** As TypeScript writes it. */
function typeText(type: ts.Type, checker: ts.TypeChecker): string {
  return cut(checker.typeToString(withoutPromise(type), undefined, ts.TypeFormatFlags.InTypeAlias));
}

function cut(text: string): string {
  return text.length > TYPE_CHARACTERS ? `${text.slice(0, TYPE_CHARACTERS - 1)}…` : text;
}
