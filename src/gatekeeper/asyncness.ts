import type { AnyNode } from "acorn";
import type { Calls } from "./device.ts";
import { functionAround, type Inspection, isAsync, mayAwait, parentOf } from "./inspection.ts";
import type { Await } from "./syntax.ts";
import { collect, type FunctionNode, isFunction, literalName } from "./walk.ts";

/** Callbacks of these that are async would be taken for their promises, or not be waited for. */
export const SYNC_CALLBACKS: ReadonlySet<string> = new Set(
  "forEach filter find findIndex findLast findLastIndex some every sort toSorted flatMap".split(" "),
);

/**
 * Corrects functions that have an `async` too much or too little. A callback whose promise nobody would look at loses it, if
 * all that it awaits are methods; these can block. A function that awaits anything else gets it.
 */
export function correctAsync(awaits: readonly Await[], calls: Calls, inspection: Inspection): void {
  const awaitsOf = new Map<AnyNode, Await[]>();
  for (const node of awaits) {
    const func = functionAround(node, inspection);
    if (func !== undefined) collect(awaitsOf, func, node);
  }
  for (const [func, inside] of awaitsOf) {
    if (!isFunction(func) || func.generator) continue;
    const others = inside.filter((node) => !waitsForMethod(node, calls));
    const callbackOf = syncCallbackOf(func, inspection);
    if (isAsync(func, inspection) && callbackOf !== undefined)
      makeSync(func, callbackOf, others.length > 0, inspection);
    else if (others.some((node) => !mayAwait(node, inspection))) makeAsync(func, callbackOf, inspection);
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
function syncCallbackOf(func: AnyNode, inspection: Inspection): string | undefined {
  const call = parentOf(func, inspection);
  if (call?.type !== "CallExpression" || call.arguments[0] !== func || call.callee.type !== "MemberExpression")
    return undefined;
  const name = literalName(call.callee.property, call.callee.computed);
  return name !== undefined && SYNC_CALLBACKS.has(name) ? name : undefined;
}

function makeSync(
  func: FunctionNode,
  callbackOf: string,
  awaitsMore: boolean,
  { report, corrected }: Inspection,
): void {
  if (awaitsMore)
    return report.note(`${callbackOf} does not wait for its async callback: write for (const … of …) { await … }`);
  report.replace({ start: func.start, end: func.start + "async".length }, "");
  report.note(`${callbackOf} waits for no promise: the calls in its callback were made one after the other`);
  corrected.set(func, false);
}

/** Methods of classes and objects keep what they are: others see their form. */
function makeAsync(func: FunctionNode, callbackOf: string | undefined, inspection: Inspection): void {
  const holder = parentOf(func, inspection);
  const isMethod =
    holder?.type === "MethodDefinition" || (holder?.type === "Property" && (holder.method || holder.kind !== "init"));
  if (isMethod || callbackOf !== undefined) return;
  inspection.report.wrap({ start: func.start, end: func.start }, "async ", "");
  inspection.report.note("async was missing where await is used, and was added");
  inspection.corrected.set(func, true);
}
