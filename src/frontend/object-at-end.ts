import type { ExpressionStatement } from "acorn";
import { ParseFailure } from "./bounded-parser.ts";
import { attempt, parseExpressionAt } from "./parser.ts";
import type { ReadProgram, Reading } from "./read.ts";

/**
 * Reads a program that ends with an object, as `{ sum, name: user.name }`, for which JavaScript sees a block, and then nothing
 * that it knows. So there is only one reading. What is nothing but data is left alone: somebody meant it as arguments.
 */
export function readObjectAtEnd(text: string, readCode: (text: string) => Reading): ReadProgram | undefined {
  const at = lastLineWithBrace(text);
  if (at === undefined || (at === 0 && !text.includes("("))) return undefined;
  const object = attempt(() => parseExpressionAt(text, at));
  if (object instanceof ParseFailure || object.type !== "ObjectExpression") return undefined;
  if (!/^[\s;]*$/.test(text.slice(object.end))) return undefined;
  const before = readCode(text.slice(0, at));
  if (before.kind === "refused") return undefined;
  const { start, end } = object;
  const statement: ExpressionStatement = { type: "ExpressionStatement", start, end, expression: object };
  const tree = { ...before.tree, end: text.length, body: [...before.tree.body, statement] };
  const notes = [...before.notes, "The braces at the end were read as an object"];
  return { ...before, text: before.text + text.slice(at), tree, notes };
}

/** Where the last line that is not indented begins with a brace. */
function lastLineWithBrace(text: string): number | undefined {
  if (text.lastIndexOf("\n{") >= 0) return text.lastIndexOf("\n{") + 1;
  return text.startsWith("{") ? 0 : undefined;
}
