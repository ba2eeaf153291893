import * as fc from "../support/fuzz.ts";
import { describe, expect, test } from "vitest";

import { argumentsMessage, bindArguments } from "../../src/model/arguments.ts";
import type { Method } from "../../src/model/catalog.ts";
import { UNKNOWN } from "../../src/model/plan.ts";
import { createMethod, methodWith } from "./methods.ts";

const TEXT = { type: "string" };
const COUNT = { type: "integer" };

const search = createMethod({ query: TEXT, count: COUNT }, ["query"]);
const write = createMethod({ path: TEXT, content: { type: "object" }, mode: TEXT }, ["path", "content"]);
const echo = createMethod({ value: {} }, ["value"]);
const update = createMethod({ data: { type: "object" }, id: TEXT }, ["data"]);
const ping = createMethod({});

function bindInput(method: Method, args: readonly unknown[]): unknown {
  const binding = bindArguments(method, args);
  return binding.kind === "bound" ? binding.input : binding.problems.map(({ field, reason }) => `${field} ${reason}`);
}

describe("binds arguments to names [S1]", () => {
  test.each<[string, Method, readonly unknown[], unknown]>([
    ["by place", search, ["weather"], { query: "weather" }],
    ["by name", search, [{ query: "weather" }], { query: "weather" }],
    ["by places", search, ["weather", 5], { query: "weather", count: 5 }],
    ["by place, then by name", search, ["weather", { count: 5 }], { query: "weather", count: 5 }],
    ["none", search, [], {}],
    ["none, as an empty object", search, [{}], {}],
    ["none for a method without parameters", ping, [{}], {}],
    ["undefined leaves its parameter out", search, [undefined, 5], { count: 5 }],
    ["undefined at the end is nothing", search, ["weather", undefined, undefined, undefined], { query: "weather" }],
    ["undefined by name is nothing", search, [{ query: "weather", count: undefined }], { query: "weather" }],
    ["null is a value", search, [null], { query: null }],
    ["an unknown name is kept for the validator to tell of", search, [{ qery: "x" }], { qery: "x" }],
    ["an unknown name after a place, too", search, ["x", { cuont: 5 }], { query: "x", cuont: 5 }],
  ])("%s", (_, method, args, input) => {
    expect(bindInput(method, args)).toEqual(input);
  });

  test("puts required parameters before optional ones, each in their order", () => {
    const method = createMethod({ a: TEXT, b: TEXT, c: TEXT, d: TEXT }, ["d", "b"]);
    expect(bindInput(method, [1, 2, 3, 4])).toEqual({ b: 1, d: 2, a: 3, c: 4 });
  });
});

test("refuses a call with thousands of names before it copies them [S1]", () => {
  const names = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, at]));
  expect(bindInput(search, [names(60_000)])).toEqual(["_root takes at most 2 (query, count), not 60000"]);
  expect(bindInput(search, ["weather", names(67)])).toEqual(["_root takes at most 2 (query, count), not 67"]);
  expect(bindInput(search, [names(66)])).toHaveProperty("n65", 65);
  expect(bindInput(ping, [names(100)])).toHaveProperty("n99", 99);
});

