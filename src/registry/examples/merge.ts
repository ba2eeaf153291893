import { isDeepStrictEqual } from "node:util";
import { isRecord, type JsonSchema } from "../../model/json.ts";

type Merge = (a: unknown, b: unknown) => unknown;

/** How two schemas that both hold become one, keyword by keyword; of any other keyword the second one stays. */
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

/** One schema that asks for what both ask for, as far as keywords can be joined one by one. */
export function mergedSchema(a: JsonSchema, b: JsonSchema): JsonSchema {
  const merged = new Map<string, unknown>(Object.entries(a));
  for (const [keyword, value] of Object.entries(b)) {
    const merge = MERGES.get(keyword);
    const known = merged.get(keyword);
    merged.set(keyword, merge === undefined || known === undefined ? value : merge(known, value));
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
