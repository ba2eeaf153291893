import type { AnyNode, CallExpression } from "acorn";
import { type Inspection, parentOf } from "../inspection.ts";
import { COMBINATORS, THEN } from "./promise-methods.ts";
import type { Binding } from "../scopes.ts";
import { byType, type ByType, isFunction, literalName } from "../walk.ts";

/** Where a promise goes, one step far: it is waited for, or kept under a name, or nobody can tell. */
export type Destination = "awaited" | "unknown" | "unused" | Binding;

const ADDING: ReadonlySet<string> = new Set(["push", "unshift", "set", "add"]);

export function destinationOf(promise: AnyNode, inspection: Inspection): Destination {
  let inside = promise;
  for (let outer = parentOf(promise, inspection); outer !== undefined; outer = parentOf(outer, inspection)) {
    const step = byType(STEPS, outer, inside)?.(inspection) ?? "unknown";
    if (step !== "onward") return step;
    if (isFunction(outer) && parentOf(outer, inspection)?.type !== "CallExpression") return "unknown";
    inside = outer;
  }
  return "unknown";
}

const ONWARD = (): (() => "onward") => () => "onward";
const UNUSED = (): (() => "unused") => () => "unused";

/** Where a promise goes from inside of a node; `onward` if it is what the node gives. */
const STEPS: ByType<(inspection: Inspection) => Destination | "onward"> = {
  ArrayExpression: ONWARD,
  ArrowFunctionExpression:
    ({ body }, inside) =>
    () =>
      body === inside ? "onward" : "unknown",
  AssignmentExpression:
    ({ left }) =>
    ({ scopes }) =>
      (left.type === "Identifier" ? scopes.bindingOf(left) : undefined) ?? "unknown",
  AwaitExpression: () => () => "awaited",
  BinaryExpression: UNUSED,
  CallExpression: (call) => (inspection) => destinationInCall(call, inspection),
  ChainExpression: ONWARD,
  ConditionalExpression: ONWARD,
  ExpressionStatement: UNUSED,
  LogicalExpression: ONWARD,
  MemberExpression:
    ({ property, computed }) =>
    () =>
      THEN.has(literalName(property, computed) ?? "") ? "awaited" : "unused",
  ObjectExpression: ONWARD,
  Property: ONWARD,
  TemplateLiteral: UNUSED,
  UnaryExpression: UNUSED,
  VariableDeclarator:
    ({ id }) =>
    ({ scopes }) =>
      (id.type === "Identifier" ? scopes.bindingOf(id) : undefined) ?? "unused",
};

function destinationInCall(call: CallExpression, { scopes }: Inspection): Destination | "onward" {
  if (isCombinator(call)) return "awaited";
  const { callee } = call;
  if (callee.type !== "MemberExpression") return "unknown";
  const name = literalName(callee.property, callee.computed) ?? "";
  if (name === "map" || name === "from") return "onward";
  const root = rootOf(callee.object);
  return (ADDING.has(name) && root.type === "Identifier" ? scopes.bindingOf(root) : undefined) ?? "unknown";
}

/** True for a variable that is awaited, or holds what `Promise.all` and the like are given. */
export function isWaitedFor(binding: Binding, inspection: Inspection): boolean {
  let isKnown = waitedFor.get(binding);
  if (isKnown === undefined) waitedFor.set(binding, (isKnown = isSomeReadWaitedFor(binding, inspection)));
  return isKnown;
}

const waitedFor = new WeakMap<Binding, boolean>();

function isSomeReadWaitedFor(binding: Binding, inspection: Inspection): boolean {
  return binding.reads.some((read) => {
    let inside: AnyNode = read;
    for (let outer = parentOf(read, inspection); outer !== undefined; outer = parentOf(outer, inspection)) {
      if (outer.type === "AwaitExpression") return true;
      if (outer.type === "MemberExpression" && outer.object === inside) {
        const name = literalName(outer.property, outer.computed) ?? "";
        if (THEN.has(name)) return true;
      } else if (outer.type === "CallExpression") {
        if (outer.callee !== inside && isCombinator(outer)) return true;
        if (outer.callee !== inside && !isOfObject(outer)) return false;
      } else if (outer.type !== "ArrayExpression" && outer.type !== "SpreadElement") return false;
      inside = outer;
    }
    return false;
  });
}

/** `Object.values(ps)`, `Array.from(ps)` */
function isOfObject({ callee }: CallExpression): boolean {
  return (
    callee.type === "MemberExpression" &&
    callee.object.type === "Identifier" &&
    /^(?:Object|Array)$/.test(callee.object.name)
  );
}

export function isCombinator({ callee }: CallExpression): boolean {
  return (
    callee.type === "MemberExpression" &&
    callee.object.type === "Identifier" &&
    callee.object.name === "Promise" &&
    COMBINATORS.has(literalName(callee.property, callee.computed) ?? "")
  );
}

function rootOf(node: AnyNode): AnyNode {
  let at = node;
  while (at.type === "MemberExpression" || at.type === "ChainExpression")
    at = at.type === "MemberExpression" ? at.object : at.expression;
  return at;
}
