import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "../support/fuzz.ts";
import { repetitions } from "../support/repetitions.ts";
import { expect, test } from "vitest";
import { toSchema } from "../../src/observed/shape-schema.ts";
import { createShape, type Difference, observe } from "../../src/observed/infer-schema.ts";
import { OWNER } from "../../src/model/caller.ts";

function observed(...values: readonly unknown[]): unknown {
  const shape = createShape();
  for (const value of values) observe(value, shape, { caller: OWNER, compares: false });
  return toSchema(shape, OWNER);
}

/** How the last value differs from those before it. */
function difference(...values: readonly unknown[]): Difference | undefined {
  const shape = createShape();
  return values.map((value) => observe(value, shape, { caller: OWNER, compares: true }).difference).at(-1);
}

test("observes plain values by their types alone [D3]", () => {
  expect(observed("secret", "other")).toEqual({ type: "string" });
  expect(observed(1, null)).toEqual({ anyOf: [{ type: "number" }, { type: "null" }] });
  expect(observed([])).toEqual({ type: "array", items: {} });
  expect(observed(new Date(0))).toEqual({});
  expect(JSON.stringify(observed({ password: "hunter2", pin: [1234] }))).not.toMatch(/hunter2|1234/);
});

test("observes which strings are text holding JSON, as long as all of them were [D3]", () => {
  const json = { type: "string", contentMediaType: "application/json" };
  expect(observed('{"a":1}', "[]")).toEqual(json);
  expect(observed('{"a":1}', null)).toEqual({ anyOf: [{ type: "null" }, json] });
  expect(observed({ payload: '[{"a":1}]' })).toMatchObject({ properties: { payload: json } });
  for (const other of ["plain", "42", '"quoted"', "[not json]", "{}}", `["${"x".repeat(70_000)}"]`]) {
    expect(observed(other)).toEqual({ type: "string" });
    expect(observed('{"a":1}', `${other}.`)).toEqual({ type: "string" });
    expect(observed(other, '{"a":1}')).toEqual({ type: "string" });
  }
  expect(difference('{"a":1}', "plain")).toBeUndefined();
  expect(difference("plain", '{"a":1}')).toBeUndefined();
  expect(difference(7, '{"a":1}')).toEqual({ path: "", says: "it is a string, previously a number" });
});

test("marks properties that were always present as required [D3]", () => {
  expect(observed({ id: 1, name: "a" }, { id: 2, tags: ["x"] })).toEqual({
    type: "object",
    properties: {
      id: { type: "number" },
      name: { type: "string" },
      tags: { type: "array", items: { type: "string" } },
    },
    required: ["id"],
  });
});

test.each([
  ["addresses", { "ada@example.com": 1 }],
  ["dates", { "2026-01-01": 1, "2026-01-02": 2 }],
  ["numbers", { user1234: 1 }],
  ["sentences", { "the first one": 1 }],
  ["very many", Object.fromEntries(Array.from({ length: 41 }, (_, at) => [`k${at}`, at]))],
])("does not store property names that are data: %s [D3]", (_what, value) => {
  expect(observed(value)).toEqual({ type: "object", additionalProperties: { type: "number" } });
});

test("turns an object with changing names into a dictionary [D3]", () => {
  const word = (at: number): string => String.fromCodePoint(97 + at).repeat(3);
  const values = Array.from({ length: 20 }, (_, at) => ({ [word(at)]: at }));
  expect(observed(...values)).toEqual({ type: "object", additionalProperties: { type: "number" } });
});

test("treats hostile names as data [D3]", () => {
  const value: unknown = JSON.parse(`{"__proto__": {"polluted": 1}, "constructor": 2}`);
  expect(JSON.stringify(observed(value))).toBe(
    `{"type":"object","properties":{"__proto__":{"type":"object","properties":{"polluted":{"type":"number"}},"required":["polluted"]},"constructor":{"type":"number"}},"required":["__proto__","constructor"]}`,
  );
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

test("reports a difference with its position [D3]", () => {
  expect(difference(1, 2)).toBeUndefined();
  expect(difference(1, "a")).toEqual({ path: "", says: "it is a string, previously a number" });
  expect(difference({ a: [{ b: 1 }] }, { a: [{ b: null }] })).toEqual({
    path: "a[].b",
    says: "it is null, previously a number",
  });
  expect(difference({ a: 1, b: 1 }, { a: 1 })).toEqual({ path: "b", says: "it is missing" });
  expect(difference({ a: 1 }, { a: 1, b: 1 })).toBeUndefined();
  expect(difference([1], "a", { a: 1 })).toEqual({
    path: "",
    says: "it is an object, previously a string or an array",
  });
  expect(difference({ constructor: 1, toString: 1 }, {})).toEqual({ path: "constructor", says: "it is missing" });
});

test("observes a schema that matches all results and contains none of their values [D3]", { tags: "rest" }, () => {
  const ajv = new Ajv2020({ strict: false });
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 8 }), { minLength: 1, maxLength: 6 }), (values) => {
      const schema = observed(...values);
      const fits = ajv.compile(schema as object);
      for (const value of values) expect(fits(value)).toBe(true);
      expect(JSON.stringify(schema)).not.toMatch(/"(?:const|enum|default|examples?)":/);
    }),
    { numRuns: repetitions(40, 150, 300) },
  );
});

test("reports whether an observation changed the shape [D3]", { tags: "rest" }, () => {
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<unknown>(1, "a", true, null, undefined),
      fc.array(tie("value"), { maxLength: 22 }),
      fc.dictionary(
        fc.constantFrom("a", "b", "c d", ...Array.from({ length: 18 }, (_, at) => `k_${at}`)),
        tie("value"),
        {
          maxKeys: 20,
        },
      ),
    ),
  })).value;
  let changes = 0;
  fc.assert(
    fc.property(fc.array(value, { maxLength: 12 }), (values) => {
      const shape = createShape();
      for (const each of [...values, ...values, ...values]) {
        const before = JSON.stringify(toSchema(shape, OWNER));
        const { hasChanged } = observe(each, shape, { caller: OWNER, compares: true });
        if (!hasChanged) expect(JSON.stringify(toSchema(shape, OWNER))).toBe(before);
        else changes += 1;
      }
    }),
    { numRuns: repetitions(100, 150, 500) },
  );
  expect(changes).toBeGreaterThan(100);
});

test("keeps a shape small and fast for any input [D3]", () => {
  const deep = Array.from({ length: 5_000 }).reduce<unknown>((inner) => ({ inner, other: [inner] }), 1);
  const cycle: Record<string, unknown> = {};
  cycle["self"] = [cycle, cycle];
  const wide = Object.fromEntries(Array.from({ length: 39 }, (_, at) => [`k${at}`, { a: { b: { c: at } } }]));
  const bush = Object.fromEntries(Array.from({ length: 39 }, (_, at) => [`k${at}`, wide]));
  for (const value of [deep, cycle, bush, Array.from({ length: 100_000 }, () => bush)]) {
    const schema = JSON.stringify(observed(value, value, value));
    expect(schema.length).toBeLessThan(40_000);
  }
});
