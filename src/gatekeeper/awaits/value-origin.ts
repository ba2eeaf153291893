import type { AnyNode } from "acorn";
import { functionAround, findFunction, type CheckContext, getParent } from "../context.ts";
import { TAKING } from "./promise-methods.ts";
import type { Binding } from "../ast/scopes.ts";
import { getRootObject, byType, type ByType, literalName } from "../ast/walk.ts";

/**
 * The origin of a tested promise: the tested `call` itself, a `local` variable or collection of the function that tests it, or
 * an `outer` one that outlives the function. Only an `outer` promise can be missing, so its test must not wait.
 */
export type ValueOrigin = "call" | "local" | "outer";

/** The maximum number of checked assignments per variable. */
const MAX_VALUES = 20;

export function getOrigin(tested: AnyNode, context: CheckContext): ValueOrigin {
  return byType(ORIGINS, tested, tested)?.(context) ?? "local";
}

const ORIGINS: ByType<(context: CheckContext) => ValueOrigin> = {
  AssignmentExpression:
    ({ right }) =>
    (context) =>
      getOrigin(right, context),
  CallExpression: (call) => (context) => {
    if (isElementAccess(call)) return getElementOrigin(call, context);
    const result = getResult(call.callee, context);
    const isFound = result !== undefined && (result.type === "MemberExpression" || isElementAccess(result));
    return isFound ? getElementOrigin(result, context) : "call";
  },
  ChainExpression:
    ({ expression }) =>
    (context) =>
      getOrigin(expression, context),
  Identifier: (identifier) => (context) => getNameOrigin(identifier, context),
  LogicalExpression:
    ({ left, right }) =>
    (context) =>
      getOrigin(left, context) === "outer" ? "outer" : getOrigin(right, context),
  MemberExpression: (member) => (context) => getElementOrigin(member, context),
  NewExpression: () => () => "call",
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

/** The origin of an element of a list or object: `local` if the function itself created the collection. */
function getElementOrigin(element: AnyNode, context: CheckContext): ValueOrigin {
  const around = functionAround(element, context);
  const root = getRootObject(element, { throughCalls: true });
  if (around === undefined) return "local";
  if (root.type === "ThisExpression") return "outer";
  const binding = root.type === "Identifier" ? context.scopes.findBinding(root) : undefined;
  if (binding === undefined) return "local";
  const isOwn = isDeclaredIn(around, binding, context) && binding.kind !== "parameter";
  return isOwn && getValues(binding, context).every(({ type }) => MADE_HERE.has(type)) ? "local" : "outer";
}

const MADE_HERE: ReadonlySet<string> = new Set(["ArrayExpression", "NewExpression", "ObjectExpression"]);

/** The origin of a variable: `outer` if an outer function declares it and it is reassigned. */
function getNameOrigin(name: AnyNode, context: CheckContext): ValueOrigin {
  const around = functionAround(name, context);
  const binding = context.scopes.findBinding(name);
  if (around === undefined || binding === undefined) return "local";
  if (binding.writes.length > 0 && !isDeclaredIn(around, binding, context)) return "outer";
  const isOuter = getValues(binding, context).some(
    (value) => value.type !== "Identifier" && getOrigin(value, context) === "outer",
  );
  return isOuter ? "outer" : "local";
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
