import type { AnyNode, Expression, VariableDeclaration } from "acorn";

import type { ProgramSource } from "../../model/program.ts";

export type ProgramTree = Extract<ProgramSource, { readonly kind: "program" }>["tree"];

/** Plain data that a program states as a literal. */
export type LiteralValue =
  | string
  | number
  | boolean
  | null
  | readonly LiteralValue[]
  | { readonly [name: string]: LiteralValue };

/** A literal of a program. */
export interface FoundLiteral {
  readonly value: LiteralValue;
  /** Offsets in the text. */
  readonly start: number;
  readonly end: number;
}

/** A constant at the top level of a program. `literal` is missing if its value is computed. */
export interface Constant {
  readonly name: string;
  readonly start: number;
  readonly literal: FoundLiteral | undefined;
  /** The statement that declares it. */
  readonly statement: VariableDeclaration;
}

/** Finds `const name = …` at the top level of a program. */
export function findConstants({ body }: ProgramTree): readonly Constant[] {
  return body.flatMap((statement) => {
    if (statement.type !== "VariableDeclaration" || statement.kind !== "const") return [];
    return statement.declarations.flatMap(({ id, init, start }) =>
      id.type === "Identifier"
        ? [{ name: id.name, start, literal: init ? readLiteral(init) : undefined, statement }]
        : [],
    );
  });
}

/** A literal at a place where a variable can stand, with the name of the property whose value it is. */
export interface UsedLiteral extends FoundLiteral {
  readonly property: string | undefined;
}

/** Finds the literals of a program at places where a variable can stand. */
export function findLiterals(tree: ProgramTree): readonly UsedLiteral[] {
  const found: UsedLiteral[] = [];
  visit(tree, (node, parent) => {
    const literal = canBeVariable(node, parent) ? readLiteral(node) : undefined;
    if (literal === undefined) return;
    const isValue = parent?.type === "Property" && parent.value === node;
    found.push({ ...literal, property: isValue ? getKey(parent.key) : undefined });
  });
  return found;
}

/** Finds the first place where a program uses a name as a variable. */
export function findName(tree: ProgramTree, name: string): number | undefined {
  let at: number | undefined;
  visit(tree, (node, parent) => {
    if (node.type !== "Identifier" || node.name !== name || at !== undefined) return;
    const isMember = parent?.type === "MemberExpression" && parent.property === node && !parent.computed;
    const isKey = parent?.type === "Property" && parent.key === node && !parent.computed && !parent.shorthand;
    if (!isMember && !isKey) at = node.start;
  });
  return at;
}

/** True for a program that reads `device.input`. */
export function readsInput(tree: ProgramTree): boolean {
  let isFound = false;
  visit(tree, (node) => {
    if (node.type !== "MemberExpression" || node.object.type !== "Identifier") return;
    isFound ||= node.object.name === "device" && getKey(node.property) === "input";
  });
  return isFound;
}

/** Names a place in a text, with columns from 1: `line 2, column 9`. */
export function formatPlace(text: string, offset: number): string {
  const before = text.slice(0, offset);
  return `line ${before.split("\n").length}, column ${offset - before.lastIndexOf("\n")}`;
}

const LITERAL_NODES: ReadonlySet<string> = new Set([
  "Literal",
  "UnaryExpression",
  "TemplateLiteral",
  "ArrayExpression",
  "ObjectExpression",
]);

/** Nodes whose literals are names or texts of the language, or parts of a larger literal. */
const FIXED_PARENTS: ReadonlySet<string> = new Set([
  "UnaryExpression",
  "TaggedTemplateExpression",
  "MethodDefinition",
  "PropertyDefinition",
  "ImportDeclaration",
  "ImportExpression",
]);

function canBeVariable(node: AnyNode, parent: AnyNode | undefined): boolean {
  if (!LITERAL_NODES.has(node.type) || parent === undefined || FIXED_PARENTS.has(parent.type)) return false;
  if (parent.type === "Property") return parent.value === node;
  if (parent.type === "ExpressionStatement") return parent.directive == null;
  return parent.type !== "MemberExpression" || parent.object !== node;
}

/** Reads a literal; `undefined` for any other expression. */
export function readLiteral(node: AnyNode): FoundLiteral | undefined {
  const value = readValue(node);
  return value === undefined ? undefined : { value, start: node.start, end: node.end };
}

function readValue(node: AnyNode): LiteralValue | undefined {
  if (node.type === "Literal") return isPlain(node.value) ? node.value : undefined;
  if (node.type === "TemplateLiteral")
    return node.expressions.length === 0 ? (node.quasis[0]?.value.cooked ?? undefined) : undefined;
  if (node.type === "ArrayExpression") return readList(node.elements);
  if (node.type === "ObjectExpression") return readObject(node.properties);
  if (node.type !== "UnaryExpression" || node.operator !== "-") return undefined;
  const value = readValue(node.argument);
  return typeof value === "number" ? -value : undefined;
}

function isPlain(value: unknown): value is string | number | boolean | null {
  return value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}

function readList(elements: readonly (Expression | AnyNode | null)[]): readonly LiteralValue[] | undefined {
  const values = elements.map((element) => (element === null ? undefined : readValue(element)));
  return values.every((value) => value !== undefined) ? values : undefined;
}

function readObject(properties: readonly AnyNode[]): { readonly [name: string]: LiteralValue } | undefined {
  const entries: (readonly [string, LiteralValue])[] = [];
  for (const property of properties) {
    if (property.type !== "Property" || property.computed || property.kind !== "init") return undefined;
    const [key, value] = [getKey(property.key), readValue(property.value)];
    if (key === undefined || key === "__proto__" || value === undefined) return undefined;
    entries.push([key, value]);
  }
  return Object.fromEntries(entries);
}

function getKey(key: AnyNode): string | undefined {
  if (key.type === "Identifier") return key.name;
  return key.type === "Literal" ? String(key.value) : undefined;
}

/** Visits every node once, each before its parts. The parser limits the depth of trees. */
function visit(root: AnyNode, use: (node: AnyNode, parent: AnyNode | undefined) => void): void {
  const open: { readonly node: AnyNode; readonly parent: AnyNode | undefined }[] = [{ node: root, parent: undefined }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, parent } = next;
    use(node, parent);
    const parts = Object.values(node).flat().filter(isNode);
    open.push(...parts.toReversed().map((part) => ({ node: part, parent: node })));
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
