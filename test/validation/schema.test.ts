import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";

import type { JsonSchema } from "../../src/model/json.ts";
import { TIMED_OUT } from "../../src/shared/run-with-timeout.ts";
import { createErrorFinder } from "../../src/validation/error-finder.ts";
import { measure } from "../../src/validation/size.ts";
import { createTimeBudget } from "../../src/validation/time-budget.ts";
import * as fc from "../support/fuzz.ts";

/** With so much time that only the number of steps ends a check, on a busy machine, too. */
function createCheck(schema: JsonSchema) {
  return createErrorFinder(schema, false, createTimeBudget(100_000));
}

function isValid(schema: JsonSchema, value: unknown): boolean {
  const errors = createCheck(schema).errorsIn(value, 100);
  expect(errors).not.toBe(TIMED_OUT);
  return errors !== TIMED_OUT && errors.length === 0;
}

const closed = { unevaluatedProperties: false };
const a = { properties: { a: {} } };
const b = { properties: { b: {} } };

describe("checks the keywords of every draft from 6 to 2020-12 [T6]", () => {
  test.each<[string, JsonSchema, readonly unknown[], readonly unknown[]]>([
    ["integer", { type: "integer" }, [1, 1.0, -3], [1.5, "1", NaN, Infinity]],
    ["nullable", { type: "string", nullable: true }, ["a", null], [1]],
    ["enum of objects", { enum: [{ a: 1, b: [2] }, 3] }, [{ b: [2], a: 1 }, 3], [{ a: 1 }, "3"]],
    [
      "const of a list",
      { const: [1, { a: null }] },
      [[1, { a: null }]],
      [
        [1, {}],
        [{ a: null }, 1],
      ],
    ],
    ["multipleOf", { multipleOf: 0.5 }, [1, 1.5, "x"], [1.25]],
    ["multipleOf of decimals", { multipleOf: 0.01 }, [19.99, -4.35, 1e-2, 1e300], [19.999, 0.001, 1e-300]],
    ["multipleOf zero", { multipleOf: 0 }, ["x"], [0, 1]],
    ["lengths in characters", { minLength: 2, maxLength: 2 }, ["ab", "😀😀", 5], ["a", "😀", "abc"]],
    ["formats of numbers", { format: "int32" }, [5, "x"], [2 ** 40]],
    ["formats of texts", { format: "uuid" }, ["0b0f4a4e-7d63-4c3b-9d5c-0a6f7c1e2d3f", 5], ["0b0f"]],
    [
      "uniqueItems",
      { uniqueItems: true },
      [[1, "1", [1], { a: 1 }]],
      [
        [1, 1.0],
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      ],
    ],
    [
      "prefixItems and items",
      { prefixItems: [{ type: "string" }], items: { type: "number" } },
      [["a", 1], []],
      [[1], ["a", "b"]],
    ],
    [
      "items and additionalItems",
      { items: [{ type: "string" }], additionalItems: false },
      [["a"], []],
      [["a", 1], [1]],
    ],
    [
      "contains with bounds",
      { contains: { type: "number" }, minContains: 2, maxContains: 3 },
      [[1, "a", 2]],
      [[1], [1, 2, 3, 4]],
    ],
    ["contains of none", { contains: { type: "number" }, minContains: 0 }, [[], ["a"]], []],
    ["propertyNames", { propertyNames: { maxLength: 1 } }, [{ a: 1 }], [{ ab: 1 }]],
    [
      "patternProperties",
      { patternProperties: { "^x": { type: "number" } }, additionalProperties: false },
      [{ x1: 1 }],
      [{ x1: "a" }, { y: 1 }],
    ],
    [
      "dependencies",
      { dependencies: { a: ["b"], c: { required: ["d"] } } },
      [{ a: 1, b: 1 }, { c: 1, d: 1 }, {}],
      [{ a: 1 }, { c: 1 }],
    ],
    ["dependentRequired", { dependentRequired: { a: ["b"] } }, [{ a: 1, b: 1 }, { b: 1 }], [{ a: 1 }]],
    ["dependentSchemas", { dependentSchemas: { a: { minProperties: 2 } } }, [{ a: 1, b: 1 }, {}], [{ a: 1 }]],
    ["not", { not: { type: "string" } }, [1], ["a"]],
    ["oneOf", { oneOf: [{ type: "number" }, { minimum: 5 }] }, [1, "a"], [7]],
    ["if without then", { if: { type: "number" }, else: { const: "a" } }, [5, "a"], ["b"]],
    ["boolean schemas", { properties: { a: true, b: false } }, [{ a: 1 }], [{ b: 1 }]],
    ["unevaluatedProperties across allOf", { allOf: [a], ...b, ...closed }, [{ a: 1, b: 1 }], [{ c: 1 }]],
    [
      "unevaluatedProperties across anyOf",
      {
        anyOf: [
          { ...a, required: ["a"] },
          { ...b, required: ["b"] },
        ],
        ...closed,
      },
      [{ a: 1 }, { a: 1, b: 1 }],
      [{ a: 1, c: 1 }],
    ],
    [
      "unevaluatedProperties across a reference",
      { $defs: { A: a }, $ref: "#/$defs/A", ...closed },
      [{ a: 1 }],
      [{ b: 1 }],
    ],
    [
      "unevaluatedProperties across if",
      {
        ...JSON.parse('{"if": {"properties": {"a": {}}, "required": ["a"]}, "then": {"properties": {"b": {}}}}'),
        ...closed,
      },
      [{ a: 1, b: 1 }],
      [{ b: 1 }],
    ],
    [
      "unevaluatedItems",
      { prefixItems: [{}], contains: { const: 5 }, unevaluatedItems: false },
      [[1, 5], [5]],
      [[1, 5, 2]],
    ],
    [
      "a reference to the whole",
      { properties: { next: { $ref: "#" } }, additionalProperties: false },
      [{ next: { next: {} } }],
      [{ next: { a: 1 } }],
    ],
    ["a pointer with escapes", { $defs: { "a/b~c%": { type: "number" } }, $ref: "#/$defs/a~1b~0c%25" }, [1], ["a"]],
    ["an anchor", { $defs: { A: { $anchor: "it", type: "number" } }, $ref: "#it" }, [1], ["a"]],
    ["an identifier as an anchor", { definitions: { A: { $id: "#it", type: "number" } }, $ref: "#it" }, [1], ["a"]],
    [
      "identifiers below each other",
      {
        $id: "https://example.com/root",
        $defs: { A: { $id: "folder/a", $defs: { B: { $id: "b", type: "number" } } } },
        $ref: "folder/b",
      },
      [1],
      ["a"],
    ],
    [
      "dynamic references",
      {
        $id: "https://example.com/numbers",
        $ref: "list",
        $defs: {
          item: { $dynamicAnchor: "item", type: "number" },
          list: { $id: "list", items: { $dynamicRef: "#item" }, $defs: { item: { $dynamicAnchor: "item" } } },
        },
      },
      [[1, 2]],
      [["a"]],
    ],
    [
      "recursive references",
      {
        $id: "https://example.com/strict",
        $recursiveAnchor: true,
        $ref: "tree",
        unevaluatedProperties: false,
        $defs: { tree: { $id: "tree", $recursiveAnchor: true, properties: { child: { $recursiveRef: "#" } } } },
      },
      [{ child: { child: {} } }],
      [{ child: { other: 1 } }],
    ],
  ])("%s", (_name, schema, valid, invalid) => {
    for (const value of valid) expect([value, isValid(schema, value)]).toEqual([value, true]);
    for (const value of invalid) expect([value, isValid(schema, value)]).toEqual([value, false]);
    expect(createCheck(schema).note).toBe("");
  });
});

