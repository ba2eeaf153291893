import { readFileSync } from "node:fs";

import { Ajv } from "ajv";
import fc from "fast-check";
import { expect, test } from "vitest";

import { isRecord, toRecord } from "../../src/model/json.ts";
import { matchesSchema } from "../../src/shared/settings/match-schema.ts";
import { repetitions } from "../support/repetitions.ts";

const NAMES = fc.constantFrom("a", "b", "toString", "__proto__");
const SCALARS = fc.oneof(
  fc.constantFrom("", "a", "https://x", "😀", 0, 1, 2, -1, 0.5, 1e300, NaN, Infinity, true, false, null, undefined),
  fc.constant(() => 1),
);
const VALUES = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    SCALARS,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(NAMES, tie("value"), { maxKeys: 3 }),
  ),
})).value;
const TYPE = fc.constantFrom("string", "number", "integer", "boolean", "object", "array", "null");
const BOUND = fc.constantFrom(-1, 0, 0.5, 1, 2);
const LENGTH = fc.constantFrom(0, 1, 2, 3);
/** Schemas with at most `levels` of schemas inside. */
function schemas(levels: number): fc.Arbitrary<Record<string, unknown>> {
  const inner = levels === 0 ? fc.constant({}) : schemas(levels - 1);
  const keywords = {
    type: fc.oneof(TYPE, fc.uniqueArray(TYPE, { minLength: 1, maxLength: 3 })),
    enum: fc.uniqueArray(fc.constantFrom("a", 1, true, null), { minLength: 1 }),
    const: fc.constantFrom("a", 0, false),
    anyOf: fc.array(inner, { minLength: 1, maxLength: 2 }),
    minimum: BOUND,
    maximum: BOUND,
    exclusiveMinimum: BOUND,
    minLength: LENGTH,
    maxLength: LENGTH,
    pattern: fc.constantFrom("^https?://", "^.$"),
    minItems: LENGTH,
    maxItems: LENGTH,
    items: inner,
    required: fc.uniqueArray(NAMES, { minLength: 1, maxLength: 2 }),
    properties: fc.dictionary(fc.constantFrom("a", "b", "toString"), inner, { maxKeys: 2 }),
    additionalProperties: fc.oneof(fc.constant(false), inner),
    default: fc.constant(1),
    description: fc.constant("text"),
  };
  return fc
    .uniqueArray(fc.constantFrom(...Object.keys(keywords)), { maxLength: 4 })
    .chain((names) => fc.record(Object.fromEntries(Object.entries(keywords).filter(([name]) => names.includes(name)))));
}

test("matches what a validator of JSON Schema matches", { tags: "rest" }, () => {
  const ajv = new Ajv({ strict: false, validateSchema: false, ownProperties: true, unicode: false, logger: false });
  const outcomes = new Set<boolean>();
  fc.assert(
    fc.property(schemas(2), VALUES, (schema, value) => {
      const isMatch = ajv.validate(schema, value);
      outcomes.add(isMatch);
      expect(matchesSchema(schema, value)).toBe(isMatch);
    }),
    { numRuns: repetitions(300, 3_000) },
  );
  expect(outcomes.size).toBe(2);
});

test("refuses a schema with a keyword that it does not know", () => {
  expect(() => matchesSchema({ format: "uri" }, "x")).toThrow("A schema of settings has the unknown keyword format");
});

test("knows every keyword of the settings", () => {
  const sections = Object.values(readSettingsSchema()["properties"] as Record<string, Record<string, unknown>>);
  expect(sections.flatMap(findSchemas).length).toBeGreaterThan(200);
  for (const schema of sections.flatMap(findSchemas)) expect(() => matchesSchema(schema, undefined)).not.toThrow();
});

function readSettingsSchema(): Record<string, unknown> {
  return JSON.parse(readFileSync(new URL("../../docs/settings.schema.json", import.meta.url), "utf8")) as Record<
    string,
    unknown
  >;
}

/** Returns a schema and those inside. */
function findSchemas(schema: Record<string, unknown>): readonly Record<string, unknown>[] {
  const { properties, items, additionalProperties, anyOf } = schema;
  const inner = [items, additionalProperties, anyOf, ...Object.values(toRecord(properties))].flat().filter(isRecord);
  return [schema, ...inner.flatMap(findSchemas)];
}
