import { type Node, type ParseError, findNodeAtLocation, parseTree, printParseErrorCode } from "jsonc-parser";
import { LineCounter } from "yaml";

import { sentence } from "../errors.ts";
import { nearest } from "../model/nearest.ts";
import type { Problem } from "../model/provider.ts";
import { invalid, type Place } from "./file.ts";
import type { ServerEntry } from "./server-entry.ts";

/** The servers that one file declares, in its order, and what is odd about the file. */
export interface FileContent {
  readonly entries: readonly ServerEntry[];
  readonly warnings: readonly Problem[];
}

export const NO_CONTENT: FileContent = { entries: [], warnings: [] };

/** Where the dialects keep their servers. */
const HOMES: readonly (readonly string[])[] = [
  ["mcpServers"],
  ["servers"],
  ["mcp", "servers"],
  ["mcp", "mcpServers"],
  ["context_servers"],
];

/** Reads a file like `.mcp.json`: JSON, with or without comments. A malformed one throws a `CONFIG_INVALID`. */
export function parseMcpFile(text: string, label: string): FileContent {
  if (text.trim() === "") return NO_CONTENT;
  try {
    const lines = linesOf(text);
    return contentOf(parseJson(text, lines, label), lines, label);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw invalid(label, "it nests too deeply");
    throw thrown;
  }
}

function contentOf(root: Node, lines: LineCounter, label: string): FileContent {
  const homes = HOMES.map((path) => findNodeAtLocation(root, [...path])).filter((home) => home !== undefined);
  const stray = homes.find((home) => home.type !== "object");
  if (stray !== undefined) throw invalid(label, "the servers must be an object", placeOf(lines, stray.offset));
  const entries = homes.flatMap(propertiesOf).map(([key, value]) => ({
    name: key.value as unknown,
    entry: plainValue(value),
    source: `${label}:${placeOf(lines, key.offset).line}`,
  }));
  return { entries, warnings: homes.length > 0 ? [] : withoutServers(root, label) };
}

function parseJson(text: string, lines: LineCounter, label: string): Node {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const first = errors[0];
  if (first !== undefined) throw invalid(label, inWords(first), placeOf(lines, first.offset));
  if (root?.type !== "object") throw invalid(label, "an object is expected", { line: 1, column: 1 });
  return root;
}

/** `CommaExpected` → `comma expected` */
function inWords({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ")
    .toLowerCase();
}

/** Lines and columns by offset; counted once, so that many servers in a large file cost no more than few. */
function linesOf(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (const { index, 0: end } of text.matchAll(/\r\n?|\n/g)) lines.addNewLine(index + end.length);
  return lines;
}

function placeOf(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}

function propertiesOf(object: Node): readonly (readonly [key: Node, value: Node])[] {
  return (object.children ?? []).flatMap(({ children: [key, value] = [] }) => (key && value ? [[key, value]] : []));
}

/** The value of a node; `__proto__` is a key like any other. */
function plainValue(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(plainValue);
  if (node.type !== "object") return node.value;
  return Object.fromEntries(propertiesOf(node).map(([key, value]) => [key.value, plainValue(value)]));
}

function withoutServers(root: Node, label: string): readonly Problem[] {
  const keys = propertiesOf(root).map(([key]) => String(key.value));
  if (keys.length === 0) return [];
  const [meant] = nearest("mcpServers", keys, 1);
  const written = meant === undefined ? "" : `, only "${meant}"`;
  return [{ source: label, error: sentence("CONFIG_INVALID", `${label}: it has no "mcpServers"${written}`) }];
}
