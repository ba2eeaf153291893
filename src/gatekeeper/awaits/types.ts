import type { MethodUse } from "../rules/device.ts";
import type { ResultStatement } from "../emit/completion-value.ts";
import type { SyntaxFacts } from "../rules/syntax.ts";
import type { FunctionNode } from "../ast/walk.ts";

export interface ProgramFacts {
  readonly uses: readonly MethodUse[];
  readonly facts: SyntaxFacts;
  readonly results: readonly ResultStatement[];
  /** The function that contains the whole program. */
  readonly entry: FunctionNode | undefined;
}

export interface Waits {
  /** The uses at which the program blocks. */
  readonly blocking: ReadonlySet<MethodUse>;
  /** True if promises are collected and awaited at the end. */
  readonly hasLater: boolean;
  /** True if calls may be pending at the end without an await: the program waits for them. */
  readonly mayForget: boolean;
  /** True if the program needs no implicit waits. */
  readonly isExplicit: boolean;
}
