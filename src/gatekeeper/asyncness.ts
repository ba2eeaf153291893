import type { AnyNode } from "acorn";
import type { Calls } from "./device.ts";
import { functionAround, type Inspection, isAsync, mayAwait, parentOf } from "./inspection.ts";
import type { Await } from "./syntax.ts";
import { type FunctionNode, isFunction, literalName } from "./walk.ts";

/** Callbacks of these that are async would be taken for their promises, or not be waited for. */
export const SYNC_CALLBACKS: ReadonlySet<string> = new Set(
  "forEach filter find findIndex findLast findLastIndex some every sort toSorted flatMap".split(" "),
);

/** The same, as their second argument. */
const SYNC_SECOND_CALLBACKS: ReadonlySet<string> = new Set(["replace", "replaceAll", "groupBy"]);

/** Functions that await what cannot block get the `async` that they lack. */
export function addMissingAsync(awaits: readonly Await[], calls: Calls, inspection: Inspection): void {
  for (const node of awaits) {
    const func = functionAround(node, inspection);
    if (func === undefined || !isFunction(func) || func.generator) continue;
    if (!mayAwait(node, inspection) && !waitsForMethod(node, calls)) makeAsync(func, inspection);
  }
}

/** True for `await device.A.x()` and `await device.A.x().name`, which can do without `await` if the call blocks. */
export function waitsForMethod(node: Await, calls: Calls): boolean {
  if (node.type === "ForOfStatement") return false;
  let at: AnyNode = node.argument;
  while (!calls.has(at)) {
    if (at.type === "ChainExpression") at = at.expression;
    else if (at.type === "MemberExpression") at = at.object;
    else if (at.type === "CallExpression") at = at.callee;
    else return false;
  }
  return true;
}

/** The method that gets a function as its callback and does not wait for it. */
export function syncCallbackOf(func: AnyNode, inspection: Inspection): string | undefined {
  const call = parentOf(func, inspection);
  if (call?.type !== "CallExpression" || call.callee.type !== "MemberExpression") return undefined;
  const name = literalName(call.callee.property, call.callee.computed);
  const callbacks = call.arguments[0] === func ? SYNC_CALLBACKS : SYNC_SECOND_CALLBACKS;
  return name !== undefined && callbacks.has(name) && call.callee !== func ? name : undefined;
}

/** Takes the `async` off, wherever it stands. Without it, a statement or a member could go on with the line before. */
export function makePlain(func: FunctionNode, inspection: Inspection): void {
  const { report, corrected, snippet } = inspection;
  const holder = parentOf(func, inspection);
  const isMethod = holder?.type === "MethodDefinition" || (holder?.type === "Property" && holder.method);
  const from = isMethod ? holder.start : func.start;
  const start = isMethod ? from + snippet.text.slice(from, holder.key.start).lastIndexOf("async") : from;
  const isFirst = holder?.type === "MethodDefinition" && start === from;
  const stop = isFirst ? ";" : holder?.type === "ExpressionStatement" ? "0," : "";
  report.replace({ start, end: start + "async".length }, stop);
  corrected.set(func, false);
}

/** Methods of classes and objects keep what they are: others see their form. */
function makeAsync(func: FunctionNode, inspection: Inspection): void {
  const holder = parentOf(func, inspection);
  const isMethod =
    holder?.type === "MethodDefinition" || (holder?.type === "Property" && (holder.method || holder.kind !== "init"));
  if (isMethod || isAsync(func, inspection) || syncCallbackOf(func, inspection) !== undefined) return;
  inspection.report.wrap({ start: func.start, end: func.start }, "async ", "");
  inspection.report.note("async was missing where await is used, and was added");
  inspection.corrected.set(func, true);
}
