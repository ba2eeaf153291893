import { parse, type Spec } from "comment-parser";

import { getKey, getName, nodeAt, type Source, type SyntaxNode } from "../syntax.ts";

/** A parsed doc comment. */
export interface Doc {
  readonly description: string;
  readonly params: readonly DocValue[];
  readonly returns: DocValue | undefined;
  readonly properties: readonly DocValue[];
  /** All the others, in order. */
  readonly tags: readonly DocTag[];
}

/** A `@param`, `@property` or `@returns` tag. */
export interface DocValue {
  readonly name: string;
  /** The text between the braces; empty if there are no braces. */
  readonly type: string;
  readonly optional: boolean;
  readonly default: string | undefined;
  readonly description: string;
  readonly line: number;
}

export interface DocTag {
  /** Without the `@`, in lower case. */
  readonly tag: string;
  readonly type: string;
  readonly text: string;
  readonly line: number;
}

export const NO_DOC: Doc = Object.freeze({
  description: "",
  params: Object.freeze([]),
  returns: undefined,
  properties: Object.freeze([]),
  tags: Object.freeze([]),
});

/** Finds the doc comment of a member or statement: the last one between the previous node and its name. */
export function findDoc(source: Source, node: SyntaxNode, before: SyntaxNode | undefined, within?: SyntaxNode): Doc {
  const from = before?.end ?? within?.start ?? 0;
  const anchor = nodeAt(node, "key")?.start ?? node.start;
  const comment = source.docs.findLast(({ start, end }) => start >= from && end <= anchor);
  return comment === undefined ? NO_DOC : parseDoc(comment.value, comment.loc?.start.line ?? 1);
}

/**
 * Finds the doc comment of one of several members or statements. For a function with overloads, it may be above any of
 * them, usually the first.
 */
export function docAmong(source: Source, all: readonly SyntaxNode[], index: number, within?: SyntaxNode): Doc {
  let first = index;
  while (isOverloadSignature(all[first - 1], all[index])) first--;
  const indexes = [index, ...Array.from({ length: index - first }, (_, step) => first + step)];
  const docs = indexes.flatMap((at) => {
    const node = all[at];
    return node === undefined ? [] : findDoc(source, node, all[at - 1], within);
  });
  return docs.find((doc) => doc !== NO_DOC) ?? NO_DOC;
}

/** True for a function without a body before the implementation of the same name. */
function isOverloadSignature(node: SyntaxNode | undefined, fn: SyntaxNode | undefined): boolean {
  const { type } = declared(node) ?? {};
  const name = nameIn(fn);
  return (type === "TSDeclareFunction" || type === "TSDeclareMethod") && name !== undefined && nameIn(node) === name;
}

function declared(node: SyntaxNode | undefined): SyntaxNode | undefined {
  return node?.type === "MethodDefinition" ? nodeAt(node, "value") : (nodeAt(node, "declaration") ?? node);
}

function nameIn(node: SyntaxNode | undefined): string | undefined {
  return node?.type === "MethodDefinition" ? getKey(node) : getName(nodeAt(declared(node), "id"));
}

/** Parses the text between the delimiters of a doc comment; `line` is its first line in the file. */
export function parseDoc(comment: string, line: number): Doc {
  const isOneLine = !comment.includes("\n");
  const text = isOneLine ? comment.replace(/\s@(?=[a-z])/gi, "\n * @") : comment;
  const [block] = parse(`/*${text}*/`, { spacing: "preserve", startLine: line });
  if (block === undefined) return NO_DOC;
  const getLine = (spec: Spec): number => (isOneLine ? line : (spec.source[0]?.number ?? line));
  const toDocValue = (spec: Spec): DocValue => ({
    name: spec.name,
    type: spec.type.replace(/=$/, ""),
    optional: spec.optional || spec.type.endsWith("="),
    default: spec.default,
    description: unwrap(spec.description.replace(/^\s*-\s*/, "")),
    line: getLine(spec),
  });
  const tags = block.tags.map((spec) => ({ ...spec, tag: spec.tag.toLowerCase() }));
  const valued = (...names: readonly string[]): readonly DocValue[] =>
    tags.filter(({ tag }) => names.includes(tag)).map(toDocValue);
  const returned = tags.find(({ tag }) => tag === "returns" || tag === "return");
  return {
    description: unwrap(block.description),
    params: valued("param", "arg", "argument"),
    returns: returned && { ...toDocValue(returned), name: "", description: unwrap(getTagText(returned)) },
    properties: valued("property", "prop"),
    tags: tags.map((spec) => ({ tag: spec.tag, type: spec.type, text: getTagText(spec), line: getLine(spec) })),
  };
}

/** Returns the text after the tag and its type, with its line breaks. */
function getTagText(spec: Spec): string {
  const lines = spec.source.map(({ tokens }, index) => {
    const text = tokens.name + tokens.postName + tokens.description;
    return index === 0 ? text : tokens.postDelimiter.slice(1) + tokens.type + tokens.postType + text;
  });
  return lines.join("\n").trim();
}

/** Joins the lines of a paragraph; paragraphs, lists and indented lines stay apart. `{@link City}` is `City`. */
function unwrap(text: string): string {
  return text
    .replace(/\{@link(?:code|plain)?\s([^{}]*)\}/g, (_, target: string) => (target.split("|").at(-1) ?? "").trim())
    .trim()
    .replace(/(\S)[ \t]*\n(?=[^\s\-*#>|`\d])/g, "$1 ");
}
