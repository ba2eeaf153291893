import type { AnyNode } from "acorn";
import type { SourceText } from "../shared/source-text.ts";
import type { Plan } from "../model/plan.ts";
import type { CheckedArguments } from "./rules/arguments.ts";
import type { MethodUse } from "./rules/device.ts";
import type { CheckContext } from "./context.ts";
import { COMBINATORS } from "./awaits/promise-methods.ts";
import { byType, type ByType, isFunction, literalName } from "./ast/walk.ts";

/** Lists the calls of the program. `uses` are in source order. */
export function createPlan(
  uses: readonly MethodUse[],
  {
    args,
    blocking,
    sourceText,
  }: { readonly args: CheckedArguments; readonly blocking: ReadonlySet<MethodUse>; readonly sourceText: SourceText },
  context: CheckContext,
): Plan {
  return uses.map((use) => {
    const node = use.call ?? use.node;
    const start = sourceText.position(node.start);
    const end = sourceText.position(node.end);
    const around = findSurroundings(node, context);
    return {
      line: start.line,
      column: start.column,
      path: use.path,
      endLine: end.line,
      endColumn: end.column,
      literalArguments: use.call && args.argumentValues.get(use.call),
      inLoop: use.isPages === true || (around & LOOP) !== 0,
      conditional: (around & CONDITION) !== 0,
      parallel: (around & PARALLEL) !== 0,
      dynamic: use.call === undefined,
      blocking: blocking.has(use),
    };
  });
}

/** Sorts the uses of methods in source order. */
export function sortUses(uses: readonly MethodUse[]): readonly MethodUse[] {
  return uses.toSorted((a, b) => getStart(a) - getStart(b));
}

function getStart({ call, node }: MethodUse): number {
  return (call ?? node).start;
}

const LOOP = 1;
const CONDITION = 2;
const PARALLEL = 4;

/** Returns the sum of the flags `LOOP`, `CONDITION` and `PARALLEL` that apply to a node. */
function findSurroundings(node: AnyNode, { scopes: { parents } }: CheckContext): number {
  let found = 0;
  let inside = node;
  for (let outer = parents.get(node); outer !== undefined; outer = parents.get(outer)) {
    found |= byType(SURROUNDINGS, outer, inside) ?? 0;
    inside = outer;
  }
  return found;
}

const REPEATING: ReadonlySet<string> = new Set(
  "map forEach filter find findIndex findLast findLastIndex some every sort toSorted reduce reduceRight flatMap from replaceAll".split(
    " ",
  ),
);

/** The flags that a node sets for the nodes inside it. */
const SURROUNDINGS: ByType<number> = {
  CallExpression: ({ callee, arguments: args }, inside) => {
    if (callee.type !== "MemberExpression" || !args.includes(inside as never)) return 0;
    const name = literalName(callee.property, callee.computed) ?? "";
    const isPromiseMethod = callee.object.type === "Identifier" && callee.object.name === "Promise";
    if (isPromiseMethod && COMBINATORS.has(name)) return PARALLEL;
    const isCallback = isFunction(inside) || inside.type === "MemberExpression" || inside.type === "Identifier";
    return isCallback && REPEATING.has(name) ? LOOP : 0;
  },
  CatchClause: () => CONDITION,
  ConditionalExpression: ({ test }, inside) => (test === inside ? 0 : CONDITION),
  DoWhileStatement: () => LOOP,
  ForInStatement: ({ right }, inside) => (right === inside ? 0 : LOOP),
  ForOfStatement: ({ right }, inside) => (right === inside ? 0 : LOOP),
  ForStatement: ({ init }, inside) => (init === inside ? 0 : LOOP),
  IfStatement: ({ test }, inside) => (test === inside ? 0 : CONDITION),
  LogicalExpression: ({ left }, inside) => (left === inside ? 0 : CONDITION),
  SwitchCase: () => CONDITION,
  WhileStatement: () => LOOP,
};
