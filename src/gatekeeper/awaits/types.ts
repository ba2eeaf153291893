import type { MethodUse } from "../rules/device.ts";
import type { ResultStatement } from "../emit/completion-value.ts";
import type { SyntaxFacts } from "../rules/syntax.ts";
import type { FunctionNode } from "../ast/walk.ts";

export interface Known {
  readonly uses: readonly MethodUse[];
  readonly facts: SyntaxFacts;
  readonly results: readonly ResultStatement[];
  /** The function that is the whole program. */
  readonly entry: FunctionNode | undefined;
}

export interface Waits {
  /** The uses at which the snippet stands still. */
  readonly blocking: ReadonlySet<MethodUse>;
  /** True if promises were put aside, to be waited for at the end. */
  readonly hasLater: boolean;
  /** True if calls may be under way at the end that nothing waits for: they are over before the program is. */
  readonly mayForget: boolean;
  /** True if nothing has to be touched. */
  readonly isExplicit: boolean;
}
