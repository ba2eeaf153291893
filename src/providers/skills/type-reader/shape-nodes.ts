import { isRecord } from "../../../model/json.ts";
import {
  ANY,
  type ScopedType,
  type ShapeField,
  type SchemaReader,
  type TypeScope,
  type ObjectShape,
} from "./reader.ts";
import { readReferenceShape } from "./references.ts";
import { mayBeUndefined, merged, readMembersShape } from "./shapes.ts";
import { nodeAt, nodesAt, type SyntaxNode } from "./syntax.ts";
import { readValueType } from "./type-of-value.ts";
import { getEnum } from "./unions.ts";

type ReadShape = (node: SyntaxNode, scope: TypeScope, reader: SchemaReader) => ObjectShape | undefined;

/** Readers of the fields of object types, by node type. */
export const SHAPE_NODES: ReadonlyMap<string, ReadShape> = new Map<string, ReadShape>([
  ["TSTypeLiteral", (node, scope, reader) => readMembersShape(node, nodesAt(node, "members"), scope, reader)],
  ["TSTypeAnnotation", within],
  ["TSParenthesizedType", within],
  [
    "TSTypeOperator",
    (node, scope, reader) => (node["operator"] === "readonly" ? within(node, scope, reader) : undefined),
  ],
  ["TSIntersectionType", readIntersectionShape],
  ["TSMappedType", readMappedShape],
  ["TSTypeQuery", readValueShape],
  ["TSTypeReference", readReferenceShape],
  ["TSExpressionWithTypeArguments", readReferenceShape],
  ["TSImportType", readReferenceShape],
]);

function within(node: SyntaxNode, scope: TypeScope, reader: SchemaReader): ObjectShape | undefined {
  return reader.shape(nodeAt(node, "typeAnnotation"), scope);
}

function readIntersectionShape(node: SyntaxNode, scope: TypeScope, reader: SchemaReader): ObjectShape | undefined {
  const shapes = nodesAt(node, "types").map((each) => reader.shape(each, scope));
  const readable = shapes.filter((shape) => shape !== undefined);
  return readable.length === shapes.length ? merged(readable) : undefined;
}

/** Reads `{ [Key in "a" | "b"]?: number }`. */
function readMappedShape(node: SyntaxNode, scope: TypeScope, reader: SchemaReader): ObjectShape | undefined {
  const parameter = nodeAt(node, "typeParameter");
  const keys = getEnum(reader.type(nodeAt(parameter, "constraint"), scope));
  if (parameter === undefined || keys.length === 0 || nodeAt(node, "nameType") !== undefined) return undefined;
  const type = nodeAt(node, "typeAnnotation");
  const optional = node["optional"] === true || node["optional"] === "+";
  const readField = (key: unknown): ShapeField => {
    const written: SyntaxNode = {
      ...parameter,
      type: "TSLiteralType",
      literal: { ...parameter, type: "Literal", value: key },
    };
    const bound = new Map<string, ScopedType | undefined>([
      ...scope.typeArguments,
      [String(parameter["name"]), { node: written, scope }],
    ]);
    const inner: TypeScope = { ...scope, typeArguments: bound };
    const open = type !== undefined && mayBeUndefined(type, inner, reader);
    return { schema: type === undefined ? ANY : reader.type(type, inner), required: !optional && !open };
  };
  return { rest: undefined, fields: new Map(keys.map((key) => [String(key), readField(key)])) };
}

function readValueShape(node: SyntaxNode, scope: TypeScope, reader: SchemaReader): ObjectShape | undefined {
  const { properties, required } = readValueType(node, scope, reader);
  if (!isRecord(properties)) return undefined;
  const needed = new Set(Array.isArray(required) ? required : []);
  const fields = Object.entries(properties).map(
    ([name, schema]) => [name, { schema: isRecord(schema) ? schema : ANY, required: needed.has(name) }] as const,
  );
  return { rest: undefined, fields: new Map(fields) };
}
