import type { AnyNode } from "acorn";
import { functionAround, findFunction, type CheckContext, getParent } from "../context.ts";
import { TAKING } from "./promise-methods.ts";
import type { Binding } from "../ast/scopes.ts";
import { getRootObject, byType, type ByType, literalName } from "../ast/walk.ts";

/**
 * Where a tested promise comes from: `made` by the tested call itself, `kept` by the function that tests it, or `left` by an
 * earlier call in something that outlives the function. Only a `left` promise can be missing, so its test must not wait.
 */
export type Presence = "made" | "kept" | "left";

/** The maximum number of checked assignments per variable. */
const MAX_VALUES = 20;

export function getPresence(tested: AnyNode, context: CheckContext): Presence {
  return byType(PRESENCES, tested, tested)?.(context) ?? "kept";
}

const PRESENCES: ByType<(context: CheckContext) => Presence> = {
  AssignmentExpression:
    ({ right }) =>
    (context) =>
      getPresence(right, context),
  CallExpression: (call) => (context) => {
    if (isElementAccess(call)) return getElementPresence(call, context);
    const result = getResult(call.callee, context);
    const isFound = result !== undefined && (result.type === "MemberExpression" || isElementAccess(result));
    return isFound ? getElementPresence(result, context) : "made";
  },
  ChainExpression:
    ({ expression }) =>
    (context) =>
      getPresence(expression, context),
  Identifier: (identifier) => (context) => getNamePresence(identifier, context),
  LogicalExpression:
    ({ left, right }) =>
    (context) =>
      getPresence(left, context) === "left" ? "left" : getPresence(right, context),
  MemberExpression: (member) => (context) => getElementPresence(member, context),
  NewExpression: () => () => "made",
};

function isElementAccess(node: AnyNode): boolean {
  if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return false;
  return TAKING.has(literalName(node.callee.property, node.callee.computed) ?? "");
}

/** The expression that a function returns last: `cache[id]` for `const find = (id) => cache[id]`. */
function getResult(callee: AnyNode, context: CheckContext): AnyNode | undefined {
  const binding = callee.type === "Identifier" ? context.scopes.findBinding(callee) : undefined;
  const func = binding && findFunction(binding, context);
  if (func === undefined || func.body.type !== "BlockStatement") return func?.body;
  const last = func.body.body.at(-1);
  return last?.type === "ReturnStatement" ? (last.argument ?? undefined) : undefined;
}

/** The presence of an element of a list or object: `kept` if the function itself created the collection. */
function getElementPresence(element: AnyNode, context: CheckContext): Presence {
  const around = functionAround(element, context);
  const root = getRootObject(element, { throughCalls: true });
  if (around === undefined) return "kept";
  if (root.type === "ThisExpression") return "left";
  const binding = root.type === "Identifier" ? context.scopes.findBinding(root) : undefined;
  if (binding === undefined) return "kept";
  const isOwn = isDeclaredIn(around, binding, context) && binding.kind !== "parameter";
  return isOwn && getValues(binding, context).every(({ type }) => MADE_HERE.has(type)) ? "kept" : "left";
}

const MADE_HERE: ReadonlySet<string> = new Set(["ArrayExpression", "NewExpression", "ObjectExpression"]);

/** The presence of a variable: `left` if an outer function declares it and it is reassigned. */
function getNamePresence(name: AnyNode, context: CheckContext): Presence {
  const around = functionAround(name, context);
  const binding = context.scopes.findBinding(name);
  if (around === undefined || binding === undefined) return "kept";
  if (binding.writes.length > 0 && !isDeclaredIn(around, binding, context)) return "left";
  const isTakenOut = getValues(binding, context).some(
    (value) => value.type !== "Identifier" && getPresence(value, context) === "left",
  );
  return isTakenOut ? "left" : "kept";
}

function isDeclaredIn(around: AnyNode, { declared: [name] }: Binding, context: CheckContext): boolean {
  return name !== undefined && functionAround(name, context) === around;
}

/** The initial value of a variable and its later values. */
function getValues({ declared, writes }: Binding, context: CheckContext): readonly AnyNode[] {
  return [...declared, ...writes].slice(0, MAX_VALUES).flatMap((name) => {
    const holder = getParent(name, context);
    if (holder?.type === "VariableDeclarator" && holder.id === name) return holder.init ?? [];
    return holder?.type === "AssignmentExpression" && holder.left === name ? [holder.right] : [];
  });
}
