import type { Caller } from "../model/caller.ts";
import type { JsonSchema } from "../model/json.ts";
import { isShownTo, type ObservedObject, type ValueShape } from "./infer-schema.ts";

const JSON_TEXT: JsonSchema = { type: "string", contentMediaType: "application/json" };

/** Converts a shape to JSON Schema, with the names that the caller may see. Properties that were always present are required. */
export function toSchema(shape: ValueShape, caller: Caller): JsonSchema {
  if (shape.kinds.has("anything")) return {};
  const { items, object } = shape;
  // A member that was always null is of a type that is not known yet.
  if (items === undefined && object === undefined && shape.kinds.size === 1 && shape.kinds.has("null")) return {};
  const branches: JsonSchema[] = [
    ...[...shape.kinds].filter((kind) => kind !== "json text" && kind !== "null").map((type) => ({ type })),
    ...(shape.kinds.has("null") ? [{ type: "null" }] : []),
    ...(shape.kinds.has("json text") && !shape.kinds.has("string") ? [JSON_TEXT] : []),
    ...(items === undefined ? [] : [{ type: "array", items: items.times === 0 ? {} : toSchema(items, caller) }]),
    ...(object === undefined ? [] : [objectSchema(object, caller)]),
  ];
  const [only] = branches;
  return branches.length === 1 && only !== undefined ? only : branches.length === 0 ? {} : { anyOf: branches };
}

function objectSchema({ times, properties, values }: ObservedObject, caller: Caller): JsonSchema {
  if (values !== undefined) return { type: "object", additionalProperties: toSchema(values, caller) };
  const visible = [...properties].filter(([, property]) => isShownTo(property, caller));
  const required = visible.filter(([, property]) => property.times >= times).map(([name]) => name);
  const schemas = Object.fromEntries(visible.map(([name, property]) => [name, toSchema(property, caller)]));
  // A hidden name must not be refused: the caller's own results may have it.
  const isOpen = visible.length < properties.size;
  return { type: "object", properties: schemas, required, ...(isOpen && { additionalProperties: {} }) };
}
