import type { ExpressionStatement } from "acorn";
import { ParseFailure } from "./limits/bounded-parser.ts";
import { attempt, parseExpressionAt, parseJavaScript } from "./limits/parser.ts";
import type { ParsedProgram, ParseResult } from "./parse-program.ts";
import { getChildren, iterateNodes, type TsNode } from "./strip-types/nodes.ts";

/** Matches the text between the end of a line and a bracket that begins the next one. */
const TO_NEXT_LINE = /^(?:[ \t]+(?:\/\/[^\n]*)?)?\r?\n\s*(?=[[(`])/;

/** A fast test before the search: most texts have no such line. */
const MAY_GO_ON = /[\w$)\]}"'`](?:[ \t]+(?:\/\/[^\n]*)?)?\r?\n\s*[[(`]/;

/**
 * Inserts a missing semicolon after a statement where the next line begins with a bracket at the same indentation.
 * JavaScript would continue the statement there, with an index, a call or a template; the author meant a new statement.
 */
export function insertMissingSemicolons(program: ParsedProgram): ParsedProgram {
  if (!MAY_GO_ON.test(program.text)) return program;
  const ends = endsIn(program);
  if (ends.size === 0) return program;
  const characters = program.text.split("");
  for (const end of ends) characters[end] = ";";
  const tree = attempt(() => parseJavaScript(characters.join("")));
  if (tree instanceof ParseFailure) return program;
  for (const node of iterateNodes(tree)) if (ends.has(node.end - 1)) Object.assign(node, { end: node.end - 1 });
  const stops = [...ends].map((end) => ({ kind: "wrap", start: end, end, before: ";", after: "" }) as const);
  const note = "A line that begins with a bracket was read as a separate statement";
  return { ...program, tree, edits: [...program.edits, ...stops], notes: [...program.notes, note] };
}

/** The offsets at which statements are meant to end. */
function endsIn({ text, tree }: ParsedProgram): ReadonlySet<number> {
  const found = new Set<number>();
  const columns = new Map<TsNode, number>();
  for (const node of iterateNodes(tree)) {
    const column = STATEMENTS.has(node.type) ? getIndentation(node.start, text) : columns.get(node);
    if (column === undefined) continue;
    for (const child of getChildren(node)) columns.set(child, column);
    const head = getHead(node);
    const gap = head && TO_NEXT_LINE.exec(text.slice(head.end, head.end + 400));
    if (head && gap && getIndentation(head.end + gap[0].length, text) === column) found.add(head.end);
  }
  return found;
}

const STATEMENTS: ReadonlySet<string> = new Set([
  "ExpressionStatement",
  "ReturnStatement",
  "ThrowStatement",
  "VariableDeclaration",
]);

/** The part of a node after which the node may continue in the next line. */
function getHead(node: TsNode): TsNode | undefined {
  const field = HEADS[node.type];
  return field === undefined ? undefined : (Reflect.get(node, field) as TsNode); // the parser sets it
}

const HEADS: Readonly<Record<string, string>> = {
  CallExpression: "callee",
  MemberExpression: "object",
  TaggedTemplateExpression: "tag",
};

/** The indentation of the text at `at`; `undefined` if other text precedes it in its line. */
function getIndentation(at: number, text: string): number | undefined {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  return at - start < 200 && text.slice(start, at).trim() === "" ? at - start : undefined;
}

/**
 * Parses a program that ends with an object, such as `{ sum, name: user.name }`. JavaScript parses a block there and fails,
 * so an object is the only possible meaning. A text that is only data is not changed: it was meant as arguments.
 */
export function repairTrailingObject(text: string, readCode: (text: string) => ParseResult): ParsedProgram | undefined {
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

/** The offset of the last brace that begins a line without indentation. */
function lastLineWithBrace(text: string): number | undefined {
  if (text.lastIndexOf("\n{") >= 0) return text.lastIndexOf("\n{") + 1;
  return text.startsWith("{") ? 0 : undefined;
}
