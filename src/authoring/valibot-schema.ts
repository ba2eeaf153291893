import { isRecord, type JsonSchema } from "../model/json.ts";

/**
 * Converts the input side of a valibot schema to JSON Schema. Valibot itself has no converter, and the package that has
 * one is seldom installed. A type without a JSON Schema equivalent accepts any value.
 */
export function valibotToJsonSchema(schema: unknown): JsonSchema {
  return toSchema(schema, 0);
}

type Node = Readonly<Record<string, unknown>>;

/** Depth limit; deeper schemas accept any value. */
const MAX_DEPTH = 32;

function toSchema(schema: unknown, depth: number): JsonSchema {
  if (!isRecord(schema) || depth > MAX_DEPTH) return {};
  const { type, pipe } = schema;
  const base = KINDS.get(type)?.(schema, (inner) => toSchema(inner, depth + 1)) ?? {};
  const actions = Array.isArray(pipe) ? pipe.slice(1).filter(isRecord) : [];
  return actions.reduce<JsonSchema>(
    (json, action) => ({ ...json, ...ACTIONS.get(action["type"])?.(action, json) }),
    base,
  );
}

type ConvertSchema = (inner: unknown) => JsonSchema;

const KINDS: ReadonlyMap<unknown, (schema: Node, read: ConvertSchema) => JsonSchema> = new Map<
  unknown,
  (schema: Node, read: ConvertSchema) => JsonSchema
>([
  ["string", () => ({ type: "string" })],
  ["number", () => ({ type: "number" })],
  ["boolean", () => ({ type: "boolean" })],
  ["null", () => ({ type: "null" })],
  ["literal", ({ literal }) => ({ const: literal })],
  ["picklist", ({ options }) => ({ enum: options })],
  ["enum", ({ options, enum: members }) => ({ enum: options ?? Object.values(isRecord(members) ? members : {}) })],
  ["array", ({ item }, read) => ({ type: "array", items: read(item) })],
  ["tuple", ({ items }, read) => toTupleSchema(items, read)],
  ["strict_tuple", ({ items }, read) => toTupleSchema(items, read)],
  ["record", ({ value }, read) => ({ type: "object", additionalProperties: read(value) })],
  ["object", (schema, read) => toObjectSchema(schema, read, false)],
  ["strict_object", (schema, read) => toObjectSchema(schema, read, false)],
  ["loose_object", (schema, read) => toObjectSchema(schema, read, true)],
  ["object_with_rest", (schema, read) => toObjectSchema(schema, read, read(schema["rest"]))],
  ["union", ({ options }, read) => ({ anyOf: all(options, read) })],
  ["variant", ({ options }, read) => ({ anyOf: all(options, read) })],
  ["intersect", ({ options }, read) => ({ allOf: all(options, read) })],
  ["nullable", nullable],
  ["nullish", nullable],
  ["optional", wrapped],
  ["exact_optional", wrapped],
  ["undefinedable", wrapped],
  ["non_optional", wrapped],
  ["non_nullable", wrapped],
  ["lazy", () => ({})],
]);

function toObjectSchema(
  { entries }: Node,
  read: ConvertSchema,
  additionalProperties: boolean | JsonSchema,
): JsonSchema {
  const fields = Object.entries(isRecord(entries) ? entries : {});
  const required = fields.filter(([, field]) => !isOptional(field)).map(([name]) => name);
  const properties = Object.fromEntries(fields.map(([name, field]) => [name, read(field)]));
  return { type: "object", properties, required, additionalProperties };
}

function isOptional(field: unknown): boolean {
  return isRecord(field) && ["optional", "exact_optional", "nullish", "undefinedable"].includes(String(field["type"]));
}

function toTupleSchema(items: unknown, read: ConvertSchema): JsonSchema {
  const prefixItems = all(items, read);
  return { type: "array", prefixItems, minItems: prefixItems.length, maxItems: prefixItems.length };
}

function nullable(schema: Node, read: ConvertSchema): JsonSchema {
  const { default: value, ...inner } = wrapped(schema, read);
  return { anyOf: [inner, { type: "null" }], ...(value !== undefined && { default: value }) };
}

function wrapped({ wrapped: inner, default: value }: Node, read: ConvertSchema): JsonSchema {
  const isPlain = value !== undefined && typeof value !== "function";
  return { ...read(inner), ...(isPlain && { default: value }) };
}

function all(schemas: unknown, read: ConvertSchema): readonly JsonSchema[] {
  return Array.isArray(schemas) ? schemas.map(read) : [];
}

/** Keywords of pipe actions; an action that converts the value adds none. */
const ACTIONS: ReadonlyMap<unknown, (action: Node, json: JsonSchema) => JsonSchema> = new Map<
  unknown,
  (action: Node, json: JsonSchema) => JsonSchema
>([
  ["description", ({ description }) => ({ description })],
  ["title", ({ title }) => ({ title })],
  ["metadata", ({ metadata }) => toTextKeywords(metadata)],
  ["integer", () => ({ type: "integer" })],
  ["safe_integer", () => ({ type: "integer" })],
  ["min_value", ({ requirement }) => ({ minimum: requirement })],
  ["max_value", ({ requirement }) => ({ maximum: requirement })],
  ["gt_value", ({ requirement }) => ({ exclusiveMinimum: requirement })],
  ["lt_value", ({ requirement }) => ({ exclusiveMaximum: requirement })],
  ["multiple_of", ({ requirement }) => ({ multipleOf: requirement })],
  ["min_length", ({ requirement }, json) => ({ [json["type"] === "array" ? "minItems" : "minLength"]: requirement })],
  ["max_length", ({ requirement }, json) => ({ [json["type"] === "array" ? "maxItems" : "maxLength"]: requirement })],
  ["length", ({ requirement }, json) => exactLength(requirement, json)],
  ["non_empty", (_, json) => ({ [json["type"] === "array" ? "minItems" : "minLength"]: 1 })],
  [
    "regex",
    ({ requirement }) =>
      requirement instanceof RegExp && requirement.flags === "" ? { pattern: requirement.source } : {},
  ],
  ["email", () => ({ format: "email" })],
  ["url", () => ({ format: "uri" })],
  ["uuid", () => ({ format: "uuid" })],
  ["iso_date", () => ({ format: "date" })],
  ["iso_timestamp", () => ({ format: "date-time" })],
  ["ipv4", () => ({ format: "ipv4" })],
  ["ipv6", () => ({ format: "ipv6" })],
]);

function exactLength(requirement: unknown, { type }: JsonSchema): JsonSchema {
  return type === "array"
    ? { minItems: requirement, maxItems: requirement }
    : { minLength: requirement, maxLength: requirement };
}

function toTextKeywords(metadata: unknown): JsonSchema {
  const { title, description } = isRecord(metadata) ? metadata : {};
  return {
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && { description }),
  };
}
