import type { AnyNode, Identifier } from "acorn";
import { functionAround, type CheckContext, getParent } from "../context.ts";

/**
 * True for what a variable is declared with if a function inside of it reads that variable: `const p = load(id).then(() => all.delete(p))`.
 * Such a function runs later, and finds nothing if the variable waits for it.
 */
export function readsItsOwnName(value: AnyNode, context: CheckContext): boolean {
  let whole = value;
  let holder = getParent(whole, context);
  while (holder !== undefined && HANDING_ON.has(holder.type)) [whole, holder] = [holder, getParent(holder, context)];
  const name = holder && nameOf(holder, whole);
  const reads = name && context.scopes.findBinding(name)?.reads;
  if (reads === undefined) return false;
  for (let index = firstFrom(whole.start, reads); index < reads.length; index++) {
    const read = reads[index];
    if (read === undefined || read.start >= whole.end) return false;
    if ((functionAround(read, context)?.start ?? -1) >= whole.start) return true;
  }
  return false;
}

const HANDING_ON: ReadonlySet<string> = new Set(["ChainExpression", "ConditionalExpression", "LogicalExpression"]);

/** The variable that is declared with a value. One that is set to it had another before, which may be what is read. */
function nameOf(holder: AnyNode, value: AnyNode): Identifier | undefined {
  if (holder.type !== "VariableDeclarator" || holder.init !== value) return undefined;
  return holder.id.type === "Identifier" ? holder.id : undefined;
}

/** Names can be read thousands of times; the reads are in the order of the text. */
function firstFrom(start: number, reads: readonly Identifier[]): number {
  let [low, high] = [0, reads.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((reads[middle]?.start ?? start) < start) low = middle + 1;
    else high = middle;
  }
  return low;
}
