import { isRecord } from "../../../model/json.ts";
import { ANY, type Bound, type Field, type Reader, type Scope, type Shape } from "./reader.ts";
import { shapeOfReference } from "./references.ts";
import { mayBeUndefined, merged, shapeOfMembers } from "./shapes.ts";
import { nodeAt, nodesAt, type SyntaxNode } from "./syntax.ts";
import { typeOfValue } from "./type-of-value.ts";
import { enumOf } from "./unions.ts";

type ReadShape = (node: SyntaxNode, scope: Scope, reader: Reader) => Shape | undefined;

/** The fields of each kind of type that has some. */
export const SHAPE_NODES: ReadonlyMap<string, ReadShape> = new Map<string, ReadShape>([
  ["TSTypeLiteral", (node, scope, reader) => shapeOfMembers(node, nodesAt(node, "members"), scope, reader)],
  ["TSTypeAnnotation", within],
  ["TSParenthesizedType", within],
  [
    "TSTypeOperator",
    (node, scope, reader) => (node["operator"] === "readonly" ? within(node, scope, reader) : undefined),
  ],
  ["TSIntersectionType", shapeOfIntersection],
  ["TSMappedType", shapeOfMapped],
  ["TSTypeQuery", shapeOfValue],
  ["TSTypeReference", shapeOfReference],
  ["TSExpressionWithTypeArguments", shapeOfReference],
  ["TSImportType", shapeOfReference],
]);

function within(node: SyntaxNode, scope: Scope, reader: Reader): Shape | undefined {
  return reader.shape(nodeAt(node, "typeAnnotation"), scope);
}

function shapeOfIntersection(node: SyntaxNode, scope: Scope, reader: Reader): Shape | undefined {
  const shapes = nodesAt(node, "types").map((each) => reader.shape(each, scope));
  const known = shapes.filter((shape) => shape !== undefined);
  return known.length === shapes.length ? merged(known) : undefined;
}

/** `{ [Key in "a" | "b"]?: number }`. */
function shapeOfMapped(node: SyntaxNode, scope: Scope, reader: Reader): Shape | undefined {
  const parameter = nodeAt(node, "typeParameter");
  const keys = enumOf(reader.type(nodeAt(parameter, "constraint"), scope));
  if (parameter === undefined || keys.length === 0 || nodeAt(node, "nameType") !== undefined) return undefined;
  const type = nodeAt(node, "typeAnnotation");
  const optional = node["optional"] === true || node["optional"] === "+";
  const fieldOf = (key: unknown): Field => {
    const written: SyntaxNode = {
      ...parameter,
      type: "TSLiteralType",
      literal: { ...parameter, type: "Literal", value: key },
    };
    const bound = new Map<string, Bound | undefined>([
      ...scope.bound,
      [String(parameter["name"]), { node: written, scope }],
    ]);
    const inner = { ...scope, bound };
    const open = type !== undefined && mayBeUndefined(type, inner, reader);
    return { schema: type === undefined ? ANY : reader.type(type, inner), required: !optional && !open };
  };
  return { rest: undefined, fields: new Map(keys.map((key) => [String(key), fieldOf(key)])) };
}

function shapeOfValue(node: SyntaxNode, scope: Scope, reader: Reader): Shape | undefined {
  const { properties, required } = typeOfValue(node, scope, reader);
  if (!isRecord(properties)) return undefined;
  const needed = new Set(Array.isArray(required) ? required : []);
  const fields = Object.entries(properties).map(
    ([name, schema]) => [name, { schema: isRecord(schema) ? schema : ANY, required: needed.has(name) }] as const,
  );
  return { rest: undefined, fields: new Map(fields) };
}
