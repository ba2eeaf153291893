import { expect, test } from "vitest";
import type { JsonSchema } from "../../src/model/json.ts";
import { createCatalog, createSkill } from "./catalogs.ts";

function getSignature(input: JsonSchema, output?: JsonSchema): string | undefined {
  const [method] = createCatalog(
    createSkill("S", [{ name: "m", input, ...(output !== undefined && { output }) }]),
  ).methods;
  return method?.signature;
}

function getParameterType(schema: unknown, $defs: JsonSchema = {}): string | undefined {
  return getSignature({ type: "object", properties: { x: schema }, required: ["x"], $defs })?.slice("m(x: ".length, -1);
}

test("shows required parameters first, and defaults [D4]", () => {
  const input = {
    type: "object",
    properties: { count: { type: "number", default: 10 }, query: { type: "string" } },
    required: ["query"],
  };
  expect(getSignature(input)).toBe("m(query: string, count?: number = 10)");
  expect(getSignature(input, { type: "array", items: { type: "string" } })).toBe(
    "m(query: string, count?: number = 10): Promise<string[]>",
  );
});

test("accepts any object without a schema, and nothing without parameters [M6]", () => {
  expect(getSignature({ type: "object" })).toBe("m(args?: Record<string, unknown>)");
  expect(getSignature({})).toBe("m(args?: Record<string, unknown>)");
  expect(getSignature({ type: "string" })).toBe("m(args?: Record<string, unknown>)");
  expect(getSignature({ type: "object", properties: {} })).toBe("m()");
  expect(getSignature({ type: "object", additionalProperties: false })).toBe("m()");
  expect(getSignature({ type: "object", additionalProperties: { type: "number" } })).toBe(
    "m(args?: Record<string, number>)",
  );
});

test.each<readonly [unknown, string]>([
  [true, "unknown"],
  [{}, "unknown"],
  [{ items: false }, "never[]"],
  [{ type: "string" }, "string"],
  [{ type: "integer" }, "number"],
  [{ type: "boolean" }, "boolean"],
  [{ type: "file" }, "unknown"],
  [{ type: ["string", "null"] }, "string | null"],
  [{ type: "string", nullable: true }, "string | null"],
  [{ type: "string", format: "date-time" }, "string"],
  [{ const: 5 }, "5"],
  [{ const: { a: [1, "b"], "c-d": null } }, '{ a: [1, "b"], "c-d": null }'],
  [{ enum: ["a", "b", 3, null] }, '"a" | "b" | 3 | null'],
  [{ enum: ["\u202E", "a\nb"] }, String.raw`"\u202e" | "a\nb"`],
  [{ enum: Array.from({ length: 500 }, (_, at) => `v${at}`) }, "string"],
  [{ type: "array" }, "unknown[]"],
  [{ type: "array", items: { type: "string" } }, "string[]"],
  [{ items: { enum: [1, 2] } }, "(1 | 2)[]"],
  [{ type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false }, "[string, number]"],
  [{ type: "array", prefixItems: [{ type: "string" }], items: { type: "number" } }, "[string, ...number[]]"],
  [{ type: "array", items: [{ type: "string" }, { enum: [1, 2] }], minItems: 1 }, "[string, (1 | 2)?]"],
  [{ type: "object" }, "Record<string, unknown>"],
  [{ additionalProperties: { type: "number" } }, "Record<string, number>"],
  [
    { type: "object", patternProperties: { "^x-": { type: "string" } }, additionalProperties: false },
    "Record<string, string>",
  ],
  [{ type: "object", additionalProperties: false }, "Record<string, never>"],
  [
    { properties: { a: { type: "string" }, "b c": {} }, required: ["a"], additionalProperties: { type: "number" } },
    '{ a: string; "b c"?: unknown; [key: string]: unknown }',
  ],
  [{ anyOf: [{ type: "string" }, { type: "number" }] }, "string | number"],
  [{ oneOf: [{ type: "string" }, { type: "string", format: "uri" }] }, "string"],
  [{ type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] }, "Record<string, unknown>"],
  [
    { allOf: [{ properties: { a: { type: "string" } } }, { anyOf: [{ properties: { b: {} } }, { type: "null" }] }] },
    "{ a?: string } & ({ b?: unknown } | null)",
  ],
  [{ $ref: "#/$defs/name" }, "string"],
  [{ $ref: "#/$defs/a~1b" }, "1"],
  [{ $ref: "#anchored" }, "2"],
  [{ $ref: "https://example.com/schema.json" }, "unknown"],
  [{ $ref: "#/$defs/nothing" }, "unknown"],
  [{ $ref: "#/$defs/name/constructor" }, "unknown"],
])("converts the schema %j to the type %s [M6]", (schema, type) => {
  const definitions = { name: { type: "string" }, "a/b": { const: 1 }, other: { $anchor: "anchored", const: 2 } };
  expect(getParameterType(schema, definitions)).toBe(type);
});

test("ends the signature of a type that refers to itself [M6]", () => {
  const node = { type: "object", properties: { next: { $ref: "#/$defs/node" }, value: { type: "number" } } };
  expect(getParameterType({ $ref: "#/$defs/node" }, { node })).toBe(
    "{ next?: { next?: { next?: object; value?: number }; value?: number }; value?: number }",
  );
  expect(
    getParameterType({ $ref: "#/$defs/a" }, { a: { anyOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }] } }),
  ).toBe("unknown");
});

test("writes object for objects in a long signature [D4]", () => {
  const part = {
    type: "object",
    properties: { text: { type: "string" }, language: { type: "string" }, note: { type: "string" } },
  };
  const input = {
    type: "object",
    properties: { first: part, second: part, third: { type: "array", items: part }, fourth: part, fifth: part },
  };
  expect(getSignature(input)).toBe(
    "m(first?: object, second?: object, third?: object[], fourth?: object, fifth?: object)",
  );
});

test("quotes a parameter that is not an identifier [D4]", () => {
  const input = { type: "object", properties: { "filter-by": { type: "string" }, class: { type: "string" } } };
  expect(getSignature(input)).toBe('m("filter-by"?: string, class?: string)');
});
