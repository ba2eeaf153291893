import type { Finding } from "../model/frame.ts";
import type { Edit } from "../model/snippet.ts";
import type { Span } from "./blank.ts";

/** A node of a tree in TypeScript, of which acorn has no types. What a field holds is looked at before it is used. */
export interface TsNode extends Span {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface Work {
  readonly text: string;
  /** What becomes blank. */
  readonly spans: Span[];
  /** Single characters that are written over the blanks. */
  readonly marks: { readonly at: number; readonly character: string }[];
  /** Where statements end that may have no semicolon. */
  readonly ends: Set<number>;
  readonly edits: Edit[];
  readonly refused: Finding[];
}

/** `whole`: nothing inside of the node is left to look at. */
export type Rule = (node: TsNode, work: Work) => "whole" | "parts";

export function blankAll(node: TsNode, work: Work): "whole" {
  work.spans.push(node);
  return "whole";
}

/** A semicolon takes its place, so that the statement before it ends where it did. */
export function blankStatement(node: TsNode, work: Work): "whole" {
  work.marks.push({ at: node.start, character: ";" });
  return blankAll(node, work);
}

export function childrenOf(node: TsNode): readonly TsNode[] {
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

export function childOf(node: TsNode, field: string): TsNode | undefined {
  const value = node[field];
  return isTsNode(value) ? value : undefined;
}

export function isTsNode(value: unknown): value is TsNode {
  return (
    typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && "start" in value
  );
}

export function textOf(node: TsNode | undefined, work: Work): string {
  return node === undefined ? "" : (work.text.slice(node.start, node.end).split("\n", 1)[0] ?? "");
}
