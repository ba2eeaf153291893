import { tsPlugin } from "@sveltejs/acorn-typescript";
import { type Comment, type Options, Parser } from "acorn";

import { isRecord } from "../../../model/json.ts";
import { truncateText } from "../../../shared/format-text.ts";

/** A node of a syntax tree, ESTree or TypeScript. Its fields are untyped; use `nodeAt` and `nodesAt`. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly loc: { readonly start: { readonly line: number } };
  readonly [field: string]: unknown;
}

/** One parsed file, or one piece of TypeScript from a comment. */
export interface Source {
  /** Absolute path. */
  readonly file: string;
  readonly text: string;
  readonly program: SyntaxNode;
  /** The doc comments in order. */
  readonly docs: readonly Comment[];
}

/** A mistake in a file; lines and columns count from 1, as editors show them. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly line: number;
  readonly column: number;
  /** Absolute path. */
  readonly file: string;

  constructor(message: string, line: number, column: number, file: string) {
    super(message);
    this.line = line;
    this.column = column;
    this.file = file;
  }
}

const TypeScriptParser = Parser.extend(tsPlugin());

/** Parses a file by its extension. A `.js` file that is not an ES module is parsed as CommonJS. */
export function parseSource(file: string, text: string): Source {
  if (/\.[mc]?ts$/.test(file)) return parseWith(TypeScriptParser, file, text, "module");
  if (file.endsWith(".cjs")) return parseWith(Parser, file, text, "commonjs");
  try {
    return parseWith(Parser, file, text, "module");
  } catch (error) {
    if (file.endsWith(".mjs") || /^\s*(?:import|export)\b/m.test(text)) throw error;
    return parseWith(Parser, file, text, "commonjs");
  }
}

/** After its types were removed, a module may still export names of types. */
const StrippedParser = Parser.extend(
  (Base) =>
    class extends Base {
      checkLocalExport(): void {}
    },
);

/** Parses a TypeScript file whose types were removed. */
export function parseStripped(file: string, text: string): Source {
  try {
    return parseWith(StrippedParser, file, text, "module");
  } catch (error) {
    if (file.endsWith(".mts") || /^\s*(?:import|export)\b/m.test(text)) throw error;
    return parseWith(Parser, file, text, "commonjs");
  }
}

/** Parses TypeScript from a comment, with the line numbers of the file. */
export function parsePiece(file: string, text: string, line: number): Source {
  return parseWith(TypeScriptParser, file, "\n".repeat(line - 1) + text, "module");
}

function parseWith(parser: typeof Parser, file: string, text: string, sourceType: "module" | "commonjs"): Source {
  const docs: Comment[] = [];
  const options: Options = {
    ecmaVersion: "latest",
    sourceType,
    locations: true,
    allowHashBang: true,
    onComment: (isBlock, value, start, end, startLoc) => {
      if (!isBlock || !value.startsWith("*")) return;
      docs.push({
        type: "Block",
        value,
        start,
        end,
        ...(startLoc !== undefined && { loc: { start: startLoc, end: startLoc } }),
      });
    },
  };
  try {
    const program: unknown = parser.parse(text, options);
    if (!isNode(program)) throw new TypeError("the parser returned no tree");
    return { file, text, program, docs: inOrder(docs) };
  } catch (error) {
    throw asSourceError(error, file);
  }
}

/** Sorts and deduplicates comments: the TypeScript parser looks ahead and reports some twice. */
function inOrder(docs: readonly Comment[]): readonly Comment[] {
  const byStart = new Map(docs.map((doc) => [doc.start, doc]));
  return [...byStart.values()].sort((a, b) => a.start - b.start);
}

function asSourceError(error: unknown, file: string): unknown {
  if (!(error instanceof SyntaxError) || !("loc" in error) || !isRecord(error.loc)) return error;
  const { line, column } = error.loc;
  const message = error.message.replace(/ \(\d+:\d+\)$/, "");
  return new SourceError(message, Number(line), Number(column) + 1, file);
}

export function isNode(value: unknown): value is SyntaxNode {
  return isRecord(value) && typeof value["type"] === "string" && typeof value["start"] === "number";
}

/** Returns the child node in a field; `undefined` if it has none. */
export function nodeAt(node: SyntaxNode | undefined, field: string): SyntaxNode | undefined {
  const child = node?.[field];
  return isNode(child) ? child : undefined;
}

/** Returns the child nodes in a field, without the holes of array patterns. */
export function nodesAt(node: SyntaxNode | undefined, field: string): readonly SyntaxNode[] {
  const children = node?.[field];
  return Array.isArray(children) ? children.filter(isNode) : [];
}

/** Returns the name of an identifier or the text of a string literal. */
export function getName(node: SyntaxNode | undefined): string | undefined {
  if (node?.type === "Identifier" && typeof node["name"] === "string") return node["name"];
  return node?.type === "Literal" && typeof node["value"] === "string" ? node["value"] : undefined;
}

/** Returns the name of a member of a class, object or interface; `undefined` if it is computed. */
export function getKey(member: SyntaxNode): string | undefined {
  const key = nodeAt(member, "key");
  if (member["computed"] === true) return key?.type === "Literal" ? getName(key) : undefined;
  return key?.type === "Literal" ? String(key["value"]) : getName(key);
}

export function getText(source: Source, node: SyntaxNode): string {
  return truncateText(source.text.slice(node.start, node.end).replace(/\s+/g, " "), 60);
}
