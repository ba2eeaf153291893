import ts from "typescript";

import { getKind, isPlainObject, getItemType, getLiteral, memberType, withoutPromise } from "./json-kinds.ts";
import type { TypedProgram } from "./typed-program.ts";
import { bare, getKey, getValue } from "./syntax.ts";

/** Deeper parts of a value are not checked. */
const MAX_DEPTH = 8;

/** A part of a value that can never be of the type that is expected there. */
export interface TypeMismatch {
  /** The expression of the part, or the one that produces it. */
  readonly node: ts.Expression;
  /** The way to it: `filter.tags[0]`. */
  readonly path: string;
  readonly actual: ts.Type;
  readonly expected: ts.Type;
}

/** A member of an object in the text that the expected type does not have. */
export interface UnknownProperty {
  readonly node: ts.Node;
  readonly path: string;
  readonly name: string;
  /** The names that it could have, without those that are there. */
  readonly names: readonly string[];
}

/**
 * Finds the parts of an expression that can never match a type. This is weaker than TypeScript's assignability: a string may
 * be one of the expected literals, a missing part may get a default, and a value that JSON converts may become anything.
 */
export class ArgumentMatcher {
  readonly mismatches: TypeMismatch[] = [];
  readonly unknownProperties: UnknownProperty[] = [];
  readonly #typed: TypedProgram;

  constructor(typed: TypedProgram) {
    this.#typed = typed;
  }

  fit(value: ts.Expression, expected: ts.Type, path: string): void {
    const node = bare(value);
    const item = getItemType(expected, this.#typed.checker);
    if (ts.isObjectLiteralExpression(node) && isPlainObject(expected, this.#typed.checker)) {
      this.#fitMembers(node, expected, path);
    } else if (ts.isArrayLiteralExpression(node) && item !== undefined) {
      for (const [at, element] of node.elements.entries()) {
        const isItem = !ts.isSpreadElement(element) && !ts.isOmittedExpression(element);
        if (isItem) this.fit(element, item, `${path}[${at}]`);
      }
    } else {
      const clash = findClash(this.#typed.getType(node), expected, this.#typed.checker);
      if (clash !== undefined) this.mismatches.push({ ...clash, node, path: path + clash.path });
    }
  }

  #fitMembers({ properties }: ts.ObjectLiteralExpression, expected: ts.Type, path: string): void {
    const actual = new Set(properties.map((property) => getKey(property.name)));
    for (const property of properties) {
      const name = getKey(property.name);
      if (name === undefined) continue;
      const type = memberType(expected, name, this.#typed.checker);
      const value = getValue(property);
      if (type === undefined) {
        const names = this.#typed.checker.getPropertiesOfType(expected).map((member) => member.name);
        const open = names.filter((other) => !actual.has(other));
        this.unknownProperties.push({ node: property.name ?? property, path: `${path}.${name}`, name, names: open });
      } else if (value !== undefined) this.fit(value, type, `${path}.${name}`);
    }
  }
}

type Clash = Pick<TypeMismatch, "path" | "actual" | "expected">;

/** Returns why no value of one type is of the other; `undefined` if a value may be. */
function findClash(actual: ts.Type, expected: ts.Type, checker: ts.TypeChecker, depth = 0): Clash | undefined {
  if (depth > MAX_DEPTH) return undefined;
  const here: Clash = { path: "", actual, expected };
  const clashes = (one: ts.Type, other: ts.Type): boolean => findClash(one, other, checker, depth + 1) !== undefined;
  if (actual.isUnion()) return actual.types.every((form) => clashes(form, expected)) ? here : undefined;
  if (expected.isUnion()) return expected.types.every((form) => clashes(actual, form)) ? here : undefined;
  if (expected.isIntersection()) return expected.types.some((part) => clashes(actual, part)) ? here : undefined;
  const value = withoutPromise(actual);
  if (value !== actual) return findClash(value, expected, checker, depth + 1);
  const [kind, expectedKind] = [getKind(actual, checker), getKind(expected, checker)];
  if (kind === undefined || expectedKind === undefined) return undefined;
  if (kind !== expectedKind) return here;
  if (kind === "array") return findItemClash(actual, expected, checker, depth);
  if (kind === "object") return findMemberClash(actual, expected, checker, depth);
  const [literal, expectedLiteral] = [getLiteral(actual, checker), getLiteral(expected, checker)];
  return literal === undefined || expectedLiteral === undefined || literal === expectedLiteral ? undefined : here;
}

function findItemClash(actual: ts.Type, expected: ts.Type, checker: ts.TypeChecker, depth: number): Clash | undefined {
  const [item, expectedItem] = [getItemType(actual, checker), getItemType(expected, checker)];
  const clash = item && expectedItem && findClash(item, expectedItem, checker, depth + 1);
  return clash && (clash.path === "" ? { path: "", actual, expected } : { ...clash, path: `[]${clash.path}` });
}

function findMemberClash(
  actual: ts.Type,
  expected: ts.Type,
  checker: ts.TypeChecker,
  depth: number,
): Clash | undefined {
  for (const member of checker.getPropertiesOfType(actual)) {
    if ((member.flags & ts.SymbolFlags.Optional) !== 0) continue; // it may be missing
    const type = memberType(expected, member.name, checker);
    const clash = type && findClash(checker.getTypeOfSymbol(member), type, checker, depth + 1);
    if (clash !== undefined) return { ...clash, path: `.${member.name}${clash.path}` };
  }
  return undefined;
}
