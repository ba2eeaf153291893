import type { Method } from "../../../model/catalog.ts";
import { isRecord } from "../../../model/json.ts";
import { toolName } from "../../../registry/index.ts";

type OpenapiObject = Readonly<Record<string, unknown>>;

/** The part of an OpenAPI 3.1 document that describes methods. Its schemas are those of JSON Schema. */
interface MethodDescriptions {
  readonly paths: OpenapiObject;
  /** For `components.schemas`. */
  readonly schemas: OpenapiObject;
}

/** Describes each method by a path, an operation and schemas of its own. */
export function describeMethods(methods: readonly Method[]): MethodDescriptions {
  const schemas: Record<string, unknown> = {};
  const paths = methods.map((method): readonly [string, OpenapiObject] => {
    const name = toolName(method);
    const addSchema = (part: "input" | "output", schema: unknown): OpenapiObject => {
      const pointer = `#/components/schemas/${name}.${part}`;
      schemas[`${name}.${part}`] = moveReferences(schema, pointer);
      return { $ref: pointer };
    };
    const data = method.output === undefined ? {} : addSchema("output", method.output);
    return [
      `/tools/${encodeURIComponent(method.path)}`,
      { post: describeCall(method, addSchema("input", method.input), data) },
    ];
  });
  return { paths: Object.fromEntries(paths), schemas };
}

function describeCall(method: Method, input: OpenapiObject, data: OpenapiObject): OpenapiObject {
  const { path, description, metadata } = method;
  return {
    operationId: toolName(method),
    summary: path,
    description,
    tags: [path.split(".", 1)[0]],
    ...(metadata.deprecated && { deprecated: true }),
    requestBody: { required: true, content: { "application/json": { schema: input } } },
    responses: {
      "200": {
        description: "Tool execution successful",
        content: {
          "application/json": {
            schema: { allOf: [{ $ref: "#/components/schemas/ToolOutput" }, { type: "object", properties: { data } }] },
          },
        },
      },
    },
  };
}

/** Changes the references of a schema, which name places in the schema, to places in the document. */
function moveReferences(schema: unknown, pointer: string): unknown {
  if (Array.isArray(schema)) return schema.map((item) => moveReferences(item, pointer));
  if (!isRecord(schema)) return schema;
  const entries = Object.entries(schema).filter(([key]) => key !== "$schema" && key !== "$id");
  return Object.fromEntries(
    entries.map(([key, value]) => {
      if (key === "$ref" && typeof value === "string") return [key, value.replace(/^#(?=\/|$)/, pointer)];
      if (VALUE_KEYS.has(key)) return [key, value];
      if (!MAP_KEYS.has(key) || !isRecord(value)) return [key, moveReferences(value, pointer)];
      return [
        key,
        Object.fromEntries(Object.entries(value).map(([name, item]) => [name, moveReferences(item, pointer)])),
      ];
    }),
  );
}

/** Keys of values, which are not schemas. */
const VALUE_KEYS: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);

/** Keys of schemas by name. */
const MAP_KEYS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
