import type { Program as Tree } from "acorn";
import { ParseFailure } from "./bounded-parser.ts";
import { attempt, parseJavaScript } from "./parser.ts";
import type { ReadProgram } from "./read.ts";
import { childrenOf, type TsNode } from "./ts-nodes.ts";

/** What stands between the end of a line and a bracket that begins the next one. */
const TO_NEXT_LINE = /^(?:[ \t]+(?:\/\/[^\n]*)?)?\r?\n\s*(?=[[(`])/;

/** A look before the search: most texts have no such line. */
const MAY_GO_ON = /[\w$)\]}"'`](?:[ \t]+(?:\/\/[^\n]*)?)?\r?\n\s*[[(`]/;

/**
 * Ends statements at whose end a semicolon is missing, where the next line begins with a bracket as far left as they do:
 * JavaScript goes on with the line before, as an index, a call or a template, which nobody means who writes it so.
 */
export function endLines(program: ReadProgram): ReadProgram {
  if (!MAY_GO_ON.test(program.text)) return program;
  const ends = endsIn(program);
  if (ends.size === 0) return program;
  const characters = program.text.split("");
  for (const end of ends) characters[end] = ";";
  const tree = attempt(() => parseJavaScript(characters.join("")));
  if (tree instanceof ParseFailure) return program;
  for (const node of nodesOf(tree)) if (ends.has(node.end - 1)) Object.assign(node, { end: node.end - 1 });
  const stops = [...ends].map((end) => ({ kind: "wrap", start: end, end, before: ";", after: "" }) as const);
  const note = "A line that begins with a bracket was read as a statement of its own";
  return { ...program, tree, edits: [...program.edits, ...stops], notes: [...program.notes, note] };
}

/** Where statements are meant to end. */
function endsIn({ text, tree }: ReadProgram): ReadonlySet<number> {
  const found = new Set<number>();
  const columns = new Map<TsNode, number>();
  for (const node of nodesOf(tree)) {
    const column = STATEMENTS.has(node.type) ? columnOf(node.start, text) : columns.get(node);
    if (column === undefined) continue;
    for (const child of childrenOf(node)) columns.set(child, column);
    const head = headOf(node);
    const gap = head && TO_NEXT_LINE.exec(text.slice(head.end, head.end + 400));
    if (head && gap && columnOf(head.end + gap[0].length, text) === column) found.add(head.end);
  }
  return found;
}

/** All nodes, the outer ones first. */
function* nodesOf(tree: Tree): Iterable<TsNode> {
  const rest: TsNode[] = [tree as unknown as TsNode];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    yield node;
    rest.push(...childrenOf(node));
  }
}

const STATEMENTS: ReadonlySet<string> = new Set([
  "ExpressionStatement",
  "ReturnStatement",
  "ThrowStatement",
  "VariableDeclaration",
]);

/** The part of a node after which it may go on in the next line. */
function headOf(node: TsNode): TsNode | undefined {
  const field = HEADS[node.type];
  return field === undefined ? undefined : (Reflect.get(node, field) as TsNode); // the parser sets it
}

const HEADS: Readonly<Record<string, string>> = {
  CallExpression: "callee",
  MemberExpression: "object",
  TaggedTemplateExpression: "tag",
};

/** How far from the left something stands that begins its line. */
function columnOf(at: number, text: string): number | undefined {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  return at - start < 200 && text.slice(start, at).trim() === "" ? at - start : undefined;
}
