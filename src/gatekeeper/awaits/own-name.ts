import { findFirstIndex } from "../../shared/binary-search.ts";
import type { AnyNode, Identifier } from "acorn";
import { functionAround, type CheckContext, getParent } from "../context.ts";

/**
 * True for the initial value of a variable if a function inside it reads that variable:
 * `const p = load(id).then(() => all.delete(p))`. The function runs later; if the variable waited for it, the read would fail.
 */
export function readsItsOwnName(value: AnyNode, context: CheckContext): boolean {
  let whole = value;
  let holder = getParent(whole, context);
  while (holder !== undefined && HANDING_ON.has(holder.type)) [whole, holder] = [holder, getParent(holder, context)];
  const name = holder && getDeclaredName(holder, whole);
  const reads = name && context.scopes.findBinding(name)?.reads;
  if (reads === undefined) return false;
  for (let index = findFirstIndex(reads, ({ start }) => start >= whole.start); index < reads.length; index++) {
    const read = reads[index];
    if (read === undefined || read.start >= whole.end) return false;
    if ((functionAround(read, context)?.start ?? -1) >= whole.start) return true;
  }
  return false;
}

const HANDING_ON: ReadonlySet<string> = new Set(["ChainExpression", "ConditionalExpression", "LogicalExpression"]);

/** The variable that is declared with a value. An assignment does not count: the function may read the value before it. */
function getDeclaredName(holder: AnyNode, value: AnyNode): Identifier | undefined {
  if (holder.type !== "VariableDeclarator" || holder.init !== value) return undefined;
  return holder.id.type === "Identifier" ? holder.id : undefined;
}
