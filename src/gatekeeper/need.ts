import type { AnyNode, CallExpression, NewExpression } from "acorn";
import type { Inspection } from "./inspection.ts";
import type { SyntaxFacts } from "./syntax.ts";

/** What the places need that a promise reaches. A sum: a variable can be used in more than one way. */
export type Need = number;

/** Nothing looks at it. */
export const UNUSED = 0;
/** The value itself: a member, an operator, a condition, an argument. */
export const VALUE = 1;
/** The promise itself: `.then`, `.catch`, `.finally`. */
export const PROMISE = 2;
/** Either: `await`, `Promise.all`. */
export const EITHER = 4;
/** A `return` inside of `try`: without `await`, its failure would not be caught there. */
export const AWAITED = 8;

/** Either as well: it is given back, or printed, and settled on its way out. */
export const GIVEN = 16;

/** Nobody knows: it gets to where it cannot be followed. */
export const DOUBT = 32;

/** It is tested or compared. Promises can be as well, but hardly ever are: the value is meant, unless it is awaited elsewhere. */
export const CHECKED = 64;

/** A function asks whether it is there, where other calls may have left it: `if (!cache[key])`. */
export const SOUGHT = 128;

/**
 * Where a promise is: 0 where the expression itself is one, 1 where it is in a list or object, and so on. A promise of a
 * list counts as the list.
 */
export type Depth = number;

export function sumOf<Part>(parts: readonly (Part | null)[], needOf: (part: Part) => Need): Need {
  return parts.reduce<Need>((need, part) => (part === null ? need : need | needOf(part)), UNUSED);
}

/** True if only the value will do. In a program that keeps no promise for later, what is in doubt is meant to be a value. */
export function needsValue(
  need: Need,
  { waits, keepsPromises }: Pick<SyntaxFacts, "waits" | "keepsPromises">,
): boolean {
  if ((need & PROMISE) !== 0) return false;
  if (!(waits && keepsPromises)) return (need & (VALUE | DOUBT | CHECKED | SOUGHT)) !== 0;
  if ((need & VALUE) !== 0) return true;
  if ((need & CHECKED) !== 0 && (need & EITHER) === 0) return true;
  return (need & SOUGHT) !== 0 && (need & (EITHER | GIVEN | DOUBT)) === 0;
}

/** The ways on from a place. */
export interface Steps {
  readonly inspection: Inspection;
  readonly known: Known;
  /** From an expression to what is around it. */
  need(expression: AnyNode, depth: Depth): Need;
  /** To all uses of a variable. */
  needOfName(identifier: AnyNode, depth: Depth): Need;
  /** To whatever the results of a function reach. */
  needOfResult(func: AnyNode, depth: Depth): Need;
  /** To all members of a name. */
  needOfMembers(name: string, depth: Depth, how: "read" | "called"): Need;
  /** To what a function does with an argument. */
  needOfArgument(argument: AnyNode, call: CallExpression | NewExpression, depth: Depth): Need;
  /** Nowhere: it is only asked whether there is one. */
  needOfTest(tested: AnyNode): Need;
  /** Nowhere either: it is only asked whether two are the same. */
  needOfComparison(compared: AnyNode): Need;
  /** To what becomes of a list or object into which it is put. */
  needOfAdding(container: AnyNode, depth: Depth): Need;
  /** To the parameter of a callback that goes over a list. */
  needOfElements(call: CallExpression, depth: Depth): Need;
}

/** What other steps have found out. */
export interface Known {
  /** Calls of methods of `device`. */
  readonly isMethodCall: (call: AnyNode) => boolean;
  /** Arguments that are written `name=value`. */
  readonly isKeyword: (node: AnyNode) => boolean;
  /** Statements whose value is the result of the snippet. */
  readonly isResult: (statement: AnyNode) => boolean;
}

/** Callbacks of these get their results used as values. */
export const USING_CALLBACKS: ReadonlySet<string> = new Set(
  `filter find findIndex findLast findLastIndex some every sort toSorted reduce reduceRight flatMap replace replaceAll groupBy
   parse stringify`.split(/\s+/),
);

/** Callbacks of these fill a list with their results. */
export const LISTING_CALLBACKS: ReadonlySet<string> = new Set(["map", "from"]);

/** The operators that ask whether two are the same. */
export const COMPARING: ReadonlySet<string> = new Set(["===", "!==", "==", "!="]);

export const THEN: ReadonlySet<string> = new Set(["then", "catch", "finally"]);

/** The functions of `Promise` that take a list of promises. */
export const COMBINATORS: ReadonlySet<string> = new Set(["all", "allSettled", "race", "any"]);

/** These put an argument into what they are called on. */
export const ADDING: ReadonlySet<string> = new Set(["push", "unshift", "add", "set", "append"]);

/** These look for an argument in what they are called on, as what it is: a promise is itself, not its value. */
export const SEEKING: ReadonlySet<string> = new Set(["delete", "get", "has", "includes", "indexOf", "lastIndexOf"]);

/** These hand a result on to the next callback. */
export const REDUCING: ReadonlySet<string> = new Set(["reduce", "reduceRight"]);

/** These hand out one of the things inside. */
export const TAKING: ReadonlySet<string> = new Set(["at", "get", "pop", "shift"]);

/** These hand out the things inside again, in a list or object. */
export const COPYING: ReadonlySet<string> = new Set([
  "slice",
  "splice",
  "concat",
  "reverse",
  "toReversed",
  "flat",
  "values",
]);

/** These make a list or object of what is in another, at a depth that differs so much. */
export const REARRANGING: ReadonlyMap<string, number> = new Map([
  ["Array.from", 0],
  ["Object.assign", 0],
  ["Object.entries", 1],
  ["Object.fromEntries", -1],
  ["Object.values", 0],
]);
