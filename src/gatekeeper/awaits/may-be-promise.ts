import type { AnyNode } from "acorn";
import { type CheckContext, findFunction, getParent } from "../context.ts";
import type { MethodCalls } from "../rules/device.ts";
import { isCombinator } from "./promise-destination.ts";
import type { Binding } from "../ast/scopes.ts";
import { byType, type ByType, literalName } from "../ast/walk.ts";

const cache = new WeakMap<Binding, boolean>();

/** False if an expression is certainly not a promise. Checks only its form and the assignments of variables. */
export function mayBePromise(node: AnyNode, context: CheckContext): boolean {
  return byType(MAYBE, node, node)?.(context) ?? false;
}

const NUMBERS: ReadonlySet<string> = new Set(["length", "size"]);
const PLAIN: ReadonlySet<string> = new Set(
  "Array BigInt Boolean Date Error JSON Map Math Number Object RegExp Set String Symbol URL console isFinite isNaN parseFloat parseInt print".split(
    " ",
  ),
);

const MAYBE: ByType<(context: CheckContext) => boolean> = {
  AssignmentExpression:
    ({ operator, right }) =>
    (context) =>
      (operator === "=" || /^(?:\|\||&&|\?\?)=$/.test(operator)) && mayBePromise(right, context),
  CallExpression:
    ({ callee }) =>
    ({ scopes }) => {
      const root = callee.type === "MemberExpression" ? callee.object : callee;
      return !(root.type === "Identifier" && PLAIN.has(root.name) && scopes.findBinding(root) === undefined);
    },
  ChainExpression:
    ({ expression }) =>
    (context) =>
      mayBePromise(expression, context),
  ConditionalExpression:
    ({ consequent, alternate }) =>
    (context) =>
      mayBePromise(consequent, context) || mayBePromise(alternate, context),
  Identifier: (identifier) => (context) => {
    const binding = context.scopes.findBinding(identifier);
    return binding !== undefined && nameMayBe(binding, context);
  },
  LogicalExpression:
    ({ left, right }) =>
    (context) =>
      mayBePromise(left, context) || mayBePromise(right, context),
  MemberExpression:
    ({ property, computed }) =>
    () =>
      !NUMBERS.has(literalName(property, computed) ?? ""),
  NewExpression:
    ({ callee }) =>
    () =>
      callee.type === "Identifier" && callee.name === "Promise",
  SequenceExpression:
    ({ expressions }) =>
    (context) =>
      expressions.some((each) => mayBePromise(each, context)),
  TaggedTemplateExpression: () => () => true,
  YieldExpression: () => () => true,
};

function nameMayBe(binding: Binding, context: CheckContext): boolean {
  const before = cache.get(binding);
  if (before !== undefined) return before;
  cache.set(binding, false);
  const may = [...binding.declared, ...binding.writes].some((name) => {
    const holder = getParent(name, context);
    if (holder === undefined) return true;
    if (holder.type === "VariableDeclarator" && holder.id === name) {
      if (holder.init != null) return mayBePromise(holder.init, context);
      const loop = getParent(getParent(holder, context) as AnyNode, context);
      return loop?.type === "ForOfStatement";
    }
    if (holder.type === "AssignmentExpression" && holder.left === name)
      return /^(?:|\|\||&&|\?\?)=$/.test(holder.operator) && mayBePromise(holder.right, context);
    if (holder.type === "FunctionDeclaration" || holder.type === "ClassDeclaration")
      return "params" in holder && holder.params.includes(name);
    return holder.type !== "UpdateExpression" && holder.type !== "CatchClause";
  });
  cache.set(binding, may);
  return may;
}

/** True for a call that certainly returns a promise: of a method, a local async function, or `Promise.all` and the like. */
export function isPromiseCall(node: AnyNode, calls: MethodCalls, context: CheckContext): boolean {
  const call = node.type === "ChainExpression" ? node.expression : node;
  if (call.type !== "CallExpression") return false;
  if (calls.has(call)) return true;
  const { callee } = call;
  if (callee.type === "Identifier") {
    const binding = context.scopes.findBinding(callee);
    const func = binding && findFunction(binding, context);
    return func?.async === true && !func.generator;
  }
  return isCombinator(call);
}
