import type ts from "typescript";

import type { Diagnostic } from "./protocol.ts";

/** What looks wrong, before it is known whether its types can be trusted. */
export interface TypeFinding extends Omit<Diagnostic, "start" | "end"> {
  readonly node: ts.Node;
  readonly evidence: Evidence;
}

/** What must be as it seems for a finding to hold. */
export interface Evidence {
  /** Values whose types must be right. */
  readonly trusted: readonly EvidenceNode[];
  /** Variables that must hold what they were declared with, whatever the types in it. */
  readonly kept: readonly ts.Identifier[];
}

/** A value, or what is taken apart. */
export type EvidenceNode = ts.Expression | ts.BindingPattern;

export function combineEvidence(...evidence: readonly Evidence[]): Evidence {
  return { trusted: evidence.flatMap(({ trusted }) => trusted), kept: evidence.flatMap(({ kept }) => kept) };
}
