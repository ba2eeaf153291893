import { isDeepStrictEqual } from "node:util";
import { isRecord, type JsonSchema } from "../../model/json.ts";

type Merge = (a: unknown, b: unknown) => unknown;

/** How to merge the keywords of two schemas that both apply; for other keywords the second value wins. */
const MERGES: ReadonlyMap<string, Merge> = new Map<string, Merge>([
  ["properties", mergedProperties],
  ["required", (a, b) => [...new Set([...toList(a), ...toList(b)])]],
  ["enum", (a, b) => toList(a).filter((value) => toList(b).some((other) => isDeepStrictEqual(value, other)))],
  ["type", (a, b) => commonTypes(toList(a), toList(b))],
  ["items", both],
  ["additionalProperties", both],
  ...["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"].map((key): [string, Merge] => [
    key,
    larger,
  ]),
  ...["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"].map((key): [string, Merge] => [
    key,
    smaller,
  ]),
]);

/** Merges two schemas into one that requires both, as far as keywords can be merged separately. */
export function mergedSchema(a: JsonSchema, b: JsonSchema): JsonSchema {
  const merged = new Map<string, unknown>(Object.entries(a));
  for (const [keyword, value] of Object.entries(b)) {
    const merge = MERGES.get(keyword);
    const existing = merged.get(keyword);
    merged.set(keyword, merge === undefined || existing === undefined ? value : merge(existing, value));
  }
  return Object.fromEntries(merged);
}

function mergedProperties(a: unknown, b: unknown): unknown {
  const merged = new Map(isRecord(a) ? Object.entries(a) : []);
  for (const [name, schema] of isRecord(b) ? Object.entries(b) : [])
    merged.set(name, merged.has(name) ? both(merged.get(name), schema) : schema);
  return Object.fromEntries(merged);
}

function both(a: unknown, b: unknown): unknown {
  return { allOf: [a, b] };
}

function commonTypes(a: readonly unknown[], b: readonly unknown[]): unknown {
  return a.filter((type) => b.includes(type) || (type === "integer" && b.includes("number")));
}

function larger(a: unknown, b: unknown): unknown {
  return Math.max(Number(a), Number(b));
}

function smaller(a: unknown, b: unknown): unknown {
  return Math.min(Number(a), Number(b));
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}
