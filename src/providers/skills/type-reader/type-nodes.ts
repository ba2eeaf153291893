import type { JsonSchema } from "../../../model/json.ts";
import { literalValue } from "./literals.ts";
import { ANY, type SchemaReader, type TypeScope, shapeToSchema } from "./reader.ts";
import { readReference } from "./references.ts";
import { nodeAt, nodesAt, type SyntaxNode } from "./syntax.ts";
import { readValueType } from "./type-of-value.ts";
import { union, getEnum, literal, literals } from "./unions.ts";

type ReadType = (node: SyntaxNode, scope: TypeScope, reader: SchemaReader) => JsonSchema;

/** Readers of types, by node type. A type without a reader is not plain data. */
export const TYPE_NODES: ReadonlyMap<string, ReadType> = new Map<string, ReadType>([
  ["TSStringKeyword", () => ({ type: "string" })],
  ["TSNumberKeyword", () => ({ type: "number" })],
  ["TSBooleanKeyword", () => ({ type: "boolean" })],
  ["TSNullKeyword", () => ({ type: "null" })],
  ["TSObjectKeyword", () => ({ type: "object" })],
  ["TSAnyKeyword", () => ANY],
  ["TSUnknownKeyword", () => ANY],
  ["TSUndefinedKeyword", () => ANY],
  ["TSVoidKeyword", () => ANY],
  ["TSNeverKeyword", () => ANY],
  ["TSTypePredicate", (node) => (node["asserts"] === true ? ANY : { type: "boolean" })],
  ["TSBigIntKeyword", refuse("JSON has no bigint", "write number or string")],
  ["TSSymbolKeyword", refuse("JSON has no symbols")],
  ["TSFunctionType", refuse("functions cannot be passed", "use plain data instead")],
  ["TSConstructorType", refuse("classes cannot be passed", "use plain data instead")],
  ["TSConditionalType", refuse("it depends on other types")],
  ["TSThisType", refuse("instances of a class cannot be passed")],
  ["TSParenthesizedType", within],
  ["TSTypeAnnotation", within],
  ["TSOptionalType", within],
  ["TSLiteralType", readLiteral],
  ["TSArrayType", (node, scope, reader) => ({ type: "array", items: reader.type(nodeAt(node, "elementType"), scope) })],
  ["TSTupleType", readTuple],
  ["TSUnionType", readUnion],
  ["TSIntersectionType", readIntersection],
  ["TSTypeLiteral", (node, scope, reader) => readShape(node, scope, reader) ?? ANY],
  ["TSMappedType", readMapped],
  ["TSTypeOperator", readOperator],
  ["TSIndexedAccessType", readIndexed],
  ["TSTypeQuery", readValueType],
  ["TSTypeReference", readReference],
  ["TSExpressionWithTypeArguments", readReference],
  ["TSImportType", readReference],
]);

function refuse(why: string, fix?: string): ReadType {
  return (node, scope, reader) => reader.unreadable(node, scope, why, fix);
}

function within(node: SyntaxNode, scope: TypeScope, reader: SchemaReader): JsonSchema {
  return reader.type(nodeAt(node, "typeAnnotation"), scope);
}

/** Reads `"metric"`, `-1`, `true`; a template such as `${number}px` is any text. */
function readLiteral(node: SyntaxNode, scope: TypeScope, reader: SchemaReader): JsonSchema {
  const written = nodeAt(node, "literal");
  const value = literalValue(written, scope.names, reader.files);
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return literal(value);
  if (written?.type === "TemplateLiteral") return { type: "string" };
  return reader.unreadable(node, scope, "JSON has no such value");
}

function readTuple(node: SyntaxNode, scope: TypeScope, reader: SchemaReader): JsonSchema {
  const elements = nodesAt(node, "elementTypes").map((element) => {
    const rest = element.type === "TSRestType";
    const inner = rest ? nodeAt(element, "typeAnnotation") : element;
    const type = inner?.type === "TSNamedTupleMember" ? nodeAt(inner, "elementType") : inner;
    const optional = inner?.["optional"] === true || type?.type === "TSOptionalType";
    return { rest, optional, schema: reader.type(type, scope) };
  });
  const fixed = elements.filter(({ rest }) => !rest);
  const more = elements.find(({ rest }) => rest);
  return {
    type: "array",
    prefixItems: fixed.map(({ schema }) => schema),
    minItems: fixed.filter(({ optional }) => !optional).length,
    ...(more === undefined ? { maxItems: fixed.length } : { items: more.schema["items"] ?? ANY }),
  };
}

function readUnion(node: SyntaxNode, scope: TypeScope, reader: SchemaReader): JsonSchema {
  const parts = nodesAt(node, "types").filter(({ type }) => type !== "TSUndefinedKeyword" && type !== "TSVoidKeyword");
  return union(parts.map((each) => reader.type(each, scope)));
}

/** Merges object types into one object. `string & { brand: … }` and `string & {}` are text. */
function readIntersection(node: SyntaxNode, scope: TypeScope, reader: SchemaReader): JsonSchema {
  const types = nodesAt(node, "types");
  const scalar = types.find(({ type }) => SCALARS.has(type));
  if (scalar !== undefined) return reader.type(scalar, scope);
  return readShape(node, scope, reader) ?? { allOf: types.map((each) => reader.type(each, scope)) };
}

const SCALARS: ReadonlySet<string> = new Set(["TSStringKeyword", "TSNumberKeyword", "TSBooleanKeyword"]);

function readShape(node: SyntaxNode, scope: TypeScope, reader: SchemaReader): JsonSchema | undefined {
  const shape = reader.shape(node, scope);
  return shape && shapeToSchema(shape, reader.side);
}

/** Reads a mapped type: `{ [Key in "a" | "b"]: number }` has fields, `{ [Key in string]: number }` accepts any. */
function readMapped(node: SyntaxNode, scope: TypeScope, reader: SchemaReader): JsonSchema {
  return readShape(node, scope, reader) ?? { type: "object", additionalProperties: within(node, scope, reader) };
}

function readOperator(node: SyntaxNode, scope: TypeScope, reader: SchemaReader): JsonSchema {
  const type = nodeAt(node, "typeAnnotation");
  if (node["operator"] === "unique") return reader.unreadable(node, scope, "JSON has no symbols");
  if (node["operator"] === "readonly") return reader.type(type, scope);
  const shape = reader.shape(type, scope);
  return shape === undefined ? { type: "string" } : literals([...shape.fields.keys()]);
}

/** Reads `Weather["wind"]`, `(typeof UNITS)[number]`, `(typeof UNITS)[keyof typeof UNITS]`. */
function readIndexed(node: SyntaxNode, scope: TypeScope, reader: SchemaReader): JsonSchema {
  const object = nodeAt(node, "objectType");
  const index = nodeAt(node, "indexType");
  if (index?.type === "TSNumberKeyword") {
    const { items, prefixItems } = reader.type(object, scope);
    return union((Array.isArray(prefixItems) ? prefixItems : [items ?? ANY]) as readonly JsonSchema[]);
  }
  const shape = reader.shape(object, scope);
  const keys = getEnum(reader.type(index, scope)).map(String);
  const fields = keys.map((key) => shape?.fields.get(key)?.schema).filter((schema) => schema !== undefined);
  if (keys.length > 0 && fields.length === keys.length) return union(fields);
  return reader.unreadable(node, scope, "its fields are not known");
}
