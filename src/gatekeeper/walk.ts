import type { AnyNode, Identifier } from "acorn";
import { NAME_FIELDS, NODES } from "./allowlist.ts";

const FIELDS: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(NODES));
const NAMES: ReadonlyMap<string, string> = new Map(Object.entries(NAME_FIELDS));
const NONE: readonly AnyNode[] = [];

/** What happens at a node; `skip` leaves its inside out. */
export interface Visitor {
  readonly enter: (node: AnyNode, parent: AnyNode | undefined) => "skip" | undefined;
  readonly leave?: (node: AnyNode) => void;
}

/**
 * Goes through a tree in the order of the text, without recursion: a hostile tree is as deep as its text is long. Only what
 * the allowlist names is gone into.
 */
export function walk(root: AnyNode, { enter, leave }: Visitor): void {
  const nodes: AnyNode[] = [root];
  const parents: (AnyNode | undefined)[] = [undefined];
  while (nodes.length > 0) {
    const node = nodes.pop() as AnyNode;
    const parent = parents.pop();
    if (parent === node) {
      leave?.(node);
      continue;
    }
    const skipped = enter(node, parent) === "skip";
    if (leave !== undefined) {
      nodes.push(node);
      parents.push(node);
    }
    if (skipped) continue;
    const children = childrenOf(node);
    for (let index = children.length - 1; index >= 0; index--) {
      nodes.push(children[index] as AnyNode);
      parents.push(node);
    }
  }
}

/** The nodes inside of a node that are code: no names of properties, no labels. */
export function childrenOf(node: AnyNode): readonly AnyNode[] {
  const fields = FIELDS.get(node.type);
  if (fields === undefined || fields.length === 0) return NONE;
  const name = NAMES.get(node.type);
  const children: AnyNode[] = [];
  for (const field of fields) {
    if (field === name && !("computed" in node && node.computed)) continue;
    const value = (node as unknown as Readonly<Record<string, unknown>>)[field];
    if (Array.isArray(value)) {
      for (const entry of value as readonly (AnyNode | null)[]) if (entry !== null) children.push(entry);
    } else if (value !== null && value !== undefined) children.push(value as AnyNode);
  }
  return children;
}

/** The literal name of a property: `a.b`, `a["b"]`, `a[\`b\`]`, `{ b: … }`; nothing for one that is computed. */
export function literalName(key: AnyNode, computed: boolean): string | undefined {
  if (key.type === "Identifier") return computed ? undefined : key.name;
  if (key.type === "Literal")
    return typeof key.value === "string" || typeof key.value === "number" ? String(key.value) : undefined;
  if (key.type !== "TemplateLiteral" || key.expressions.length > 0) return undefined;
  return key.quasis[0]?.value.cooked ?? undefined;
}

export function isFunction(node: AnyNode): node is Extract<AnyNode, { readonly params: unknown }> {
  return (
    node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression" || node.type === "FunctionDeclaration"
  );
}

/** The names that a pattern binds, or that it assigns to. */
export function identifiersOf(pattern: AnyNode): readonly Identifier[] {
  const found: Identifier[] = [];
  const rest: AnyNode[] = [pattern];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    if (node.type === "Identifier") found.push(node);
    else rest.push(...(byType(PARTS_OF_PATTERN, node, node) ?? NONE));
  }
  return found;
}

const PARTS_OF_PATTERN: ByType<readonly AnyNode[]> = {
  ArrayPattern: ({ elements }) => elements.filter((element) => element !== null),
  AssignmentPattern: ({ left }) => [left],
  ObjectPattern: ({ properties }) => properties,
  Property: ({ value }) => [value],
  RestElement: ({ argument }) => [argument],
};

/** Adds to the list that a map has for a key. */
export function collect<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** A table with a row per type of node: what holds for a `node` inside of a node of that type. */
export type ByType<Result> = {
  readonly [Type in AnyNode["type"]]?: (outer: Extract<AnyNode, { readonly type: Type }>, node: AnyNode) => Result;
};

export function byType<Result>(table: ByType<Result>, outer: AnyNode, node: AnyNode): Result | undefined {
  const row = table[outer.type] as ((outer: AnyNode, node: AnyNode) => Result) | undefined; // the row of its own type
  return row?.(outer, node);
}
