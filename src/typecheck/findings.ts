import type ts from "typescript";

import type { Diagnostic } from "./protocol.ts";

/** A possible error, before it is known whether its types are certain. */
export interface TypeFinding extends Omit<Diagnostic, "start" | "end"> {
  readonly node: ts.Node;
  readonly evidence: Evidence;
}

/** The values and variables that a finding depends on. */
export interface Evidence {
  /** Values whose types must be right. */
  readonly trusted: readonly EvidenceNode[];
  /** Variables that must hold what they were declared with, whatever the types in it. */
  readonly constants: readonly ts.Identifier[];
  /** The name of a member that is not there unless the program adds it. */
  readonly missing?: string;
}

/** A value, or what is taken apart. */
export type EvidenceNode = ts.Expression | ts.BindingPattern;

export function combineEvidence(...evidence: readonly Evidence[]): Evidence {
  return {
    trusted: evidence.flatMap(({ trusted }) => trusted),
    constants: evidence.flatMap(({ constants }) => constants),
  };
}
