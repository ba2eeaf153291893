import type { AnyNode, CallExpression } from "acorn";
import { type CheckContext, getParent } from "../context.ts";
import { isFunction, literalName } from "../ast/walk.ts";

/** Wraps a thrown value in `__waitThrown`, which records its position; errors record their own. */
export function markThrown(value: AnyNode, { report }: CheckContext): void {
  if (value.type === "SpreadElement") return;
  if (value.type === "NewExpression" && value.callee.type === "Identifier" && value.callee.name.endsWith("Error"))
    return;
  const [before, after] = value.type === "SequenceExpression" ? ["((", "))"] : ["(", ")"];
  report.wrap(value, `__waitThrown${before}`, after);
}

/** True for `Promise.reject`, and for the second parameter of the function in `new Promise(…)`. */
export function isReject(callee: CallExpression["callee"], context: CheckContext): boolean {
  if (callee.type === "MemberExpression") {
    const { object, property, computed } = callee;
    return object.type === "Identifier" && object.name === "Promise" && literalName(property, computed) === "reject";
  }
  const declared = callee.type === "Identifier" ? context.scopes.findBinding(callee)?.declared[0] : undefined;
  const executor = declared && getParent(declared, context);
  if (executor === undefined || !isFunction(executor) || executor.params[1] !== declared) return false;
  const construction = getParent(executor, context);
  return (
    construction?.type === "NewExpression" &&
    construction.callee.type === "Identifier" &&
    construction.callee.name === "Promise"
  );
}
