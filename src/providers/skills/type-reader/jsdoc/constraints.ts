import type { JsonSchema } from "../../../../model/json.ts";
import type { Doc } from "./docs.ts";

const NUMBERS: ReadonlyMap<string, string> = new Map(
  [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
  ].map((keyword) => [keyword.toLowerCase(), keyword]),
);

/** Adds the description and the constraints of a doc comment, such as `@minimum 1`, to a schema. */
export function withDoc(schema: JsonSchema, doc: Doc): JsonSchema {
  const parsed = doc.tags.map(({ tag, text }) => parseConstraint(tag, text));
  const constraints = Object.assign({}, ...parsed) as JsonSchema;
  return { ...schema, ...(doc.description !== "" && { description: doc.description }), ...constraints };
}

function parseConstraint(tag: string, text: string): JsonSchema {
  const keyword = NUMBERS.get(tag);
  if (keyword !== undefined) return text !== "" && Number.isFinite(Number(text)) ? { [keyword]: Number(text) } : {};
  switch (tag) {
    case "integer":
      return { type: "integer" };
    case "pattern":
    case "format":
      return text === "" ? {} : { [tag]: text };
    case "default":
      return { default: jsonOr(text) };
    case "deprecated":
      return { deprecated: true };
    default:
      return {};
  }
}

/** Parses a value as JSON, else as text: `5`, `"metric"`, `metric`. */
export function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Bare words are text.
    return text;
  }
}