test.each<[JsonSchema, string]>([
  [{ properties: { a: { type: "strng" } } }, String.raw`\"type\" at #/properties/a must name types of JSON`],
  [{ required: true }, String.raw`\"required\" at # must be a list of names`],
  [
    { items: { $ref: "#/$defs/none" } },
    String.raw`\"$ref\" at #/items must refer to a schema in the document, not to \"#/$defs/none\"`,
  ],
  [
    { $defs: { A: { enum: [] } }, anyOf: [{ $ref: "#/$defs/A" }] },
    String.raw`\"enum\" at #/$defs/A must be a list of values`,
  ],
  [{ additionalProperties: "no" }, String.raw`\"additionalProperties\" at # must be a schema`],
  [{ properties: { a: 5 } }, "#/properties/a is not a schema"],
  [{ minimum: "1" }, String.raw`\"minimum\" at # must be a number`],
  [{ anyOf: [] }, String.raw`\"anyOf\" at # must be a list of schemas`],
])("says what part of %j cannot be checked [T6]", (schema, note) => {
  expect(createCheck(schema).note).toBe(`part of its schema cannot be checked: "${note}"`);
});

describe("takes work in proportion to the value, not to the schema [T6, P4]", () => {
  const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, id) => [`name${id}`, { type: "string" }]));
  const doubled = Object.fromEntries(
    Array.from({ length: 60 }, (_, id) => [
      `d${id}`,
      { anyOf: [{ $ref: `#/$defs/d${id + 1}` }, { $ref: `#/$defs/d${id + 1}` }] },
    ]),
  );

  test("reads only the properties that a value has", () => {
    const check = createCheck({ properties: many });
    const startedAt = process.cpuUsage();
    for (let count = 0; count < 1_000; count++) expect(check.errorsIn({ name5: 1 }, 2)).toHaveLength(1);
    const { user } = process.cpuUsage(startedAt);
    expect(user / 1_000).toBeLessThan(1_000); // 1,000 checks of every property would take some seconds
  });

  test("ends the check of references that double with each level", () => {
    const schema = { $defs: { ...doubled, d60: { type: "string" } }, $ref: "#/$defs/d0" };
    expect(createCheck(schema).errorsIn(5, 1)).toBe(TIMED_OUT);
  });

  test("ends the check of schemas within schemas that are too many", () => {
    const deep = Array.from({ length: 5_000 }).reduce<JsonSchema>((inner) => ({ allOf: [inner] }), { type: "string" });
    expect(createCheck(deep).errorsIn(5, 1)).toBe(TIMED_OUT);
  });

  test("ends the check of a large value against many alternatives", { tags: "rest" }, () => {
    const anyOf = Array.from({ length: 50 }, (_, id) => ({ type: "object", required: [`name${id}`] }));
    const list = Array.from({ length: 60_000 }, (_, id) => ({ id }));
    expect(createCheck({ items: { anyOf } }).errorsIn(list, 2 * list.length)).toBe(TIMED_OUT);
  });

  const rows = Array.from({ length: 20_000 }, (_, id) => ({ id }));
  const names = Object.fromEntries(Array.from({ length: 9_000 }, (_, id) => [`name${id}`, id]));

  test.each<[string, (id: number) => JsonSchema, unknown]>([
    ["equal to one of many lists", (id) => ({ const: [id] }), rows],
    ["in one of many enumerations", (id) => ({ enum: [[id]] }), rows],
    ["unique in many ways", (id) => ({ uniqueItems: true, minItems: 1e9 + id }), rows],
    ["of one of many lengths", (id) => ({ minLength: 1e9 + id }), "x".repeat(1_000_000)],
    ["of one of many patterns", (id) => ({ pattern: `^x+y${id}$` }), "x".repeat(1_000_000)],
    ["of one of many counts of members", (id) => ({ minProperties: 1e9 + id }), names],
    ["of one of many members", (id) => ({ properties: { [`name${id}`]: false } }), names],
    ["without others in many ways", (id) => ({ additionalProperties: { const: -id - 1 } }), names],
  ])("reads a large value few times: whether it is %s", (_name, createBranch, value) => {
    const check = createCheck({ anyOf: Array.from({ length: 5_000 }, (_, id) => createBranch(id)) });
    const before = process.cpuUsage();
    check.errorsIn(value, measure(value).weight);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(1_000); // 5,000 readings would take many seconds
  });

  test("writes at most 100,000 errors, and few of the alternatives of one keyword", () => {
    const list = Array.from({ length: 120_000 }, () => 1);
    expect(createCheck({ items: { type: "string" } }).errorsIn(list, list.length)).toHaveLength(100_000);
    const anyOf = Array.from({ length: 5_000 }, (_, id) => ({ const: `value${id}` }));
    const errors = createCheck({ anyOf }).errorsIn(1, 1);
    expect(errors === TIMED_OUT ? 0 : errors.length).toBeLessThan(250);
  });

  test("fills in no defaults within alternatives", () => {
    const schema = {
      properties: { a: { default: 1 } },
      anyOf: [{ properties: { b: { default: 2 } } }],
      allOf: [{ properties: { c: { default: 3 } } }],
    };
    const value = {};
    createErrorFinder(schema, true, createTimeBudget(5_000)).errorsIn(value, 1);
    expect(value).toEqual({ a: 1, c: 3 });
  });
});

