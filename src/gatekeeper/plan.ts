import type { AnyNode } from "acorn";
import type { Places } from "../model/frame.ts";
import type { CallSite, Plan } from "../model/plan.ts";
import type { CheckedArguments } from "./arguments.ts";
import type { MethodUse } from "./device.ts";
import { ancestorsOf, type Inspection } from "./inspection.ts";
import { byType, type ByType, isFunction, literalName } from "./walk.ts";

/** What the snippet will call, in the order of the text. */
export function planOf(
  uses: readonly MethodUse[],
  {
    args,
    blocking,
    places,
  }: { readonly args: CheckedArguments; readonly blocking: ReadonlySet<MethodUse>; readonly places: Places },
  inspection: Inspection,
): Plan {
  const sites = uses.map((use): readonly [number, CallSite] => {
    const node = use.call ?? use.node;
    const end = places.position(node.end);
    const site = {
      ...places.position(node.start),
      path: use.path,
      endLine: end.line,
      endColumn: end.column,
      literalArguments: use.call && args.valuesOf.get(use.call),
      ...surroundings(node, inspection),
      blocking: blocking.has(use),
    };
    return [node.start, site];
  });
  return sites.sort(([a], [b]) => a - b).map(([, site]) => site);
}

function surroundings(node: AnyNode, inspection: Inspection): Pick<CallSite, "inLoop" | "conditional" | "parallel"> {
  let [inLoop, conditional, parallel] = [false, false, false];
  let inside = node;
  for (const outer of ancestorsOf(node, inspection)) {
    inLoop ||= byType(LOOPS, outer, inside) === true;
    conditional ||= byType(CONDITIONS, outer, inside) === true;
    parallel ||= byType(COMBINATORS, outer, inside) === true;
    inside = outer;
  }
  return { inLoop, conditional, parallel };
}

const REPEATING: ReadonlySet<string> = new Set(
  "map forEach filter find findIndex findLast findLastIndex some every sort toSorted reduce reduceRight flatMap from replaceAll".split(
    " ",
  ),
);

const LOOPS: ByType<boolean> = {
  CallExpression: ({ callee, arguments: given }, inside) => {
    if (callee.type !== "MemberExpression" || !given.includes(inside as never)) return false;
    const isCallback = isFunction(inside) || inside.type === "MemberExpression" || inside.type === "Identifier";
    return isCallback && REPEATING.has(literalName(callee.property, callee.computed) ?? "");
  },
  DoWhileStatement: () => true,
  ForInStatement: ({ right }, inside) => right !== inside,
  ForOfStatement: ({ right }, inside) => right !== inside,
  ForStatement: ({ init }, inside) => init !== inside,
  WhileStatement: () => true,
};

const CONDITIONS: ByType<boolean> = {
  CatchClause: () => true,
  ConditionalExpression: ({ test }, inside) => test !== inside,
  IfStatement: ({ test }, inside) => test !== inside,
  LogicalExpression: ({ left }, inside) => left !== inside,
  SwitchCase: () => true,
};

const COMBINATORS: ByType<boolean> = {
  CallExpression: ({ callee, arguments: given }, inside) => {
    if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier" || callee.object.name !== "Promise")
      return false;
    const name = literalName(callee.property, callee.computed) ?? "";
    return given.includes(inside as never) && ["all", "allSettled", "race", "any"].includes(name);
  },
};
