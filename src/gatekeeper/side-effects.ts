import type { AnyNode, CallExpression } from "acorn";
import type { Calls } from "./device.ts";
import { ancestorsOf, type Inspection } from "./inspection.ts";
import type { OwnFunctions } from "./own.ts";
import { byType, type ByType, identifiersOf, isFunction, literalName } from "./walk.ts";

/** Members that change what they are called on, or what they are given. */
const CHANGING: ReadonlySet<string> = new Set(
  `push unshift pop shift splice sort reverse fill copyWithin add set append delete clear next assign defineProperty log info
   warn error debug`.split(/\s+/),
);

/**
 * Functions whose work others can see before it is over: they assign to variables around them, fill lists that are not their
 * own, print, or call functions that may do so.
 */
export function findSideEffects(
  known: { readonly calls: Calls; readonly own: OwnFunctions },
  inspection: Inspection,
): ReadonlySet<AnyNode> {
  const found = new Set<AnyNode>();
  for (const node of inspection.scopes.parents.keys()) {
    const changed = known.calls.has(node) ? [] : (byType(CHANGED, node, node)?.(known.own) ?? []);
    for (const name of changed) markAround(node, inspection.scopes.bindingOf(name)?.declared[0], found, inspection);
  }
  return found;
}

/** All functions around a change, up to the one that has the changed name for itself. */
function markAround(node: AnyNode, declared: AnyNode | undefined, found: Set<AnyNode>, inspection: Inspection): void {
  for (const outer of ancestorsOf(node, inspection)) {
    if (declared !== undefined && declared.start >= outer.start && declared.end <= outer.end) return;
    if (isFunction(outer)) found.add(outer);
  }
}

/** What a node changes, by the names at its root. */
const CHANGED: ByType<(own: OwnFunctions) => readonly AnyNode[]> = {
  AssignmentExpression:
    ({ left }) =>
    () =>
      left.type === "MemberExpression" ? [rootOf(left)] : identifiersOf(left),
  CallExpression: (call) => (own) => changedByCall(call, own),
  UnaryExpression:
    ({ operator, argument }) =>
    () =>
      operator === "delete" ? [rootOf(argument)] : [],
  UpdateExpression:
    ({ argument }) =>
    () => [rootOf(argument)],
};

function changedByCall({ callee }: CallExpression, own: OwnFunctions): readonly AnyNode[] {
  if (callee.type === "Identifier") return [callee];
  if (callee.type !== "MemberExpression") return [];
  const name = literalName(callee.property, callee.computed);
  return name === undefined || CHANGING.has(name) || own.behind(callee).length > 0 ? [rootOf(callee)] : [];
}

function rootOf(node: AnyNode): AnyNode {
  let at = node;
  while (at.type === "MemberExpression" || at.type === "ChainExpression")
    at = at.type === "MemberExpression" ? at.object : at.expression;
  return at;
}
