import type { AnyNode, CallExpression, MemberExpression } from "acorn";
import { type CheckContext, getParent } from "../context.ts";
import { literalName } from "../ast/walk.ts";
import type { MethodCalls, MethodUse } from "../rules/device.ts";
import { isPromiseCall } from "./may-be-promise.ts";
import { holdsCombined, isCombined } from "./promise-destination.ts";
import type { Binding } from "../ast/scopes.ts";
import type { AwaitWriter } from "./touched-places.ts";

/** The maximum number of spaces between a method and its parenthesis. */
const MAX_GAP = 50;
/** Methods that test or ignore the results of their callbacks. */
const TESTING: ReadonlySet<string> = new Set(
  "filter find findIndex findLast findLastIndex some every flatMap forEach groupBy".split(" "),
);
export const SEEKING: ReadonlySet<string> = new Set(["includes", "indexOf", "lastIndexOf", "has", "get", "delete"]);
/** Functions that inspect their arguments without touching a promise. */
const LOOKING: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["Array", new Set(["isArray"])],
  ["Number", new Set(["isInteger", "isFinite", "isNaN", "isSafeInteger"])],
  ["Object", new Set("keys values entries assign is hasOwn freeze getOwnPropertyNames getPrototypeOf".split(" "))],
  ["Reflect", new Set(["ownKeys", "has", "get"])],
]);
const CALLBACK_PARAMETERS: ReadonlyMap<string, number> = new Map([
  ..."map from forEach filter find findIndex findLast findLastIndex some every flatMap"
    .split(" ")
    .map((name) => [name, 1] as const),
  ...["sort", "toSorted", "reduce", "reduceRight"].map((name) => [name, 2] as const),
]);

/** Writes waits around arguments. */
interface ArgumentWriter extends Pick<AwaitWriter, "touch" | "test" | "visitUse"> {
  await(node: AnyNode): void;
  wrap(node: AnyNode, before: string, after: string): void;
}

/** Writes the waits for the arguments of a call that a builtin function inspects without touching a promise. */
export function visitArguments(
  call: CallExpression,
  writer: ArgumentWriter,
  calls: MethodCalls,
  context: CheckContext,
): void {
  const { callee, arguments: args } = call;
  const [first] = args;
  if (
    callee.type === "MemberExpression" &&
    callee.object.type !== "Super" &&
    literalName(callee.property, callee.computed) === "flat" &&
    !isCombined(call, context)
  )
    writer.wrap(callee.object, "__waitForAll(", ")");
  if (first === undefined || first.type === "SpreadElement") return;
  if (callee.type === "Identifier") {
    if (context.scopes.findBinding(callee) !== undefined) return;
    if (callee.name === "Boolean") writer.test(first);
    else if (callee.name === "structuredClone") writer.touch(first);
    else if (callee.name !== "print") for (const argument of args) writer.visitUse(argument);
    return;
  }
  if (callee.type !== "MemberExpression") return;
  const name = literalName(callee.property, callee.computed) ?? "";
  const { object } = callee;
  const isGlobal = object.type === "Identifier" && context.scopes.findBinding(object) === undefined;
  if (isGlobal && LOOKING.get(object.name)?.has(name) === true) {
    for (const argument of args) writer.touch(argument);
  } else if (isGlobal && (object.name === "Math" || object.name === "JSON")) {
    for (const argument of args) writer.visitUse(argument);
  } else if (TESTING.has(name)) {
    const callback = args[isGlobal ? 1 : 0];
    if (callback !== undefined && !keepsPromises(callback, call, context)) writer.wrap(callback, "__waitTested(", ")");
  } else if (name === "map" && isLooker(first)) writer.wrap(first, "__waitTested(", ")");
  else if (SEEKING.has(name) && !isGlobal && object.type !== "Super" && !calls.has(call))
    writeSeek(call, callee, context);
  else if (name === "add" && isPromiseCall(first, calls, context) && !isSetOfPromises(object, context))
    writer.await(first);
  else if (name === "set" && args.length > 1 && isPromiseCall(first, calls, context)) writer.await(first);
}

