import type { Program as Tree } from "acorn";
import type { SourceFinding } from "../../shared/source-text.ts";
import type { Edit } from "../../model/program.ts";
import type { Span } from "../blank-out.ts";

/** A node of a TypeScript tree, which acorn does not declare. Fields are checked before use. */
export interface TsNode extends Span {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface StripContext {
  readonly text: string;
  /** The spans that become blank. */
  readonly spans: Span[];
  /** Single characters that replace blanks. */
  readonly replacements: { readonly at: number; readonly character: string }[];
  /** The ends of statements that may lack a semicolon. */
  readonly ends: Set<number>;
  readonly edits: Edit[];
  readonly refused: SourceFinding[];
}

/** Returns `whole` if the children of the node need no visit. */
export type Rule = (node: TsNode, context: StripContext) => "whole" | "parts";

export function blankAll(node: TsNode, context: StripContext): "whole" {
  context.spans.push(node);
  return "whole";
}

/** Blanks a statement and writes a semicolon, so that the statement before it still ends there. */
export function blankStatement(node: TsNode, context: StripContext): "whole" {
  context.replacements.push({ at: node.start, character: ";" });
  return blankAll(node, context);
}

export function getChildren(node: TsNode): readonly TsNode[] {
  const children: TsNode[] = [];
  for (const field in node) {
    const value = node[field];
    if (isTsNode(value)) children.push(value);
    else if (Array.isArray(value)) {
      for (const each of value) if (isTsNode(each)) children.push(each);
    }
  }
  return children;
}

/** All nodes, the outer ones first. */
export function* iterateNodes(tree: Tree): Iterable<TsNode> {
  const rest: TsNode[] = [tree as unknown as TsNode];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    yield node;
    rest.push(...getChildren(node));
  }
}

export function getChild(node: TsNode, field: string): TsNode | undefined {
  const value = node[field];
  return isTsNode(value) ? value : undefined;
}

export function isTsNode(value: unknown): value is TsNode {
  return (
    typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && "start" in value
  );
}

export function getFirstLine(node: TsNode | undefined, context: StripContext): string {
  return node === undefined ? "" : (context.text.slice(node.start, node.end).split("\n", 1)[0] ?? "");
}
