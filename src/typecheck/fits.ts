import ts from "typescript";

import { kindOf, isPlainObject, itemOf, literalOf, memberType, withoutPromise } from "./kinds.ts";
import type { Reading } from "./reading.ts";
import { bare, keyOf, valueOf } from "./syntax.ts";

/** Deeper inside of a value nothing is said. */
const DEEPEST = 8;

/** A part of a value that can never be of the type that is wanted there. */
export interface Misfit {
  /** Where the part stands, or the expression that it comes out of. */
  readonly node: ts.Expression;
  /** The way to it: `filter.tags[0]`. */
  readonly path: string;
  readonly given: ts.Type;
  readonly wanted: ts.Type;
}

/** A member of an object in the text that the wanted type does not have. */
export interface Stranger {
  readonly node: ts.Node;
  readonly path: string;
  readonly name: string;
  /** The names that it could have, without those that are there. */
  readonly names: readonly string[];
}

/**
 * What of an expression cannot fit a type, whatever a run makes of it. This is not what the compiler calls assignable:
 * a text may be one of the texts that are wanted, a part that is missing may get a default, and what changes on its way
 * through JSON may become anything.
 */
export class Fitting {
  readonly misfits: Misfit[] = [];
  readonly strangers: Stranger[] = [];
  readonly #reading: Reading;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  fit(value: ts.Expression, wanted: ts.Type, path: string): void {
    const node = bare(value);
    const item = itemOf(wanted, this.#reading.checker);
    if (ts.isObjectLiteralExpression(node) && isPlainObject(wanted, this.#reading.checker)) {
      this.#fitMembers(node, wanted, path);
    } else if (ts.isArrayLiteralExpression(node) && item !== undefined) {
      for (const [at, element] of node.elements.entries()) {
        const isItem = !ts.isSpreadElement(element) && !ts.isOmittedExpression(element);
        if (isItem) this.fit(element, item, `${path}[${at}]`);
      }
    } else {
      const clash = clashOf(this.#reading.typeOf(node), wanted, this.#reading.checker);
      if (clash !== undefined) this.misfits.push({ ...clash, node, path: path + clash.path });
    }
  }

  #fitMembers({ properties }: ts.ObjectLiteralExpression, wanted: ts.Type, path: string): void {
    const given = new Set(properties.map((property) => keyOf(property.name)));
    for (const property of properties) {
      const name = keyOf(property.name);
      if (name === undefined) continue;
      const type = memberType(wanted, name, this.#reading.checker);
      const value = valueOf(property);
      if (type === undefined) {
        const names = this.#reading.checker.getPropertiesOfType(wanted).map((member) => member.name);
        const left = names.filter((other) => !given.has(other));
        this.strangers.push({ node: property.name ?? property, path: `${path}.${name}`, name, names: left });
      } else if (value !== undefined) this.fit(value, type, `${path}.${name}`);
    }
  }
}

type Clash = Pick<Misfit, "path" | "given" | "wanted">;

/** Why no value of one type is of the other; `undefined` if one may be. */
function clashOf(given: ts.Type, wanted: ts.Type, checker: ts.TypeChecker, depth = 0): Clash | undefined {
  if (depth > DEEPEST) return undefined;
  const here: Clash = { path: "", given, wanted };
  const clashes = (one: ts.Type, other: ts.Type): boolean => clashOf(one, other, checker, depth + 1) !== undefined;
  if (given.isUnion()) return given.types.every((form) => clashes(form, wanted)) ? here : undefined;
  if (wanted.isUnion()) return wanted.types.every((form) => clashes(given, form)) ? here : undefined;
  if (wanted.isIntersection()) return wanted.types.some((part) => clashes(given, part)) ? here : undefined;
  const value = withoutPromise(given);
  if (value !== given) return clashOf(value, wanted, checker, depth + 1);
  const [kind, wantedKind] = [kindOf(given, checker), kindOf(wanted, checker)];
  if (kind === undefined || wantedKind === undefined) return undefined;
  if (kind !== wantedKind) return here;
  if (kind === "array") return clashOfItems(given, wanted, checker, depth);
  if (kind === "object") return clashOfMembers(given, wanted, checker, depth);
  const [literal, wantedLiteral] = [literalOf(given, checker), literalOf(wanted, checker)];
  return literal === undefined || wantedLiteral === undefined || literal === wantedLiteral ? undefined : here;
}

function clashOfItems(given: ts.Type, wanted: ts.Type, checker: ts.TypeChecker, depth: number): Clash | undefined {
  const [item, wantedItem] = [itemOf(given, checker), itemOf(wanted, checker)];
  const clash = item && wantedItem && clashOf(item, wantedItem, checker, depth + 1);
  return clash && (clash.path === "" ? { path: "", given, wanted } : { ...clash, path: `[]${clash.path}` });
}

function clashOfMembers(given: ts.Type, wanted: ts.Type, checker: ts.TypeChecker, depth: number): Clash | undefined {
  for (const member of checker.getPropertiesOfType(given)) {
    if ((member.flags & ts.SymbolFlags.Optional) !== 0) continue; // it may be missing
    const type = memberType(wanted, member.name, checker);
    const clash = type && clashOf(checker.getTypeOfSymbol(member), type, checker, depth + 1);
    if (clash !== undefined) return { ...clash, path: `.${member.name}${clash.path}` };
  }
  return undefined;
}
