import type { JsonSchema } from "../../../model/json.ts";
import { ANY, type ShapeField, type SchemaReader, type TypeScope, shapeToSchema, type ObjectShape } from "./reader.ts";
import { mapFields } from "./shapes.ts";
import type { SyntaxNode } from "./syntax.ts";
import { union, getEnum, literals, getBranches } from "./unions.ts";

/** A use of a type with its arguments. */
export interface TypeUse {
  readonly name: string;
  readonly node: SyntaxNode;
  readonly args: readonly SyntaxNode[];
  readonly scope: TypeScope;
  readonly reader: SchemaReader;
}

/** The built-in types by name; a declaration of the same name takes precedence. */
export const KNOWN_TYPES: ReadonlyMap<string, (use: TypeUse) => JsonSchema> = new Map([
  ["String", () => ({ type: "string" })],
  ["Number", () => ({ type: "number" })],
  ["Boolean", () => ({ type: "boolean" })],
  ["integer", () => ({ type: "integer" })],
  ["int", () => ({ type: "integer" })],
  ["bool", () => ({ type: "boolean" })],
  ["any", () => ANY],
  ["object", () => ({ type: "object" })],
  ["Object", () => ({ type: "object" })],
  ["Array", toArraySchema],
  ["ReadonlyArray", toArraySchema],
  ["Promise", first],
  ["PromiseLike", first],
  ["Awaited", first],
  ["Readonly", first],
  ["NoInfer", first],
  ["Uppercase", () => ({ type: "string" })],
  ["Lowercase", () => ({ type: "string" })],
  ["Capitalize", () => ({ type: "string" })],
  ["Uncapitalize", () => ({ type: "string" })],
  ["Date", dated],
  ["URL", () => ({ type: "string", format: "uri" })],
  ["Uint8Array", () => ANY],
  ["Buffer", () => ANY],
  ["NonNullable", (use) => union(getBranches(first(use)).filter((part) => part["type"] !== "null"))],
  ["Exclude", (use) => literals(difference(use, false))],
  ["Extract", (use) => literals(difference(use, true))],
  [
    "Set",
    (use) =>
      use.reader.side === "output" ? toArraySchema(use) : refused(use, "a Set cannot be passed", "use an array"),
  ],
  [
    "Map",
    (use) => (use.reader.side === "output" ? dictionary(use) : refused(use, "a Map cannot be passed", "use a Record")),
  ],
  ...["AsyncGenerator", "AsyncIterable", "Generator", "Iterable"].map(
    (name) => [name, (use: TypeUse) => refused(use, "a method has one result", "return an array")] as const,
  ),
  ["Function", (use) => refused(use, "functions cannot be passed", "use plain data instead")],
  ["Record", (use) => fromShape(use) ?? dictionary(use)],
  ...["Partial", "Required", "Pick", "Omit"].map(
    (name) => [name, (use: TypeUse) => fromShape(use) ?? first(use)] as const,
  ),
]);

function first({ args: [node], scope, reader }: TypeUse): JsonSchema {
  return reader.type(node, scope);
}

function toArraySchema(use: TypeUse): JsonSchema {
  return { type: "array", items: first(use) };
}

/** Converts a Date. A text becomes a Date before the method runs only if the parameter itself is one. */
function dated({ node, scope, reader }: TypeUse): JsonSchema {
  if (reader.side === "output" || reader.depth === 1) return { type: "string", format: "date-time" };
  return reader.unreadable(
    node,
    scope,
    "only a parameter itself can be a Date",
    "write string, and create the Date in the method",
  );
}

function difference(
  { args: [from, other], scope, reader }: TypeUse,
  common: boolean,
): readonly (string | number | boolean)[] {
  if (from === undefined || other === undefined) return [];
  const others = new Set(getLiteralValues(reader.type(other, scope)));
  return getLiteralValues(reader.type(from, scope)).filter((value) => others.has(value) === common);
}

function getLiteralValues(schema: JsonSchema): readonly (string | number | boolean)[] {
  return getBranches(schema)
    .flatMap(getEnum)
    .filter((value) => typeof value === "string" || typeof value === "number" || typeof value === "boolean");
}

function dictionary({ args: [, value], scope, reader }: TypeUse): JsonSchema {
  return { type: "object", ...(value !== undefined && { additionalProperties: reader.type(value, scope) }) };
}

function refused({ node, scope, reader }: TypeUse, why: string, fix: string): JsonSchema {
  return reader.unreadable(node, scope, why, fix);
}

function fromShape(use: TypeUse): JsonSchema | undefined {
  const shape = KNOWN_SHAPES.get(use.name)?.(use);
  return shape && shapeToSchema(shape, use.reader.side);
}

/** The built-in types that transform the fields of an object type. */
export const KNOWN_SHAPES: ReadonlyMap<string, (use: TypeUse) => ObjectShape | undefined> = new Map([
  ["Partial", (use: TypeUse) => changed(use, (field) => ({ ...field, required: false }))],
  ["Required", (use: TypeUse) => changed(use, (field) => ({ ...field, required: true }))],
  ["Readonly", (use: TypeUse) => changed(use, (field) => field)],
  ["Pick", (use: TypeUse) => changed(use, (field, name) => (getKeys(use, 1).includes(name) ? field : undefined))],
  ["Omit", (use: TypeUse) => changed(use, (field, name) => (getKeys(use, 1).includes(name) ? undefined : field))],
  ["Record", record],
]);

function changed(
  { args: [node], scope, reader }: TypeUse,
  change: (field: ShapeField, name: string) => ShapeField | undefined,
): ObjectShape | undefined {
  const shape = reader.shape(node, scope);
  return shape && mapFields(shape, change);
}

function getKeys({ args, scope, reader }: TypeUse, index: number): readonly unknown[] {
  return getLiteralValues(reader.type(args[index], scope)).map(String);
}

/** Returns the fields of a record with listed keys; `undefined` for a record of any text. */
function record(use: TypeUse): ObjectShape | undefined {
  const keys = getKeys(use, 0);
  const value = use.args[1];
  if (keys.length === 0 || value === undefined) return undefined;
  const schema = use.reader.type(value, use.scope);
  return { fields: new Map(keys.map((key) => [String(key), { schema, required: true }])), rest: undefined };
}
