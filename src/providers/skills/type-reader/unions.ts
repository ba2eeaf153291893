import { isDeepStrictEqual } from "node:util";

import type { Json, JsonSchema } from "../../../model/json.ts";
import { ANY } from "./reader.ts";

/** Merges schemas into one: literals become one enum, `true` and `false` a boolean, the rest `anyOf`. */
export function union(schemas: readonly JsonSchema[]): JsonSchema {
  const parts: JsonSchema[] = [];
  for (const schema of schemas) {
    if (Object.keys(schema).length === 0) return ANY;
    if (!parts.some((part) => isDeepStrictEqual(part, schema))) add(parts, schema);
  }
  const wide = new Set(parts.filter((part) => Object.keys(part).length === 1).map((part) => part["type"]));
  const remaining = parts.filter((part) => !isEnum(part) || !wide.has(part["type"])).map(wholeBoolean);
  const [only] = remaining;
  if (only === undefined) return ANY;
  return remaining.length === 1 ? only : { anyOf: remaining };
}

function add(parts: JsonSchema[], schema: JsonSchema): void {
  const at = isEnum(schema) ? parts.findIndex((part) => isEnum(part) && part["type"] === schema["type"]) : -1;
  const part = parts[at];
  if (part === undefined) parts.push(schema);
  else parts[at] = { ...part, enum: [...new Set([...getEnum(part), ...getEnum(schema)])] };
}

/** True for a bare list of literals of one type. */
function isEnum(schema: JsonSchema): boolean {
  return Array.isArray(schema["enum"]) && Object.keys(schema).length === 2 && "type" in schema;
}

export function getEnum(schema: JsonSchema): readonly unknown[] {
  return Array.isArray(schema["enum"]) ? schema["enum"] : [];
}

function wholeBoolean(schema: JsonSchema): JsonSchema {
  return schema["type"] === "boolean" && getEnum(schema).length === 2 ? { type: "boolean" } : schema;
}

/** Returns the parts of a union; any other schema is its only part. */
export function getBranches(schema: JsonSchema): readonly JsonSchema[] {
  return Array.isArray(schema["anyOf"]) && Object.keys(schema).length === 1 ? schema["anyOf"] : [schema];
}

/** Returns a schema of exactly these values. */
export function literals(values: readonly Json[]): JsonSchema {
  return union(values.map(literal));
}

export function literal(value: Json): JsonSchema {
  if (value === null) return { type: "null" };
  return { type: typeof value, enum: [value] };
}

/** Returns the schema of a value: a string for `"metric"`; a literal only if `exact` (`as const`). */
export function valueToSchema(value: Json, exact: boolean): JsonSchema {
  if (Array.isArray(value)) {
    if (exact)
      return {
        type: "array",
        prefixItems: value.map((item: Json) => valueToSchema(item, exact)),
        minItems: value.length,
        maxItems: value.length,
      };
    return { type: "array", items: union(value.map((item: Json) => valueToSchema(item, exact))) };
  }
  if (value === null) return { type: "null" };
  if (typeof value !== "object") return exact ? literal(value) : { type: typeof value };
  const fields = Object.entries(value).map(([name, field]) => [name, valueToSchema(field, exact)] as const);
  return { type: "object", properties: Object.fromEntries(fields), required: fields.map(([name]) => name) };
}
