import type { AnyNode, Identifier } from "acorn";
import { NAME_FIELDS, NODES } from "../rules/allowlist.ts";

interface Row {
  readonly fields: readonly string[];
  /** The field that is visited only if it is computed. */
  readonly name: string | undefined;
}

const NAMES: ReadonlyMap<string, string> = new Map(Object.entries(NAME_FIELDS));
const ROWS: ReadonlyMap<string, Row> = new Map(
  Object.entries(NODES).map(([type, fields]) => [type, { fields: fields.toReversed(), name: NAMES.get(type) }]),
);

/** Callbacks of `walk`. `leave` is called for the nodes for which `enter` returns `true`. */
export interface Visitor {
  readonly enter: (node: AnyNode, parent: AnyNode | undefined) => boolean | void;
  readonly leave?: (node: AnyNode) => void;
}

/**
 * Visits a tree in source order, without recursion: a hostile tree can be as deep as its text is long. Visits only the
 * fields in the allowlist; names of properties and labels are not code.
 */
export function walk(root: AnyNode, { enter, leave }: Visitor): void {
  const nodes: AnyNode[] = [root];
  const parents: (AnyNode | undefined)[] = [undefined];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    const parent = parents.pop();
    if (parent === node) {
      leave?.(node);
      continue;
    }
    if (enter(node, parent) === true) {
      nodes.push(node);
      parents.push(node);
    }
    const before = nodes.length;
    pushChildren(node, nodes);
    for (let added = nodes.length - before; added > 0; added--) parents.push(node);
  }
}

/** True for a node type in the allowlist. */
export function isAllowed(node: AnyNode): boolean {
  return ROWS.has(node.type);
}

/** Pushes the last child first, because the walk takes nodes from the end. */
function pushChildren(node: AnyNode, nodes: AnyNode[]): void {
  const row = ROWS.get(node.type);
  if (row === undefined) return;
  for (const field of row.fields) {
    if (field === row.name && !("computed" in node && node.computed)) continue;
    const value = (node as unknown as Readonly<Record<string, unknown>>)[field]; // checked before use
    if (Array.isArray(value)) {
      for (let index = value.length - 1; index >= 0; index--) if (isNode(value[index])) nodes.push(value[index]);
    } else if (isNode(value)) nodes.push(value);
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null;
}

/** The literal name of a property: `a.b`, `a["b"]`, `a[\`b\`]`, `{ b: … }`; `undefined` if it is computed. */
export function literalName(key: AnyNode, computed: boolean): string | undefined {
  if (key.type === "Identifier") return computed ? undefined : key.name;
  if (key.type === "Literal")
    return typeof key.value === "string" || typeof key.value === "number" ? String(key.value) : undefined;
  if (key.type !== "TemplateLiteral" || key.expressions.length > 0) return undefined;
  return key.quasis[0]?.value.cooked ?? undefined;
}

export type FunctionNode = Extract<AnyNode, { readonly params: unknown }>;

export function isFunction(node: AnyNode): node is FunctionNode {
  return (
    node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression" || node.type === "FunctionDeclaration"
  );
}

/** The names that a pattern binds or assigns to. */
export function getIdentifiers(pattern: AnyNode): readonly Identifier[] {
  const found: Identifier[] = [];
  const rest: AnyNode[] = [pattern];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    if (node.type === "Identifier") found.push(node);
    else rest.push(...(byType(PARTS_OF_PATTERN, node, node) ?? []));
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

/** The innermost object of an access: `cache` for `cache.users[id]`, through calls also for `cache.get(id).name`. */
export function getRootObject(node: AnyNode, { throughCalls = false } = {}): AnyNode {
  let at = node;
  for (;;) {
    if (at.type === "MemberExpression") at = at.object;
    else if (at.type === "ChainExpression") at = at.expression;
    else if (throughCalls && at.type === "CallExpression" && at.callee.type === "MemberExpression")
      at = at.callee.object;
    else return at;
  }
}

/** Adds a value to the list of a key. */
export function pushToGroup<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** A table with one row per node type; a row computes a result for a `node` inside a node of that type. */
export type ByType<Result> = {
  readonly [Type in AnyNode["type"]]?: (outer: Extract<AnyNode, { readonly type: Type }>, node: AnyNode) => Result;
};

export function byType<Result>(table: ByType<Result>, outer: AnyNode, node: AnyNode): Result | undefined {
  const row = table[outer.type] as ((outer: AnyNode, node: AnyNode) => Result) | undefined; // the row of its own type
  return row?.(outer, node);
}
