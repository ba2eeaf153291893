import type { AnyNode, CallExpression } from "acorn";
import type { MethodCalls } from "../rules/device.ts";
import { iterateAncestors, type CheckContext } from "../context.ts";
import type { Binding } from "../ast/scopes.ts";
import { byType, type ByType, getIdentifiers, isFunction, literalName } from "../ast/walk.ts";

/** Members that change what they are called on, or what they are given. */
const CHANGING: ReadonlySet<string> = new Set(
  `push unshift pop shift splice sort reverse fill copyWithin add set append delete clear next assign defineProperty log info
   warn error debug`.split(/\s+/),
);

/** The functions that assign to variables around them, fill lists that are not their own, print, or call others. */
export function findSideEffects(calls: MethodCalls, context: CheckContext): ReadonlySet<AnyNode> {
  const functions = new Set<AnyNode>();
  for (const node of context.scopes.parents.keys()) {
    const changed = calls.has(node) ? [] : (byType(CHANGED, node, node) ?? []);
    for (const name of changed) addAround(node, context.scopes.findBinding(name), functions, context);
  }
  return functions;
}

/** All functions around a change, up to the one that has the changed name for itself. */
function addAround(node: AnyNode, changed: Binding | undefined, functions: Set<AnyNode>, context: CheckContext): void {
  const declared = changed?.declared[0];
  for (const outer of iterateAncestors(node, context)) {
    if (declared !== undefined && declared.start >= outer.start && declared.end <= outer.end) return;
    if (isFunction(outer)) functions.add(outer);
  }
}

/** What a node changes, by the names at its root. */
const CHANGED: ByType<readonly AnyNode[]> = {
  AssignmentExpression: ({ left }) => (left.type === "MemberExpression" ? [rootOf(left)] : getIdentifiers(left)),
  CallExpression: (call) => changedByCall(call),
  UnaryExpression: ({ operator, argument }) => (operator === "delete" ? [rootOf(argument)] : []),
  UpdateExpression: ({ argument }) => [rootOf(argument)],
};

function changedByCall({ callee }: CallExpression): readonly AnyNode[] {
  if (callee.type === "Identifier") return [callee];
  if (callee.type !== "MemberExpression") return [];
  const name = literalName(callee.property, callee.computed);
  return name === undefined || CHANGING.has(name) ? [rootOf(callee)] : [];
}

function rootOf(node: AnyNode): AnyNode {
  let at = node;
  while (at.type === "MemberExpression" || at.type === "ChainExpression")
    at = at.type === "MemberExpression" ? at.object : at.expression;
  return at;
}
