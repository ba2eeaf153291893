import type { Position } from "./outcome.ts";

/** Stands, at any depth of a literal argument, for a value that is only known at run time. */
export const UNKNOWN: unique symbol = Symbol("known only at run time");

/** One place in the program that calls a method, as far as it is known before the run. */
export interface CallSite extends Position {
  /** `Skill.method`, `Skill.*` for a computed name, `*` for a method that the program finds. */
  readonly path: string;
  readonly endLine: number;
  readonly endColumn: number;
  /** The parts of the method that a literal query contains: `mutate:createIssue`; absent if they are not known, or there are none. */
  readonly parts?: readonly string[];
  /** The arguments in order, with `UNKNOWN` in place of what is not certain; `undefined` if not even their number is. */
  readonly literalArguments: readonly unknown[] | undefined;
  readonly inLoop: boolean;
  readonly conditional: boolean;
  /** Stands in `Promise.all`, `allSettled`, `race` or `any`. */
  readonly parallel: boolean;
  /** The method is passed on here, not called: only the run knows whether and how often it is called. */
  readonly dynamic: boolean;
  /** The guest waits here for the answer although there is no `await`: the call is used as a value, or not at all. */
  readonly blocking: boolean;
}

/** The calls that a program will make, as the gatekeeper found them, in the order of the text. */
export type Plan = readonly CallSite[];

/** True if a value is `UNKNOWN` or holds it at any depth. */
export function hasUnknown(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === UNKNOWN;
  return Object.values(value).some(hasUnknown);
}
