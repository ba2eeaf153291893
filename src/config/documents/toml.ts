import { parse, TomlError } from "smol-toml";

import { isRecord } from "../../model/json.ts";
import { configError } from "../read-file.ts";
import type { ConfigDocument, Path } from "./index.ts";
import { createLineIndex } from "./line-index.ts";

/** Reads TOML, the format of Codex. */
export function parseToml(text: string, label: string): ConfigDocument {
  const value = readToml(text, label);
  const offsets = offsetsIn(text);
  const placeAt = createLineIndex(text);
  return {
    value,
    locate(path) {
      for (let length = path.length; length > 0; length--) {
        const found = offsets.get(JSON.stringify(path.slice(0, length)));
        if (found !== undefined) return placeAt(found);
      }
      return { line: 1, column: 1 };
    },
    repeated: [],
  };
}

function readToml(text: string, label: string): Record<string, unknown> {
  try {
    // Its tables have no prototype, and its dates are objects.
    const value: unknown = JSON.parse(JSON.stringify(parse(text)));
    return isRecord(value) ? value : {};
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw thrown;
    const [wrong = ""] = thrown.message.replace(/^Invalid TOML document: /, "").split("\n", 1);
    throw configError(label, wrong, { line: thrown.line, column: thrown.column });
  }
}

/** Where each path is first written, be it as the beginning of a longer one. */
function offsetsIn(text: string): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>();
  for (const { path, start } of statementsIn(text)) {
    for (let length = path.length; length > 0; length--) {
      const key = JSON.stringify(path.slice(0, length));
      if (offsets.has(key)) break;
      offsets.set(key, start);
    }
  }
  return offsets;
}

/** A header of a table, or one `key = value`. */
export interface Statement {
  readonly kind: "table" | "value";
  /** From the root of the document. */
  readonly path: readonly string[];
  readonly start: number;
  /** The offset of the value in `key = value`. */
  readonly valueStart: number;
  readonly valueEnd: number;
  /** After the end of its line. */
  readonly end: number;
}

export function isUnder({ path }: Statement, parent: Path): boolean {
  return parent.every((key, index) => path[index] === key);
}

/** Returns the statements of a valid document, in their order. */
export function statementsIn(text: string): readonly Statement[] {
  const statements: Statement[] = [];
  let table: readonly string[] = [];
  for (let at = nextStatement(text, 0); at < text.length;) {
    const isTable = text[at] === "[";
    const key = keyAt(text, isTable ? at + (text[at + 1] === "[" ? 2 : 1) : at);
    const valueStart = isTable ? key.end : key.end + leadingSpace(text, key.end + 1) + 1;
    const valueEnd = isTable ? key.end : findValueEnd(text, valueStart);
    const end = findNextLine(text, valueEnd);
    if (isTable) table = key.path;
    const path = isTable ? key.path : [...table, ...key.path];
    statements.push({ kind: isTable ? "table" : "value", path, start: at, valueStart, valueEnd, end });
    at = nextStatement(text, end);
  }
  return statements;
}

/** Skips white space, empty lines and comments. */
function nextStatement(text: string, from: number): number {
  const skipped = /(?:[ \t\r\n]+|#[^\n]*)*/y;
  skipped.lastIndex = from;
  skipped.exec(text);
  return skipped.lastIndex;
}

function leadingSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\t") at++;
  return at - from;
}

/** A dotted key, and where the sign after it is. */
function keyAt(text: string, from: number): { readonly path: readonly string[]; readonly end: number } {
  const part = /[ \t]*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([\w-]+))[ \t]*/y;
  const path: string[] = [];
  let at = from;
  for (;;) {
    part.lastIndex = at;
    const [, quoted, literal, bare] = part.exec(text) ?? [];
    if (quoted === undefined && literal === undefined && bare === undefined) return { path, end: at };
    const name = quoted === undefined ? (literal ?? bare ?? "") : unquoted(quoted);
    if (path.length < MAX_KEY_DEPTH) path.push(name);
    at = part.lastIndex;
    if (text[at] !== ".") return { path, end: at };
    at++;
  }
}

/** No key that Skillgate reads is deeper. */
const MAX_KEY_DEPTH = 16;

function unquoted(quoted: string): string {
  const value = parse(`key = "${quoted}"`)["key"];
  return typeof value === "string" ? value : quoted;
}

/** The end of the value, without the white space and the comment after it. */
function findValueEnd(text: string, from: number): number {
  let depth = 0;
  let end = from;
  for (let at = from; at < text.length;) {
    const character = text[at] ?? "";
    if (character === "\n" && depth === 0) break;
    const after = afterToken(text, at);
    if (character === "[" || character === "{") depth++;
    if (character === "]" || character === "}") depth--;
    if (character !== "#" && character.trim() !== "") end = after;
    at = after;
  }
  return end;
}

/** Past a text, a comment, or one character. */
function afterToken(text: string, at: number): number {
  const character = text[at] ?? "";
  if (character === "#") return findLineEnd(text, at);
  if (character !== '"' && character !== "'") return at + 1;
  const quotes = text.startsWith(character.repeat(3), at) ? character.repeat(3) : character;
  for (let end = at + quotes.length; end < text.length; end++) {
    if (text[end] === "\\" && character === '"') end++;
    else if (text.startsWith(quotes, end)) {
      // Up to two quotes more may belong to a text between three.
      while (quotes.length === 3 && text[end + 3] === character) end++;
      return end + quotes.length;
    }
  }
  return text.length;
}

function findLineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

function findNextLine(text: string, from: number): number {
  return Math.min(findLineEnd(text, from) + 1, text.length);
}
