import addFormats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "../support/fuzz.ts";
import { expect, test } from "vitest";
import type { JsonSchema } from "../../src/model/json.ts";
import { describe, exampleArguments } from "../../src/registry/index.ts";
import { createCatalog, recordedSkills, sampleSkills, createSkill } from "./catalogs.ts";
import { fittingInput } from "./schemas.ts";

const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false });
addFormats.default(ajv);

function findProblems(input: JsonSchema): unknown {
  const { $schema: _, ...schema } = input;
  const validate = ajv.compile(schema);
  return validate(exampleArguments({ input })) ? undefined : validate.errors;
}

/** An input with one required parameter. */
function createInput(schema: unknown, $defs: JsonSchema = {}): JsonSchema {
  return { type: "object", properties: { x: schema }, required: ["x"], $defs };
}

test.each<readonly [unknown, unknown]>([
  [{ type: "string" }, "example"],
  [{ type: "string", format: "email" }, "ada@example.com"],
  [{ type: "string", minLength: 10, maxLength: 12 }, "example ex"],
  [{ type: "string", maxLength: 3 }, "a"],
  [{ type: "string", pattern: "^[A-Z]{2}-\\d{3,}$" }, "AA-1111"],
  [{ type: "string", pattern: "^(foo|bar)(?:baz)?\\.txt$" }, "foobaz.txt"],
  [{ type: "string", pattern: "^[a-f0-9]{128}$" }, "a".repeat(128)],
  [
    { type: "string", pattern: "^(?:[^/\\s]+/)+v\\d{1,3}\\.[\\w-]*$", minLength: 30 },
    "aaaaa/aaaaa/aaaaa/aaaaa/aaaaa/v111.aaaa",
  ],
  [{ type: "string", enum: ["red", "green"] }, "red"],
  [{ const: { a: 1 } }, { a: 1 }],
  [{ type: "integer", minimum: 7 }, 7],
  [{ type: "number", exclusiveMinimum: 0, maximum: 0.5 }, 0.5],
  [{ type: "integer", minimum: 10, multipleOf: 7 }, 14],
  [{ type: "string", default: "here", minLength: 1 }, "here"],
  [{ type: "string", default: "", minLength: 1 }, "example"],
  [{ type: "array", items: { type: "integer" } }, [1]],
  [{ type: "array", items: { type: "string" }, minItems: 3, uniqueItems: true }, ["example", "example 2", "example 3"]],
  [{ type: "array", prefixItems: [{ type: "string" }, { type: "number" }], minItems: 2 }, ["example", 1]],
  [{ type: "array", contains: { const: 4 } }, [4]],
  [{ type: "object", properties: { a: { type: "boolean" }, b: {} }, required: ["a"] }, { a: true }],
  [{ type: "object", additionalProperties: { type: "number" }, minProperties: 1 }, { key1: 1 }],
  [
    { type: "object", patternProperties: { "^x-": { type: "number" } }, additionalProperties: false, minProperties: 1 },
    { "x-": 1 },
  ],
  [
    {
      oneOf: [
        { type: "number", multipleOf: 5 },
        { type: "number", multipleOf: 3 },
      ],
    },
    5,
  ],
  [{ allOf: [{ type: "integer", minimum: 3 }, { maximum: 9 }, { not: { const: 3 } }] }, 4],
  [{ type: "string", not: { const: "example" } }, "text"],
  [
    JSON.parse('{"type":"object","required":["a"],"if":{"properties":{"a":{"const":1}}},"then":{"required":["b"]}}'),
    { a: "example" },
  ],
  [
    { type: "object", properties: { a: {}, b: {} }, required: ["a"], dependentRequired: { a: ["b"] } },
    { a: "example", b: "example" },
  ],
  [{ $ref: "#/$defs/node" }, { value: 1 }],
  [{ type: ["null", "string"], minLength: 2 }, null],
])("T7: the example of %j is %j, and it validates", (schema, example) => {
  const input = createInput(schema, {
    node: {
      type: "object",
      properties: { value: { type: "number" }, next: { $ref: "#/$defs/node" } },
      required: ["value"],
    },
  });
  expect(exampleArguments({ input })).toEqual({ x: example });
  expect(findProblems(input)).toBe(undefined);
});