describe("treats a last object as a value only if it cannot be named arguments [S1]", () => {
  test.each<[string, Method, readonly unknown[], unknown]>([
    ["its key is a parameter", echo, [{ value: 1 }], { value: 1 }],
    ["no key is one, and the parameter takes anything", echo, [{ a: 1 }], { value: { a: 1 } }],
    ["no key is one, and the parameter is an object", update, [{ name: "x" }], { data: { name: "x" } }],
    ["one key of two is a parameter", update, [{ id: "7", name: "x" }], { id: "7", name: "x" }],
    ["empty for a required object", update, [{}], { data: {} }],
    ["empty for a parameter that takes anything", echo, [{}], {}],
    ["the next parameter is an object", write, ["a.txt", { b: 1 }], { path: "a.txt", content: { b: 1 } }],
    [
      "its key names a parameter that is already given",
      write,
      ["a", { path: "b" }],
      { path: "a", content: { path: "b" } },
    ],
    ["its key names the next parameter", write, ["a", { content: {} }], { path: "a", content: {} }],
    [
      "an object before the last is always a value",
      write,
      ["a", { mode: "w" }, "w"],
      { path: "a", content: { mode: "w" }, mode: "w" },
    ],
    ["names after an object by place", update, [{ name: "x" }, { id: "7" }], { data: { name: "x" }, id: "7" }],
    ["the next parameter is no object", search, ["x", { a: 1 }], { query: "x", a: 1 }],
    ["all places are taken", search, ["x", 5, {}], { query: "x", count: 5 }],
  ])("%s", (_, method, args, input) => {
    expect(bindInput(method, args)).toEqual(input);
  });

  test.each<[string, unknown, unknown]>([
    ["$ref", { $ref: "#/$defs/P" }, { data: { x: 1 } }],
    ["anyOf with null", { anyOf: [{ $ref: "#/$defs/P" }, { type: "null" }] }, { data: { x: 1 } }],
    ["a list of types", { type: ["object", "null"] }, { data: { x: 1 } }],
    ["properties alone", { properties: {} }, { data: { x: 1 } }],
    ["an unknown type", { type: "any" }, { data: { x: 1 } }],
    ["a circle of references", { $ref: "#/$defs/C" }, { data: { x: 1 } }],
    ["an array", { type: "array" }, { x: 1 }],
    ["an enum", { enum: ["a"] }, { x: 1 }],
    ["anyOf without an object", { anyOf: [TEXT, COUNT] }, { x: 1 }],
  ])("accepts a parameter described by %s", (_, data, input) => {
    const $defs = { P: { type: "object" }, C: { $ref: "#/$defs/C" } };
    expect(bindInput(methodWith({ type: "object", $defs, properties: { data } }), [{ x: 1 }])).toEqual(input);
  });

  test("treats dates, bytes and instances as values", () => {
    const at = createMethod({ value: {}, count: COUNT }, ["value"]);
    const [date, bytes] = [new Date(0), new Uint8Array([1])];
    expect(bindInput(at, [date])).toEqual({ value: date });
    expect(bindInput(at, [bytes])).toEqual({ value: bytes });
  });
});

describe("reports arguments that cannot be bound before any call is made [S1]", () => {
  test.each<[string, Method, readonly unknown[], readonly string[]]>([
    ["too many", search, ["a", 1, 2], ["_root takes at most 2 (query, count), not 3"]],
    ["too many for none", ping, ["a"], ["_root takes no arguments, not 1"]],
    ["twice", search, ["a", 1, { query: "b" }], ["query is given both by place and by name"]],
  ])("%s", (_, method, args, problems) => {
    expect(bindInput(method, args)).toEqual(problems);
  });

  test("states the error and the expected signature", () => {
    const binding = bindArguments(search, ["a", 1, 2]);
    expect(binding.kind === "unfit" && argumentsMessage(search, binding.problems)).toBe(
      "Cannot call a method with these arguments: the call takes at most 2 (query, count), not 3; use TestSkill.try(query: string, count?: number) (ARGUMENTS_INVALID)",
    );
  });
});

describe("does not judge values that are only known at run time [S5]", () => {
  test.each<[string, readonly unknown[], unknown, boolean]>([
    ["alone it may be names", [UNKNOWN], {}, false],
    ["in last place, too", ["x", UNKNOWN], { query: "x" }, false],
    ["before the last it takes its place", [UNKNOWN, 5], { query: UNKNOWN, count: 5 }, true],
    ["by name", [{ query: UNKNOWN }], { query: UNKNOWN }, true],
    ["it may be undefined, and so not too many", ["x", 5, UNKNOWN, UNKNOWN], { query: "x", count: 5 }, false],
    ["nor given twice", [UNKNOWN, { query: "x" }], { query: "x" }, true],
  ])("%s", (_, args, input, complete) => {
    expect(bindArguments(search, args)).toEqual({ kind: "bound", input, complete });
  });

  test("reports surplus arguments even if their values are unknown", () => {
    expect(bindInput(search, ["x", 5, 6, UNKNOWN])).toEqual(["_root takes at most 2 (query, count), not 3"]);
  });
});

describe("treats keys of prototypes as data [S9]", () => {
  test("by name", () => {
    const input = bindInput(search, [JSON.parse('{"query": "x", "__proto__": {"polluted": true}, "constructor": 1}')]);
    expect(Object.keys(input as object)).toEqual(["query", "__proto__", "constructor"]);
    expect(Object.getPrototypeOf(input)).toBe(Object.prototype);
    expect((input as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("as the name of a parameter", () => {
    const method = methodWith(JSON.parse('{"type": "object", "properties": {"constructor": {}, "toString": {}}}'));
    expect(bindInput(method, [1, 2])).toEqual({ constructor: 1, toString: 2 });
  });
});

test("binds any arguments or gives a reason [S1]", { tags: "repeated" }, () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.jsonValue(), fc.constantFrom(undefined, UNKNOWN)), { maxLength: 5 }), (args) => {
      for (const method of [search, write, echo, update, ping]) {
        const binding = bindArguments(method, args);
        expect(binding.kind === "bound" || binding.problems.length > 0).toBe(true);
      }
    }),
  );
});
