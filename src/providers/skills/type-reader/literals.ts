import type { Json } from "../../../model/json.ts";
import type { FileNames } from "./file-names.ts";
import type { FileReader } from "./files.ts";
import { getKey, getName, nodeAt, nodesAt, type SyntaxNode } from "./syntax.ts";

const MAX_NESTING = 20;

/** Returns the JSON value of a constant expression; `undefined` for any other. */
export function literalValue(
  node: SyntaxNode | undefined,
  names: FileNames,
  files: FileReader,
  depth = 0,
): Json | undefined {
  if (node === undefined || depth > MAX_NESTING || !files.step()) return undefined;
  const inner = (child: SyntaxNode | undefined): Json | undefined => literalValue(child, names, files, depth + 1);
  switch (node.type) {
    case "Literal":
      return isScalar(node["value"]) && node["regex"] === undefined ? node["value"] : undefined;
    case "TemplateLiteral":
      return nodesAt(node, "expressions").length === 0 ? cookedText(node) : undefined;
    case "UnaryExpression":
      return signed(node["operator"], inner(nodeAt(node, "argument")));
    case "BinaryExpression":
      return computed(node["operator"], inner(nodeAt(node, "left")), inner(nodeAt(node, "right")));
    case "ArrayExpression":
      return allKnown(getElements(node).map(inner));
    case "ObjectExpression":
      return objectValue(node, inner);
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSTypeAssertion":
    case "TSNonNullExpression":
    case "ParenthesizedExpression":
      return inner(nodeAt(node, "expression"));
    case "CallExpression":
      return getName(nodeAt(nodeAt(node, "callee"), "property")) === "freeze"
        ? inner(nodesAt(node, "arguments")[0])
        : undefined;
    case "Identifier":
      return constantValue(getName(node) ?? "", names, files, depth);
    case "MemberExpression":
      return memberValue(node, names, files, depth);
    default:
      return undefined;
  }
}

function isScalar(value: unknown): value is string | number | boolean | null {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

function cookedText(template: SyntaxNode): string | undefined {
  const value = nodesAt(template, "quasis")[0]?.["value"];
  return typeof value === "object" && value !== null && "cooked" in value && typeof value.cooked === "string"
    ? value.cooked
    : undefined;
}

function signed(operator: unknown, value: Json | undefined): Json | undefined {
  if (operator === "!" && typeof value === "boolean") return !value;
  if (typeof value !== "number") return undefined;
  return operator === "-" ? -value : operator === "+" ? value : undefined;
}

/** Evaluates string concatenation and constant arithmetic such as `1 << 3` or `60 * 1000`. */
function computed(operator: unknown, left: Json | undefined, right: Json | undefined): Json | undefined {
  if (typeof left === "string" && typeof right === "string") return operator === "+" ? left + right : undefined;
  if (typeof left !== "number" || typeof right !== "number") return undefined;
  const value = ARITHMETIC.get(operator)?.(left, right);
  return Number.isFinite(value) ? value : undefined;
}

const ARITHMETIC: ReadonlyMap<unknown, (left: number, right: number) => number> = new Map([
  ["+", (left, right) => left + right],
  ["-", (left, right) => left - right],
  ["*", (left, right) => left * right],
  ["**", (left, right) => left ** right],
  ["<<", (left, right) => left << right],
  ["|", (left, right) => left | right],
]);

/** Returns the elements of an array; a hole or a spread makes the whole array unknown. */
function getElements(array: SyntaxNode): readonly (SyntaxNode | undefined)[] {
  const elements = array["elements"];
  return Array.isArray(elements) && elements.length === nodesAt(array, "elements").length
    ? nodesAt(array, "elements")
    : [undefined];
}

function allKnown(values: readonly (Json | undefined)[]): Json | undefined {
  const defined = values.filter((value) => value !== undefined);
  return defined.length === values.length ? defined : undefined;
}

function objectValue(object: SyntaxNode, inner: (child: SyntaxNode | undefined) => Json | undefined): Json | undefined {
  const entries: [string, Json][] = [];
  for (const property of nodesAt(object, "properties")) {
    const name = property.type === "Property" && property["kind"] === "init" ? getKey(property) : undefined;
    const value = inner(nodeAt(property, "value"));
    if (name === undefined || value === undefined) return undefined;
    entries.push([name, value]);
  }
  // fromEntries defines properties, so a key `__proto__` stays a key.
  return Object.fromEntries(entries);
}

/** Returns the value of a constant of this file or of an imported one. */
function constantValue(name: string, names: FileNames, files: FileReader, depth: number): Json | undefined {
  const found = files.find(names, name);
  if (found.kind !== "value" || found.node.type !== "VariableDeclarator") return undefined;
  return literalValue(nodeAt(found.node, "init"), found.names, files, depth + 1);
}

/** Returns the value of `Colour.Red` of an enum, or `UNITS.metric` of a constant object. */
function memberValue(node: SyntaxNode, names: FileNames, files: FileReader, depth: number): Json | undefined {
  const object = getName(nodeAt(node, "object"));
  const property = getName(nodeAt(node, "property"));
  if (object === undefined || property === undefined || node["computed"] === true) return undefined;
  const found = files.find(names, object);
  if (found.kind === "type") return enumValues(found.declaration.nodes, found.declaration.names, files)?.get(property);
  const value = constantValue(object, names, files, depth);
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, property)
    ? (value as Readonly<Record<string, Json>>)[property]
    : undefined;
}

/** Returns the members of an enum by name; `undefined` if a value is not constant. */
export function enumValues(
  nodes: readonly SyntaxNode[],
  names: FileNames,
  files: FileReader,
): ReadonlyMap<string, string | number> | undefined {
  const values = new Map<string, string | number>();
  let next: number | undefined = 0;
  for (const member of nodes.flatMap((node) => (node.type === "TSEnumDeclaration" ? nodesAt(node, "members") : []))) {
    const initializer = nodeAt(member, "initializer");
    const value: Json | undefined = initializer === undefined ? next : literalValue(initializer, names, files);
    const name = getName(nodeAt(member, "id"));
    if (name === undefined || (typeof value !== "string" && typeof value !== "number")) return undefined;
    values.set(name, value);
    next = typeof value === "number" ? value + 1 : undefined;
  }
  return values.size === 0 ? undefined : values;
}
