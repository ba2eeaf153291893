import addFormats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "../support/fuzz.ts";
import { repetitions } from "../support/repetitions.ts";
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
  [{ type: "string" }, "<x>"],
  [{ type: "string", format: "email" }, "ada@example.com"],
  [{ type: "string", minLength: 10, maxLength: 12 }, "example ex"],
  [{ type: "string", maxLength: 3 }, "<x>"],
  [{ type: "string", maxLength: 2 }, "ex"],
  [{ type: "string", pattern: "^[A-Z]{2}-\\d{3,}$" }, "AB-1234"],
  [{ type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" }, "2025-01-15"],
  [{ type: "string", pattern: "^[a-f0-9]+$", minLength: 40 }, "0123456789abcdef0123456789abcdef01234567"],
  [{ type: "string", pattern: "^q{3}$", default: "", examples: ["qqq"] }, "qqq"],
  [{ type: "string", pattern: "^q{3}$", description: "A code (e.g. `qqq`)" }, "qqq"],
  [{ type: "string", enum: ["red", "green"] }, "red"],
  [{ const: { a: 1 } }, { a: 1 }],
  [{ type: "integer", minimum: 7 }, 7],
  [{ type: "number", exclusiveMinimum: 0, maximum: 0.5 }, 0.5],
  [{ type: "integer", minimum: 10, multipleOf: 7 }, 14],
  [{ type: "string", default: "here", minLength: 1 }, "here"],
  [{ type: "string", default: "", minLength: 1 }, "<x>"],
  [{ type: "array", items: { type: "integer" } }, [1]],
  [{ type: "array", items: { type: "string" }, minItems: 3, uniqueItems: true }, ["<x>", "example", "example 2"]],
  [{ type: "array", prefixItems: [{ type: "string" }, { type: "number" }], minItems: 2 }, ["<x>", 1]],
  [{ type: "array", contains: { const: 4 } }, [4]],
  [{ type: "object", properties: { a: { type: "boolean" }, b: {} }, required: ["a"] }, { a: true }],
  [{ type: "object", additionalProperties: { type: "number" }, minProperties: 1 }, { key1: 1 }],
  [
    { type: "object", patternProperties: { "^x-": { type: "number" } }, additionalProperties: false, minProperties: 1 },
    { "x-example": 1 },
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
  [{ type: "string", not: { const: "<x>" } }, "example"],
  [
    JSON.parse('{"type":"object","required":["a"],"if":{"properties":{"a":{"const":1}}},"then":{"required":["b"]}}'),
    { a: "example" },
  ],
  [
    { type: "object", properties: { a: {}, b: {} }, required: ["a"], dependentRequired: { a: ["b"] } },
    { a: "<a>", b: "<b>" },
  ],
  [{ $ref: "#/$defs/node" }, { value: 1 }],
  [{ type: ["null", "string"], minLength: 2 }, null],
])("generates for %j the valid example %j [T7]", (schema, example) => {
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

test("generates examples that fit the name of their parameter [T7]", () => {
  const names = ["query", "url", "path", "email", "message", "date", "message_id", "direction"];
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
    message_id: "<message_id>",
    direction: "<direction>",
  });
});

test.each<readonly [string, unknown]>([
  ["The day, as YYYYMMDD", "20250115"],
  ["Start date in the format 'DD/MM/YYYY'", "15/01/2025"],
  ["When it begins (yyyy-mm-dd HH:mm:ss)", "2025-01-15 12:30:00"],
  ["Opening time, HH:MM", "12:30"],
  ["An ISO 8601 timestamp", "2025-01-15T12:30:00Z"],
  ["The place in the format of 'City, State'", "City, State"],
  ["The place in the format of 'City, State', such as 'Berkeley, CA'", "Berkeley, CA"],
  ["The place (e.g. San Diego)", "San Diego"],
  ["A day (e.g., MM/DD/YYYY)", "01/15/2025"],
  ["A day like any other", "<x>"],
])("the example of a text described as %j is %j [T7]", (description, example) => {
  expect(exampleArguments({ input: createInput({ type: "string", description }) })).toEqual({ x: example });
});

test("the example of an integer that is a date has the form that its description names [T7]", () => {
  const input = createInput({ type: "integer", description: "The day (YYYYMMDD)" });
  expect(exampleArguments({ input })).toEqual({ x: 20250115 });
});

test("an example has the required members of objects inside of objects and lists [T7]", () => {
  const line = {
    type: "object",
    properties: { sku: { type: "string", default: "A1" }, count: { type: "integer", minimum: 2 }, note: {} },
    required: ["sku", "count"],
  };
  const order = {
    type: "object",
    properties: { lines: { type: "array", items: line }, state: { enum: ["open", "closed"] } },
    required: ["lines", "state"],
  };
  expect(exampleArguments({ input: createInput(order) })).toEqual({
    x: { lines: [{ sku: "A1", count: 2 }], state: "open" },
  });
});

test("the example of a pattern that no usual text matches names the pattern [T7]", () => {
  const input = createInput({ type: "string", pattern: "^sk_[a-z]+_q$" });
  expect(exampleArguments({ input })).toEqual({ x: "<text that matches ^sk_[a-z]+_q$>" });
});

test("generates an example that is valid for its schema [T7]", { tags: "rest" }, () => {
  fc.assert(
    fc.property(fittingInput, (input) => {
      const problems = findProblems(input);
      if (problems !== undefined) throw new Error(JSON.stringify([exampleArguments({ input }), problems]));
    }),
    { numRuns: repetitions(25, 150, 500) },
  );
});

test("terminates for schemas without a valid value, or with endless work [T7]", { tags: "rest" }, () => {
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
    expect(exampleArguments({ input: createInput(schema, $defs) })).toBeTypeOf("object");
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
  ["two parameters", "await device.S.m(1, 2)", { a: { const: 1 }, b: { const: 2 } }],
  ["three parameters", "await device.S.m({ a: 1, b: 2, c: 3 })", { a: { const: 1 }, b: { const: 2 }, c: { const: 3 } }],
  ["what cannot be seen", String.raw`await device.S.m("\u202e")`, { x: { const: "\u202E" } }],
])("generates for %s the example call %s [D3]", (_, call, properties) => {
  const input = { type: "object", properties, required: Object.keys(properties) };
  expect(describe(createCatalog(createSkill("S", [{ name: "m", input }])), "S.m").example).toBe(call);
});

test("the example call of a method with more than two parameters names its arguments, optional ones or not [D3]", () => {
  const properties = { city: { const: "Rome" }, days: { type: "integer" }, unit: { type: "string" } };
  const path = (required: readonly string[]) =>
    createCatalog(createSkill("S", [{ name: "m", input: { type: "object", properties, required } }]));
  expect(describe(path(["city"]), "S.m").example).toBe('await device.S.m({ city: "Rome" })');
  expect(describe(path([]), "S.m").example).toBe('await device.S.m({ city: "Rome" })');
});

test("keeps a prototype key in the arguments of an example call as data [D3]", () => {
  const input = JSON.parse(
    '{"type":"object","properties":{"o":{"const":{"__proto__":1}}},"required":["o"]}',
  ) as JsonSchema;
  const { example } = describe(createCatalog(createSkill("S", [{ name: "m", input }])), "S.m");
  expect(example).toBe('await device.S.m({ o: { ["__proto__"]: 1 } })');
});

test("generates valid examples for made-up servers [T7]", () => {
  for (const { path, input } of createCatalog(...sampleSkills()).methods)
    expect([path, findProblems(input)]).toEqual([path, undefined]);
});

test("generates a valid example for every recorded tool [T7]", { tags: "rest" }, () => {
  for (const { path, input } of createCatalog(...recordedSkills()).methods)
    expect([path, findProblems(input)]).toEqual([path, undefined]);
});