/**
 * True for a callback whose promises are meant: of `flatMap` and `filter(Boolean)` in `Promise.all(…)`, and one that stores
 * them, as in `forEach((id) => (jobs[id] = device.A.x(id)))`.
 */
function keepsPromises(callback: AnyNode, call: CallExpression, context: CheckContext): boolean {
  const name = getMethodName(call);
  if (name === "flatMap") return isCombined(call, context);
  if (name === "forEach")
    return (
      callback.type === "ArrowFunctionExpression" && !callback.async && callback.body.type === "AssignmentExpression"
    );
  return name === "filter" && isItemTest(callback) && isCombined(call, context);
}

/** The bodies of arrow functions that start no promise. */
const PLAIN_TESTS: ReadonlySet<string> = new Set(["BinaryExpression", "Identifier", "UnaryExpression"]);

/** True for `Boolean`, `(p) => p !== null` and the like. */
function isItemTest(callback: AnyNode): boolean {
  if (callback.type === "Identifier") return callback.name === "Boolean";
  return callback.type === "ArrowFunctionExpression" && !callback.async && PLAIN_TESTS.has(callback.body.type);
}

/** True for the `p` of `Promise.all(list.filter((p) => p !== null))`. */
export function isItemOfCombined({ declared: [name] }: Binding, context: CheckContext): boolean {
  const callback = name && getParent(name, context);
  const call = callback && getParent(callback, context);
  if (callback === undefined || call?.type !== "CallExpression" || call.arguments[0] !== callback) return false;
  return getMethodName(call) === "filter" && isItemTest(callback) && isCombined(call, context);
}

function getMethodName({ callee }: CallExpression): string | undefined {
  return callee.type === "MemberExpression" ? literalName(callee.property, callee.computed) : undefined;
}

function isSetOfPromises(object: AnyNode, context: CheckContext): boolean {
  const binding = object.type === "Identifier" ? context.scopes.findBinding(object) : undefined;
  return binding !== undefined && holdsCombined(binding, context);
}

/** Rewrites `set.has(x)` as `__waitSeek(set, "has", x)`, except for unusual formatting and optional chains. */
function writeSeek(
  { start, callee: { end } }: CallExpression,
  { object, property, computed }: MemberExpression,
  context: CheckContext,
): void {
  const { text } = context.program;
  const between = text.slice(object.end, property.start);
  const bracket = /^\s*\(/.exec(text.slice(end, end + MAX_GAP))?.[0];
  if (computed || bracket === undefined || !/^[\s)]*\.\s*$/.test(between) || property.type !== "Identifier") return;
  if (text.slice(start, end).includes("?.")) return;
  const dot = object.end + between.indexOf(".");
  context.report.replace({ start: dot, end: end + bracket.length }, `, "${property.name}", `);
  context.report.wrap({ start, end }, "__waitSeek(", "");
}

/** True for `Object.keys`, `Array.isArray`, `Boolean` and the like as callbacks. */
function isLooker(node: AnyNode): boolean {
  return node.type === "Identifier"
    ? node.name === "Boolean"
    : node.type === "MemberExpression" && node.object.type === "Identifier" && LOOKING.has(node.object.name);
}

/** Wraps a method that is passed as a callback, as in `ids.map(device.A.x)`, so that it gets no extra arguments. */
export function writeCallback({ node }: MethodUse, context: CheckContext): void {
  const call = getParent(node, context);
  if (call?.type !== "CallExpression" || call.callee.type !== "MemberExpression") return;
  const name = literalName(call.callee.property, call.callee.computed) ?? "";
  if (call.arguments[name === "from" ? 1 : 0] !== node) return;
  const parameters = ["__waitedFirst", "__waitedSecond"].slice(0, CALLBACK_PARAMETERS.get(name) ?? 0).join(", ");
  if (parameters !== "") context.report.wrap(node, `(${parameters}) => `, `(${parameters})`);
}