test("T7: examples speak of what their parameter is called", () => {
  const names = ["query", "url", "path", "email", "message", "date"];
  const input = {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    required: names,
  };
  expect(exampleArguments({ input })).toEqual({
    query: "weather",
    url: "https://example.com/",
    path: "notes.txt",
    email: "ada@example.com",
    message: "Hello",
    date: "2025-01-15",
  });
});

test("T7: a generated example validates against the schema that it was made from", () => {
  fc.assert(
    fc.property(fittingInput, (input) => {
      const problems = findProblems(input);
      if (problems !== undefined) throw new Error(JSON.stringify([exampleArguments({ input }), problems]));
    }),
    { numRuns: 500 },
  );
});

test("T7: schemas that nothing fits, or that ask for endless work, end with something", () => {
  const branches = Array.from({ length: 6 }, () => ({ $ref: "#/$defs/a" }));
  const hostile: readonly (readonly [unknown, JsonSchema])[] = [
    [{ type: "string", minLength: 5, maxLength: 2 }, {}],
    [{ type: "string", pattern: "^(a+)+(b|c)*(?=x)\\1$" }, {}],
    [{ type: "string", pattern: "(".repeat(5_000) }, {}],
    [{ type: "string", pattern: "^(a+)+$(?=x)", minLength: 30 }, {}],
    [{ type: "string", pattern: "^(\\w+\\s?)+$(?=x)", minLength: 100 }, {}],
    [{ type: "string", pattern: "^(?:a|a|a)*b", enum: ["a".repeat(100)] }, {}],
    [{ type: "string", minLength: 1e12 }, {}],
    [{ type: "array", minItems: 1e12, items: { type: "array", minItems: 1e9 } }, {}],
    [{ type: "object", minProperties: 1e12 }, {}],
    [{ $ref: "#/$defs/a" }, { a: { allOf: branches, anyOf: branches, oneOf: branches, not: { $ref: "#/$defs/a" } } }],
    [
      { $ref: "#/$defs/b" },
      {
        b: { type: "object", properties: { b: { $ref: "#/$defs/b" }, c: { $ref: "#/$defs/b" } }, required: ["b", "c"] },
      },
    ],
  ];
  for (const [schema, $defs] of hostile) {
    const startedAt = performance.now();
    expect(exampleArguments({ input: createInput(schema, $defs) })).toBeTypeOf("object");
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  }
});

test.each([
  ["a string", 'await device.S.m("weather")', { query: { type: "string" } }],
  [
    "an object",
    "await device.S.m({ filter: { a: 1 } })",
    { filter: { type: "object", properties: { a: { const: 1 } }, required: ["a"] } },
  ],
  [
    "odd names",
    'await device.S.m({ "a-b": 1, c: 2, d: 3, e: 4 })',
    { "a-b": { const: 1 }, c: { const: 2 }, d: { const: 3 }, e: { const: 4 } },
  ],
  ["what cannot be seen", String.raw`await device.S.m("\u202e")`, { x: { const: "\u202E" } }],
])("D3: the example call for %s is %s", (_, call, properties) => {
  const input = { type: "object", properties, required: Object.keys(properties) };
  expect(describe(createCatalog(createSkill("S", [{ name: "m", input }])), "S.m").example).toBe(call);
});

test("D3: an example call whose arguments have a prototype key keeps it as data", () => {
  const input = JSON.parse(
    '{"type":"object","properties":{"o":{"const":{"__proto__":1}}},"required":["o"]}',
  ) as JsonSchema;
  const { example } = describe(createCatalog(createSkill("S", [{ name: "m", input }])), "S.m");
  expect(example).toBe('await device.S.m({ o: { ["__proto__"]: 1 } })');
});

test("T7: the examples of made-up servers validate", () => {
  for (const { path, input } of createCatalog(...sampleSkills()).methods)
    expect([path, findProblems(input)]).toEqual([path, undefined]);
});

test("T7: the examples of every recorded tool validate", () => {
  for (const { path, input } of createCatalog(...recordedSkills()).methods)
    expect([path, findProblems(input)]).toEqual([path, undefined]);
});
