import { schemaBehind } from "../model/arguments.ts";
import type { Method } from "../model/catalog.ts";
import { isRecord, type JsonSchema } from "../model/json.ts";

const MAX_DEPTH = 8;

/**
 * True if a method accepts arguments that it does not name. JSON Schema allows them by default; here a schema must allow
 * them with `additionalProperties`, `unevaluatedProperties` or `patternProperties`, or name no argument at all.
 */
export function isOpenToNames(method: Method): boolean {
  const parts = getSubschemas(method.input, method.input, MAX_DEPTH);
  const closed = parts.some((part) => CLOSING.some((keyword) => part[keyword] === false));
  if (method.parameters.length === 0) return !closed;
  return parts.some(
    (part) => isRecord(part["patternProperties"]) || CLOSING.some((keyword) => (part[keyword] ?? false) !== false),
  );
}

const CLOSING = ["additionalProperties", "unevaluatedProperties"] as const;

/** Returns a schema and the subschemas that apply to the same value. */
function getSubschemas(schema: unknown, root: JsonSchema, depth: number): readonly JsonSchema[] {
  if (!isRecord(schema) || depth === 0) return [];
  const inner = [schema["allOf"], schema["anyOf"], schema["oneOf"], schema["then"], schema["else"]].flat();
  const referred = schema["$ref"] === undefined ? undefined : schemaBehind(schema, root);
  return [schema, ...[...inner, referred].flatMap((part) => getSubschemas(part, root, depth - 1))];
}
