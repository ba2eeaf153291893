import { type Node, parseTree } from "../../shared/package/jsonc.ts";

import { isRecord } from "../../model/json.ts";
import type { Path } from "./index.ts";
import { nodeAt, getProperties } from "./json.ts";
import { indentAt, type Formatting, detectFormatting } from "./formatting.ts";

// The edits of jsonc-parser itself move comments from one property to another; these leave each at its own.

export function setInJson(text: string, path: Path, value: unknown): string {
  const layout = detectFormatting(text);
  const root = parseNode(text);
  if (root === undefined) return `${jsonText(wrapped(path, value), "", layout)}${layout.eol}`;
  const existing = nodeAt(root, path);
  if (existing !== undefined) {
    const written = jsonText(value, indentAt(text, existing.offset), layout);
    return spliced(text, existing.offset, existing.offset + existing.length, written);
  }
  const parentPath = path.slice(0, longestExisting(root, path));
  const parent = nodeAt(root, parentPath);
  const [key, ...inside] = path.slice(parentPath.length);
  if (parent?.type !== "object" || key === undefined) return text;
  return withMember(text, parent, { key: String(key), value: wrapped(inside, value) }, layout);
}

export function removeInJson(text: string, path: Path): string {
  const root = parseNode(text);
  const node = root && nodeAt(root, path);
  const item = node?.parent?.type === "property" ? node.parent : node;
  if (item?.parent === undefined) return text;
  const siblings = item.parent.children ?? [];
  const { offset, length } = item.parent;
  if (siblings.length === 1) {
    const { start, end } = getExtent(text, item);
    const rest = text.slice(offset + 1, start) + text.slice(end, offset + length - 1);
    if (rest.trim() === "") return spliced(text, offset + 1, offset + length - 1, "");
  }
  const index = siblings.indexOf(item);
  const isLast = index === siblings.length - 1;
  const { start, end } = getExtent(text, item);
  const before = siblings[index - 1];
  const without = spliced(text, start, end, "");
  if (!isLast || before === undefined) return without;
  // The item before is the last one now: it keeps its comma only if the object had a trailing comma.
  const comma = commaAfter(text, getEnd(before));
  const hadComma = commaAfter(text, getEnd(item)) !== undefined;
  return comma === undefined || hadComma ? without : spliced(without, comma, comma + 1, "");
}

function parseNode(text: string): Node | undefined {
  return text.trim() === "" ? undefined : parseTree(text, [], { allowTrailingComma: true });
}

function wrapped(path: Path, value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
}

function longestExisting(root: Node, path: Path): number {
  let length = path.length;
  while (length > 0 && nodeAt(root, path.slice(0, length)) === undefined) length--;
  return length;
}

/** The new member comes last. */
function withMember(text: string, object: Node, member: { key: string; value: unknown }, layout: Formatting): string {
  const last = getProperties(object).at(-1)?.node;
  const close = getEnd(object) - 1;
  const isOneLine = !text.slice(object.offset, close).includes("\n");
  if (last !== undefined && isOneLine && !/\/[/*]/.test(text.slice(getEnd(last), close))) {
    const comma = commaAfter(text, getEnd(last)) === undefined ? ", " : " ";
    const at = commaAfter(text, getEnd(last)) ?? getEnd(last) - 1;
    return spliced(text, at + 1, at + 1, `${comma}${JSON.stringify(member.key)}: ${oneLine(member.value)}`);
  }
  const outer = indentAt(text, object.offset);
  const inner = last === undefined ? outer + layout.indent : indentAt(text, last.offset);
  const written = `${inner}${JSON.stringify(member.key)}: ${jsonText(member.value, inner, layout)}`;
  if (last === undefined) {
    const content = text.slice(object.offset + 1, close).trimEnd();
    return spliced(text, object.offset + 1, close, `${content}${layout.eol}${written}${layout.eol}${outer}`);
  }
  const comma = commaAfter(text, getEnd(last));
  const insertAt = findCommentEnd(text, (comma ?? getEnd(last) - 1) + 1);
  const added = spliced(text, insertAt, insertAt, `${layout.eol}${written}${comma === undefined ? "" : ","}`);
  return comma === undefined ? spliced(added, getEnd(last), getEnd(last), ",") : added;
}

function getEnd({ offset, length }: Node): number {
  return offset + length;
}

/** Formats JSON as people write it: a list of words stays on its line. */
function jsonText(value: unknown, indent: string, layout: Formatting): string {
  if (Array.isArray(value) && value.every((item) => !isRecord(item))) return oneLine(value);
  if (!isRecord(value) && !Array.isArray(value)) return JSON.stringify(value);
  const [open, close] = isRecord(value) ? ["{", "}"] : ["[", "]"];
  const inner = indent + layout.indent;
  const members = isRecord(value)
    ? Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${jsonText(item, inner, layout)}`)
    : value.map((item) => jsonText(item, inner, layout));
  if (members.length === 0) return open + close;
  const lines = members.map((member) => layout.eol + inner + member).join(",");
  return `${open}${lines}${layout.eol}${indent}${close}`;
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(", ")}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${oneLine(item)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function spliced(text: string, start: number, end: number, inserted: string): string {
  return text.slice(0, start) + inserted + text.slice(end);
}

/** Where the comma after a member is; comments may stand before it. */
function commaAfter(text: string, from: number): number | undefined {
  const between = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
  between.lastIndex = from;
  between.exec(text);
  return text[between.lastIndex] === "," ? between.lastIndex : undefined;
}

/** After a comment on the same line. */
function findCommentEnd(text: string, from: number): number {
  const remark = /(?:[ \t]*\/\*[^\n]*?\*\/)*(?:[ \t]*\/\/[^\r\n]*)?/y;
  remark.lastIndex = from;
  remark.exec(text);
  return remark.lastIndex;
}

/** A member with its comma and the comment on its line; with the whole line, where nothing else is on it. */
function getExtent(text: string, item: Node): { readonly start: number; readonly end: number } {
  const comma = commaAfter(text, getEnd(item));
  const sameLine = comma !== undefined && !text.slice(getEnd(item), comma).includes("\n");
  const end = findCommentEnd(text, sameLine ? comma + 1 : getEnd(item));
  const lineStart = text.lastIndexOf("\n", item.offset - 1) + 1;
  const isAlone =
    text.slice(lineStart, item.offset).trim() === "" && /^[ \t]*(?:\r?\n|$)/.test(text.slice(end, end + 200));
  if (!isAlone) return { start: item.offset, end: end + (/^[ \t]*/.exec(text.slice(end, end + 200))?.[0].length ?? 0) };
  // With the end of the line before it: an object that is empty now has none between its braces.
  const before = text.slice(0, lineStart).replace(/\r?\n$/, "").length;
  return { start: before, end };
}
