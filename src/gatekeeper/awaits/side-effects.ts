import type { AnyNode, CallExpression } from "acorn";
import type { MethodCalls } from "../rules/device.ts";
import { iterateAncestors, type CheckContext } from "../context.ts";
import type { Binding } from "../ast/scopes.ts";
import { byType, type ByType, getIdentifiers, getRootObject, isFunction, literalName } from "../ast/walk.ts";

/** Methods that change their object or their arguments, or that print. */
const CHANGING: ReadonlySet<string> = new Set(
  `push unshift pop shift splice sort reverse fill copyWithin add set append delete clear next assign defineProperty log info
   warn error debug`.split(/\s+/),
);

/** Finds the functions that assign to outer variables, change outer objects, print, or call outer functions. */
export function findSideEffects(calls: MethodCalls, context: CheckContext): ReadonlySet<AnyNode> {
  const functions = new Set<AnyNode>();
  for (const node of context.scopes.parents.keys()) {
    const changed = calls.has(node) ? [] : (byType(CHANGED, node, node) ?? []);
    for (const name of changed) addAround(node, context.scopes.findBinding(name), functions, context);
  }
  return functions;
}

/** Adds all functions around a change, up to the one that declares the changed name. */
function addAround(node: AnyNode, changed: Binding | undefined, functions: Set<AnyNode>, context: CheckContext): void {
  const declared = changed?.declared[0];
  for (const outer of iterateAncestors(node, context)) {
    if (declared !== undefined && declared.start >= outer.start && declared.end <= outer.end) return;
    if (isFunction(outer)) functions.add(outer);
  }
}

/** The root names that a node changes. */
const CHANGED: ByType<readonly AnyNode[]> = {
  AssignmentExpression: ({ left }) => (left.type === "MemberExpression" ? [getRootObject(left)] : getIdentifiers(left)),
  CallExpression: (call) => changedByCall(call),
  UnaryExpression: ({ operator, argument }) => (operator === "delete" ? [getRootObject(argument)] : []),
  UpdateExpression: ({ argument }) => [getRootObject(argument)],
};

function changedByCall({ callee }: CallExpression): readonly AnyNode[] {
  if (callee.type === "Identifier") return [callee];
  if (callee.type !== "MemberExpression") return [];
  const name = literalName(callee.property, callee.computed);
  return name === undefined || CHANGING.has(name) ? [getRootObject(callee)] : [];
}
