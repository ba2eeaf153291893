import ts from "typescript";

import { getKind, isPlainObject, getItemType, getLiteral, memberType, withoutPromise } from "./json-kinds.ts";
import type { TypedProgram } from "./typed-program.ts";
import { bare, getKey, getValue } from "./syntax.ts";

/** Deeper parts of a value are not checked. */
const MAX_DEPTH = 8;

/** A part of a value that can never be of the type that is wanted there. */
export interface TypeMismatch {
  /** The expression of the part, or the one that produces it. */
  readonly node: ts.Expression;
  /** The way to it: `filter.tags[0]`. */
  readonly path: string;
  readonly actual: ts.Type;
  readonly wanted: ts.Type;
}

/** A member of an object in the text that the wanted type does not have. */
export interface UnknownProperty {
  readonly node: ts.Node;
  readonly path: string;
  readonly name: string;
  /** The names that it could have, without those that are there. */
  readonly names: readonly string[];
}

/**
 * Finds the parts of an expression that can never match a type. This is weaker than TypeScript's assignability: a string may
 * be one of the wanted literals, a missing part may get a default, and a value that JSON converts may become anything.
 */
export class ArgumentMatcher {
  readonly mismatches: TypeMismatch[] = [];
  readonly unknownProperties: UnknownProperty[] = [];
  readonly #typed: TypedProgram;

  constructor(typed: TypedProgram) {
    this.#typed = typed;
  }

  fit(value: ts.Expression, wanted: ts.Type, path: string): void {
    const node = bare(value);
    const item = getItemType(wanted, this.#typed.checker);
    if (ts.isObjectLiteralExpression(node) && isPlainObject(wanted, this.#typed.checker)) {
      this.#fitMembers(node, wanted, path);
    } else if (ts.isArrayLiteralExpression(node) && item !== undefined) {
      for (const [at, element] of node.elements.entries()) {
        const isItem = !ts.isSpreadElement(element) && !ts.isOmittedExpression(element);
        if (isItem) this.fit(element, item, `${path}[${at}]`);
      }
    } else {
      const clash = findClash(this.#typed.getType(node), wanted, this.#typed.checker);
      if (clash !== undefined) this.mismatches.push({ ...clash, node, path: path + clash.path });
    }
  }

  #fitMembers({ properties }: ts.ObjectLiteralExpression, wanted: ts.Type, path: string): void {
    const actual = new Set(properties.map((property) => getKey(property.name)));
    for (const property of properties) {
      const name = getKey(property.name);
      if (name === undefined) continue;
      const type = memberType(wanted, name, this.#typed.checker);
      const value = getValue(property);
      if (type === undefined) {
        const names = this.#typed.checker.getPropertiesOfType(wanted).map((member) => member.name);
        const left = names.filter((other) => !actual.has(other));
        this.unknownProperties.push({ node: property.name ?? property, path: `${path}.${name}`, name, names: left });
      } else if (value !== undefined) this.fit(value, type, `${path}.${name}`);
    }
  }
}

type Clash = Pick<TypeMismatch, "path" | "actual" | "wanted">;

/** Returns why no value of one type is of the other; `undefined` if a value may be. */
function findClash(actual: ts.Type, wanted: ts.Type, checker: ts.TypeChecker, depth = 0): Clash | undefined {
  if (depth > MAX_DEPTH) return undefined;
  const here: Clash = { path: "", actual, wanted };
  const clashes = (one: ts.Type, other: ts.Type): boolean => findClash(one, other, checker, depth + 1) !== undefined;
  if (actual.isUnion()) return actual.types.every((form) => clashes(form, wanted)) ? here : undefined;
  if (wanted.isUnion()) return wanted.types.every((form) => clashes(actual, form)) ? here : undefined;
  if (wanted.isIntersection()) return wanted.types.some((part) => clashes(actual, part)) ? here : undefined;
  const value = withoutPromise(actual);
  if (value !== actual) return findClash(value, wanted, checker, depth + 1);
  const [kind, wantedKind] = [getKind(actual, checker), getKind(wanted, checker)];
  if (kind === undefined || wantedKind === undefined) return undefined;
  if (kind !== wantedKind) return here;
  if (kind === "array") return findItemClash(actual, wanted, checker, depth);
  if (kind === "object") return findMemberClash(actual, wanted, checker, depth);
  const [literal, wantedLiteral] = [getLiteral(actual, checker), getLiteral(wanted, checker)];
  return literal === undefined || wantedLiteral === undefined || literal === wantedLiteral ? undefined : here;
}

function findItemClash(actual: ts.Type, wanted: ts.Type, checker: ts.TypeChecker, depth: number): Clash | undefined {
  const [item, wantedItem] = [getItemType(actual, checker), getItemType(wanted, checker)];
  const clash = item && wantedItem && findClash(item, wantedItem, checker, depth + 1);
  return clash && (clash.path === "" ? { path: "", actual, wanted } : { ...clash, path: `[]${clash.path}` });
}

function findMemberClash(actual: ts.Type, wanted: ts.Type, checker: ts.TypeChecker, depth: number): Clash | undefined {
  for (const member of checker.getPropertiesOfType(actual)) {
    if ((member.flags & ts.SymbolFlags.Optional) !== 0) continue; // it may be missing
    const type = memberType(wanted, member.name, checker);
    const clash = type && findClash(checker.getTypeOfSymbol(member), type, checker, depth + 1);
    if (clash !== undefined) return { ...clash, path: `.${member.name}${clash.path}` };
  }
  return undefined;
}
