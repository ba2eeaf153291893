import type { AnyNode } from "acorn";
import { functionAround, functionOf, type Inspection, parentOf } from "../inspection.ts";
import { TAKING } from "./promise-methods.ts";
import type { Binding } from "../scopes.ts";
import { byType, type ByType, literalName } from "../walk.ts";

/**
 * What a test asks of a promise: `made` by the tested call itself, `kept` by the function that tests it, or `left` by a call
 * before, in what outlives the function. Only there it can be missing, and what is put there must be so at once.
 */
export type Presence = "made" | "kept" | "left";

/** Of a variable that gets more values than these, the first tell. */
const MOST_VALUES = 20;

export function presenceOf(tested: AnyNode, inspection: Inspection): Presence {
  return byType(PRESENCES, tested, tested)?.(inspection) ?? "kept";
}

const PRESENCES: ByType<(inspection: Inspection) => Presence> = {
  AssignmentExpression:
    ({ right }) =>
    (inspection) =>
      presenceOf(right, inspection),
  CallExpression: (call) => (inspection) => {
    if (isTaking(call)) return presenceInside(call, inspection);
    const result = resultOf(call.callee, inspection);
    const isFound = result !== undefined && (result.type === "MemberExpression" || isTaking(result));
    return isFound ? presenceInside(result, inspection) : "made";
  },
  ChainExpression:
    ({ expression }) =>
    (inspection) =>
      presenceOf(expression, inspection),
  Identifier: (identifier) => (inspection) => presenceOfName(identifier, inspection),
  LogicalExpression:
    ({ left, right }) =>
    (inspection) =>
      presenceOf(left, inspection) === "left" ? "left" : presenceOf(right, inspection),
  MemberExpression: (member) => (inspection) => presenceInside(member, inspection),
  NewExpression: () => () => "made",
};

function isTaking(node: AnyNode): boolean {
  if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return false;
  return TAKING.has(literalName(node.callee.property, node.callee.computed) ?? "");
}

/** What a function of that name gives back last, as `const find = (id) => cache[id]` does. */
function resultOf(callee: AnyNode, inspection: Inspection): AnyNode | undefined {
  const binding = callee.type === "Identifier" ? inspection.scopes.bindingOf(callee) : undefined;
  const func = binding && functionOf(binding, inspection);
  if (func === undefined || func.body.type !== "BlockStatement") return func?.body;
  const last = func.body.body.at(-1);
  return last?.type === "ReturnStatement" ? (last.argument ?? undefined) : undefined;
}

/** What is taken out of a list or object; one that the function has made itself holds what the function put there. */
function presenceInside(taken: AnyNode, inspection: Inspection): Presence {
  const around = functionAround(taken, inspection);
  const root = rootOf(taken);
  if (around === undefined) return "kept";
  if (root.type === "ThisExpression") return "left";
  const binding = root.type === "Identifier" ? inspection.scopes.bindingOf(root) : undefined;
  if (binding === undefined) return "kept";
  const isOwn = isDeclaredIn(around, binding, inspection) && binding.kind !== "parameter";
  return isOwn && valuesOf(binding, inspection).every(({ type }) => MADE_HERE.has(type)) ? "kept" : "left";
}

const MADE_HERE: ReadonlySet<string> = new Set(["ArrayExpression", "NewExpression", "ObjectExpression"]);

/** A variable outlives the functions inside of the one that declares it; others hold what they are given. */
function presenceOfName(name: AnyNode, inspection: Inspection): Presence {
  const around = functionAround(name, inspection);
  const binding = inspection.scopes.bindingOf(name);
  if (around === undefined || binding === undefined) return "kept";
  if (binding.writes.length > 0 && !isDeclaredIn(around, binding, inspection)) return "left";
  const isTakenOut = valuesOf(binding, inspection).some(
    (value) => value.type !== "Identifier" && presenceOf(value, inspection) === "left",
  );
  return isTakenOut ? "left" : "kept";
}

function isDeclaredIn(around: AnyNode, { declared: [name] }: Binding, inspection: Inspection): boolean {
  return name !== undefined && functionAround(name, inspection) === around;
}

/** What a variable begins with, and what it is set to later. */
function valuesOf({ declared, writes }: Binding, inspection: Inspection): readonly AnyNode[] {
  return [...declared, ...writes].slice(0, MOST_VALUES).flatMap((name) => {
    const holder = parentOf(name, inspection);
    if (holder?.type === "VariableDeclarator" && holder.id === name) return holder.init ?? [];
    return holder?.type === "AssignmentExpression" && holder.left === name ? [holder.right] : [];
  });
}

/** `cache` of `cache.users.get(id)` */
function rootOf(taken: AnyNode): AnyNode {
  let at = taken;
  for (;;) {
    if (at.type === "MemberExpression") at = at.object;
    else if (at.type === "ChainExpression") at = at.expression;
    else if (at.type === "CallExpression" && at.callee.type === "MemberExpression") at = at.callee.object;
    else return at;
  }
}