test("agrees with another validator about schemas and values of any form [T6]", { tags: "rest" }, () => {
  const leaf = fc.oneof(
    fc.constantFrom<object | boolean>(true, false, {}),
    fc.record({ type: fc.constantFrom("string", "number", "integer", "object", "array", "null", "boolean") }),
    fc.record({ enum: fc.array(fc.constantFrom(1, "a", null, [1], { a: 1 }), { minLength: 1, maxLength: 3 }) }),
    fc.record({ const: fc.constantFrom(1, "a", null, [1], { a: 1 }) }),
    fc.record({ minimum: fc.integer({ min: -2, max: 2 }), maxLength: fc.integer({ min: 0, max: 2 }) }),
    fc.record({
      minItems: fc.integer({ min: 0, max: 2 }),
      maxProperties: fc.integer({ min: 0, max: 2 }),
      uniqueItems: fc.boolean(),
    }),
    fc.record({ required: fc.uniqueArray(fc.constantFrom("a", "b"), { maxLength: 2 }) }),
    fc.constantFrom({ $ref: "#/$defs/one" }, { $ref: "#/$defs/two" }),
  );
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
    const inner = tie("schema");
    const list = fc.array(inner, { minLength: 1, maxLength: 3 });
    const named = fc.dictionary(fc.constantFrom("a", "b"), inner, { maxKeys: 2 });
    const optional = { requiredKeys: [] };
    return {
      schema: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        leaf,
        fc.record(
          {
            properties: named,
            additionalProperties: inner,
            patternProperties: fc.dictionary(fc.constant("^a"), inner),
          },
          optional,
        ),
        fc.record({ items: inner, prefixItems: list }, optional),
        fc.record({ contains: inner, minContains: fc.integer({ min: 0, max: 2 }) }, { requiredKeys: ["contains"] }),
        fc.record({ anyOf: list, allOf: list, oneOf: list, not: inner }, optional),
        fc
          .tuple(inner, inner, inner)
          .map((parts) => Object.fromEntries(["if", "then", "else"].map((keyword, index) => [keyword, parts[index]]))),
        fc.record(
          { propertyNames: inner, dependentSchemas: named, properties: named, unevaluatedProperties: inner },
          optional,
        ),
        fc.record({ allOf: list, anyOf: list, prefixItems: list, unevaluatedItems: inner }, optional),
      ),
    };
  });
  const json = fc.jsonValue({ maxDepth: 2 });
  const value = fc.oneof(
    json,
    fc.dictionary(fc.constantFrom("a", "b", "c"), fc.oneof(fc.constantFrom(1, "a", null, [1]), json), { maxKeys: 3 }),
    fc.array(fc.constantFrom<unknown>(1, "a", null, [1], { a: 1 }), { maxLength: 3 }),
  );
  fc.assert(
    fc.property(schema, leaf, leaf, value, (whole, one, two, data) => {
      const root = { $defs: { one, two: typeof two === "object" && "$ref" in two ? {} : two }, allOf: [whole] };
      fc.pre(JSON.stringify(one) !== '{"$ref":"#/$defs/one"}');
      const ajv = new Ajv2020({ strict: false, logger: false, ownProperties: true, validateSchema: false });
      const data2 = JSON.parse(JSON.stringify(data)) as unknown;
      expect(isValid(root, data2)).toBe(ajv.validate(root, data2));
    }),
  );
});
