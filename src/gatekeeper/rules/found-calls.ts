import type { AnyNode, CallExpression, Identifier } from "acorn";
import { type CheckContext, findFunction } from "../context.ts";
import { literalName } from "../ast/walk.ts";
import type { MethodUse } from "./device.ts";

/** The path of a call of a method that the program has found: any that the caller may call. */
export const FOUND_PATH = "*";

/** The methods of `device` whose answers have methods to call. */
const FINDING: ReadonlySet<string> = new Set(["search_skills", "describe"]);

/** Lists the calls of methods that the program finds when it runs: `found[0].call({ id: 1 })`. */
export function findFoundCalls(
  uses: readonly MethodUse[],
  calls: readonly CallExpression[],
  context: CheckContext,
): readonly MethodUse[] {
  if (!uses.some(({ path }) => FINDING.has(path))) return [];
  return calls
    .filter(({ callee }) => callee.type === "MemberExpression" && isFoundCall(callee, context))
    .map((call) => ({ path: FOUND_PATH, method: undefined, node: call.callee, call, isWholeSkill: false }));
}

function isFoundCall(callee: Extract<AnyNode, { readonly type: "MemberExpression" }>, context: CheckContext): boolean {
  if (literalName(callee.property, callee.computed) !== "call") return false;
  if (callee.object.type === "Identifier" && isFunctionName(callee.object, context)) return false;
  const root = findRoot(callee.object);
  if (root.type !== "Identifier") return false;
  return root.name === "device" || context.scopes.findBinding(root) !== undefined;
}

function isFunctionName(name: Identifier, context: CheckContext): boolean {
  const binding = context.scopes.findBinding(name);
  return binding !== undefined && findFunction(binding, context) !== undefined;
}

/** The leftmost expression of a chain: `found` for `found.results[0]`, `device` for `(await device.describe("…"))`. */
function findRoot(node: AnyNode): AnyNode {
  for (let at = node; ;) {
    if (at.type === "MemberExpression") at = at.object;
    else if (at.type === "CallExpression") at = at.callee;
    else if (at.type === "AwaitExpression") at = at.argument;
    else if (at.type === "ChainExpression") at = at.expression;
    else return at;
  }
}
