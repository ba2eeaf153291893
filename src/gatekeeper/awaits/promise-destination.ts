import type { AnyNode, CallExpression, ForOfStatement } from "acorn";
import { type CheckContext, getParent } from "../context.ts";
import { COMBINATORS, THEN } from "./promise-methods.ts";
import type { Binding } from "../ast/scopes.ts";
import { byType, type ByType, getIdentifiers, getRootObject, isFunction, literalName } from "../ast/walk.ts";

/** Where a promise goes in one step: it is awaited, stored in a variable, unused, or unknown. */
export type Destination = "awaited" | "unknown" | "unused" | Binding;

const ADDING: ReadonlySet<string> = new Set(["push", "unshift", "set", "add"]);

export function findDestination(promise: AnyNode, context: CheckContext): Destination {
  let inside = promise;
  for (let outer = getParent(promise, context); outer !== undefined; outer = getParent(outer, context)) {
    const step = byType(STEPS, outer, inside)?.(context) ?? "unknown";
    if (step !== "onward") return step;
    if (isFunction(outer) && getParent(outer, context)?.type !== "CallExpression") return "unknown";
    inside = outer;
  }
  return "unknown";
}

const ONWARD = (): (() => "onward") => () => "onward";
const UNUSED = (): (() => "unused") => () => "unused";

/** Where a promise goes from inside a node; `onward` if it becomes the value of the node. */
const STEPS: ByType<(context: CheckContext) => Destination | "onward"> = {
  ArrayExpression: ONWARD,
  ArrowFunctionExpression:
    ({ body }, inside) =>
    () =>
      body === inside ? "onward" : "unknown",
  AssignmentExpression:
    ({ left }) =>
    ({ scopes }) =>
      (left.type === "Identifier" ? scopes.findBinding(left) : undefined) ?? "unknown",
  AwaitExpression: () => () => "awaited",
  BinaryExpression: UNUSED,
  CallExpression: (call) => (context) => destinationInCall(call, context),
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
      (id.type === "Identifier" ? scopes.findBinding(id) : undefined) ?? "unused",
};

/** Where a promise goes that is an argument of a call. */
export function destinationInCall(call: CallExpression, { scopes }: CheckContext): Destination | "onward" {
  if (isCombinator(call)) return "awaited";
  const { callee } = call;
  if (callee.type !== "MemberExpression") return "unknown";
  const name = literalName(callee.property, callee.computed) ?? "";
  if (name === "map" || name === "from") return "onward";
  const root = getRootObject(callee.object);
  return (ADDING.has(name) && root.type === "Identifier" ? scopes.findBinding(root) : undefined) ?? "unknown";
}

/** True for a variable that is awaited, or passed to `Promise.all` and the like, itself or in a list. */
export function isWaitedFor(binding: Binding, context: CheckContext): boolean {
  let isKnown = waitedFor.get(binding);
  isKnown ??=
    isSomeReadWaitedFor(binding, context) || holdsCombined(binding, context) || isAddedToCombined(binding, context);
  waitedFor.set(binding, isKnown);
  return isKnown;
}

const waitedFor = new WeakMap<Binding, boolean>();

function isSomeReadWaitedFor(binding: Binding, context: CheckContext): boolean {
  return binding.reads.some((read) => {
    let inside: AnyNode = read;
    for (let outer = getParent(read, context); outer !== undefined; outer = getParent(outer, context)) {
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

/** Methods of a list of promises that return some of them. */
const LISTING: ReadonlySet<string> = new Set(["concat", "filter", "flat", "slice", "values"]);
/** The maximum number of nodes between a list of promises and the call that gets it. */
const MAX_STEPS = 40;

/** The maximum number of variables, one in the value of the next, that are followed. */
const MAX_VARIABLES = 5;

/** True for a list of promises that is passed to `Promise.all` and the like or awaited in a loop, itself or by a variable. */
export function isCombined(list: AnyNode, context: CheckContext, variables = MAX_VARIABLES): boolean {
  let inside = list;
  for (let step = 0; step < MAX_STEPS; step++) {
    const outer = getParent(inside, context);
    if (outer === undefined) return false;
    if (outer.type === "VariableDeclarator" && outer.id.type === "Identifier") {
      const binding = context.scopes.findBinding(outer.id);
      return binding !== undefined && variables > 0 && holdsCombined(binding, context, variables - 1);
    }
    if (outer.type === "ForOfStatement") return outer.right === inside && awaitsItems(outer, context);
    if (outer.type === "CallExpression" && outer.callee !== inside) {
      if (!isOfObject(outer)) return isCombinator(outer);
    } else if (outer.type === "MemberExpression") {
      if (outer.object !== inside || !LISTING.has(literalName(outer.property, outer.computed) ?? "")) return false;
    } else if (!PARTS.has(outer.type)) return false;
    inside = outer;
  }
  return false;
}

/** True for `for (const p of list) await p` and the like. */
function awaitsItems({ await: isAwaited, left }: ForOfStatement, { scopes }: CheckContext): boolean {
  const names = left.type === "VariableDeclaration" ? left.declarations.flatMap(({ id }) => getIdentifiers(id)) : [];
  const reads = names.flatMap((name) => scopes.findBinding(name)?.reads ?? []);
  return isAwaited || reads.some((read) => isAwaitedAtOnce(read, scopes.parents.get(read)));
}

function isAwaitedAtOnce(read: AnyNode, parent: AnyNode | undefined): boolean {
  if (parent?.type === "MemberExpression")
    return parent.object === read && THEN.has(literalName(parent.property, parent.computed) ?? "");
  return parent?.type === "AwaitExpression";
}

const PARTS: ReadonlySet<string> = new Set(["ArrayExpression", "CallExpression", "SpreadElement"]);

/** True for a variable that holds a list of promises for `Promise.all` and the like. */
export function holdsCombined(binding: Binding, context: CheckContext, variables = MAX_VARIABLES): boolean {
  let isKnown = combined.get(binding);
  if (isKnown !== undefined) return isKnown;
  combined.set(binding, false); // for a variable in its own value
  isKnown = binding.reads.some((read) => isCombined(read, context, variables));
  combined.set(binding, isKnown);
  return isKnown;
}

const combined = new WeakMap<Binding, boolean>();

/** True for a variable that is put into a list of promises for `Promise.all` and the like. */
function isAddedToCombined({ reads }: Binding, context: CheckContext): boolean {
  return reads.some((read) => {
    const call = getParent(read, context);
    if (call?.type !== "CallExpression" || call.callee === read) return false;
    const list = destinationInCall(call, context);
    return typeof list === "object" && holdsCombined(list, context);
  });
}

/** True for calls such as `Object.values(ps)` and `Array.from(ps)`. */
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
