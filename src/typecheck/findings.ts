import type ts from "typescript";

import type { Diagnostic } from "./messages.ts";

/** What looks wrong, before it is known whether its types can be trusted. */
export interface Finding extends Omit<Diagnostic, "start" | "end"> {
  readonly node: ts.Node;
  readonly grounds: Grounds;
}

/** What must be as it seems for a finding to hold. */
export interface Grounds {
  /** Values whose types must be right. */
  readonly trusted: readonly Ground[];
  /** Variables that must hold what they were declared with, whatever the types in it. */
  readonly kept: readonly ts.Identifier[];
}

/** A value, or what is taken apart. */
export type Ground = ts.Expression | ts.BindingPattern;

export function together(...grounds: readonly Grounds[]): Grounds {
  return { trusted: grounds.flatMap(({ trusted }) => trusted), kept: grounds.flatMap(({ kept }) => kept) };
}
