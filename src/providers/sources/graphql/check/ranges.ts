import type { ASTNode, NameNode } from "graphql";

/** Offsets in the text, in UTF-16 units. */
export type TextRange = readonly [start: number, end: number];

export function getRange({ loc }: ASTNode): TextRange {
  return loc === undefined ? [0, 0] : [loc.start, loc.end];
}

/** The name of a node, where it has one: a field without its alias, its arguments and its selection. */
export function getNameRange(node: ASTNode): TextRange {
  const { name } = node as { readonly name?: NameNode };
  return getRange(name ?? node);
}
