import type { AnyNode } from "acorn";
import { functionAround, findFunction, type CheckContext, getParent } from "../context.ts";
import { TAKING } from "./promise-methods.ts";
import type { Binding } from "../ast/scopes.ts";
import { byType, type ByType, literalName } from "../ast/walk.ts";

/**
 * What a test asks of a promise: `made` by the tested call itself, `kept` by the function that tests it, or `left` by a call
 * before, in what outlives the function. Only there it can be missing, and what is put there must be so at once.
 */
export type Presence = "made" | "kept" | "left";

/** Of a variable that gets more values than these, the first tell. */
const MOST_VALUES = 20;

export function presenceOf(tested: AnyNode, context: CheckContext): Presence {
  return byType(PRESENCES, tested, tested)?.(context) ?? "kept";
}

const PRESENCES: ByType<(context: CheckContext) => Presence> = {
  AssignmentExpression:
    ({ right }) =>
    (context) =>
      presenceOf(right, context),
  CallExpression: (call) => (context) => {
    if (isTaking(call)) return presenceInside(call, context);
    const result = resultOf(call.callee, context);
    const isFound = result !== undefined && (result.type === "MemberExpression" || isTaking(result));
    return isFound ? presenceInside(result, context) : "made";
  },
  ChainExpression:
    ({ expression }) =>
    (context) =>
      presenceOf(expression, context),
  Identifier: (identifier) => (context) => presenceOfName(identifier, context),
  LogicalExpression:
    ({ left, right }) =>
    (context) =>
      presenceOf(left, context) === "left" ? "left" : presenceOf(right, context),
  MemberExpression: (member) => (context) => presenceInside(member, context),
  NewExpression: () => () => "made",
};

function isTaking(node: AnyNode): boolean {
  if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return false;
  return TAKING.has(literalName(node.callee.property, node.callee.computed) ?? "");
}

/** What a function of that name gives back last, as `const find = (id) => cache[id]` does. */
function resultOf(callee: AnyNode, context: CheckContext): AnyNode | undefined {
  const binding = callee.type === "Identifier" ? context.scopes.findBinding(callee) : undefined;
  const func = binding && findFunction(binding, context);
  if (func === undefined || func.body.type !== "BlockStatement") return func?.body;
  const last = func.body.body.at(-1);
  return last?.type === "ReturnStatement" ? (last.argument ?? undefined) : undefined;
}

/** What is taken out of a list or object; one that the function has made itself holds what the function put there. */
function presenceInside(taken: AnyNode, context: CheckContext): Presence {
  const around = functionAround(taken, context);
  const root = rootOf(taken);
  if (around === undefined) return "kept";
  if (root.type === "ThisExpression") return "left";
  const binding = root.type === "Identifier" ? context.scopes.findBinding(root) : undefined;
  if (binding === undefined) return "kept";
  const isOwn = isDeclaredIn(around, binding, context) && binding.kind !== "parameter";
  return isOwn && valuesOf(binding, context).every(({ type }) => MADE_HERE.has(type)) ? "kept" : "left";
}

const MADE_HERE: ReadonlySet<string> = new Set(["ArrayExpression", "NewExpression", "ObjectExpression"]);

/** A variable outlives the functions inside of the one that declares it; others hold what they are given. */
function presenceOfName(name: AnyNode, context: CheckContext): Presence {
  const around = functionAround(name, context);
  const binding = context.scopes.findBinding(name);
  if (around === undefined || binding === undefined) return "kept";
  if (binding.writes.length > 0 && !isDeclaredIn(around, binding, context)) return "left";
  const isTakenOut = valuesOf(binding, context).some(
    (value) => value.type !== "Identifier" && presenceOf(value, context) === "left",
  );
  return isTakenOut ? "left" : "kept";
}

function isDeclaredIn(around: AnyNode, { declared: [name] }: Binding, context: CheckContext): boolean {
  return name !== undefined && functionAround(name, context) === around;
}

/** What a variable begins with, and what it is set to later. */
function valuesOf({ declared, writes }: Binding, context: CheckContext): readonly AnyNode[] {
  return [...declared, ...writes].slice(0, MOST_VALUES).flatMap((name) => {
    const holder = getParent(name, context);
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
