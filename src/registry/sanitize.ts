import { isRecord, type JsonSchema } from "../model/json.ts";
import { truncateText } from "../shared/format-text.ts";

/** Longest description of a skill, a method or a parameter, in UTF-16 units; a longer one is cut and marked. */
export const DESCRIPTION_UNITS = 8_000;

/** Longest guidance of a skill, and longest text in a schema, in UTF-16 units. */
export const GUIDANCE_UNITS = 64_000;

const SCHEMA_DEPTH = 100;
const SCHEMA_NODES = 50_000;

/** Keywords whose value is data, not a schema: copied unchanged. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(["const", "default", "enum", "examples", "example", "required"]);

/** Keywords whose value maps arbitrary names to schemas. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies",
]);

const TEXT_KEYWORDS: ReadonlySet<string> = new Set(["description", "title", "$comment"]);

/** Sanitizes an external text for people and models: removes invisible characters and outer white space, and cuts it to `units`. */
export function sanitizeText(text: unknown, units = DESCRIPTION_UNITS): string {
  if (typeof text !== "string") return "";
  return truncateText(
    removeInvisible(text.slice(0, 2 * units))
      .replace(/\t/g, " ")
      .trim(),
    units,
  );
}

/** Sanitizes an external text for clients, which get its white space as it is. */
export function sanitizeWholeText(text: unknown, units: number): string {
  return typeof text === "string" ? truncateText(removeInvisible(text.slice(0, 2 * units)), units) : "";
}

/** Removes control, zero-width, bidirectional and other invisible characters, and ends lines with `\n`. */
function removeInvisible(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029\u0085]/g, "\n")
    .replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu, "");
}

/**
 * Returns a frozen copy of an external input schema, with sanitized descriptions and every name kept as data. A schema
 * that does not describe an object, nests too deeply (or in a cycle) or is too large becomes `{ type: "object" }`.
 */
export function sanitizeInputSchema(schema: unknown): JsonSchema {
  const clean = sanitizeOutputSchema(schema) ?? ANY_OBJECT;
  const { type = "object" } = clean;
  if (type !== "object" && !(Array.isArray(type) && type.includes("object"))) return ANY_OBJECT;
  return clean["type"] === "object" ? clean : Object.freeze({ ...clean, type: "object" });
}

/** Does the same for an output schema of any type; `undefined` if it is not an object, nests too deeply or is too large. */
export function sanitizeOutputSchema(schema: unknown): JsonSchema | undefined {
  if (!isRecord(schema)) return undefined;
  const budget = { nodes: SCHEMA_NODES };
  const copy = copySchema(schema, SCHEMA_DEPTH, budget);
  return isRecord(copy) && budget.nodes >= 0 ? copy : undefined;
}

const ANY_OBJECT: JsonSchema = Object.freeze({ type: "object" });

interface CopyBudget {
  /** Remaining values that may be copied; below zero the copy is discarded. */
  nodes: number;
}

function copySchema(schema: unknown, depth: number, budget: CopyBudget): unknown {
  return copyValue(schema, depth, budget, (key, value) => {
    if (TEXT_KEYWORDS.has(key) && typeof value === "string") return sanitizeWholeText(value, GUIDANCE_UNITS);
    if (DATA_KEYWORDS.has(key)) return copyData(value, depth - 1, budget);
    if (NAMED_SCHEMAS.has(key) && isRecord(value))
      return copyValue(value, depth - 1, budget, (_, member) => copySchema(member, depth - 2, budget));
    return copySchema(value, depth - 1, budget);
  });
}

function copyData(value: unknown, depth: number, budget: CopyBudget): unknown {
  return copyValue(value, depth, budget, (_, inner) => copyData(inner, depth - 1, budget));
}

/** Returns a frozen copy of a JSON value; drops values that are not JSON. */
function copyValue(
  value: unknown,
  depth: number,
  budget: CopyBudget,
  copy: (key: string, value: unknown) => unknown,
): unknown {
  budget.nodes -= 1;
  if (depth < 0) budget.nodes = -1;
  if (budget.nodes < 0) return undefined;
  if (Array.isArray(value)) return Object.freeze(value.map((item: unknown) => copy("", item)));
  if (isRecord(value)) {
    const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [key, copy(key, inner)]);
    return Object.freeze(Object.fromEntries(entries.filter(([, inner]) => inner !== undefined)));
  }
  return typeof value === "function" || typeof value === "symbol" || typeof value === "bigint" ? undefined : value;
}
