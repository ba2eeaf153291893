import { schemaBehind } from "../model/arguments.ts";
import type { Method } from "../model/catalog.ts";
import { isRecord, type JsonSchema } from "../model/json.ts";

const MAX_DEPTH = 8;

/**
 * Whether a method takes arguments that it does not name. JSON Schema would allow any where it says nothing; here it has to
 * say so, with `additionalProperties`, `unevaluatedProperties` or `patternProperties`, or by naming no argument at all.
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

/** A schema and those that apply to the same value. */
function getSubschemas(schema: unknown, root: JsonSchema, depth: number): readonly JsonSchema[] {
  if (!isRecord(schema) || depth === 0) return [];
  const inner = [schema["allOf"], schema["anyOf"], schema["oneOf"], schema["then"], schema["else"]].flat();
  const referred = schema["$ref"] === undefined ? undefined : schemaBehind(schema, root);
  return [schema, ...[...inner, referred].flatMap((part) => getSubschemas(part, root, depth - 1))];
}
