import { expect, test } from "vitest";

import { inferSchema, parameterize, parameterizeInput } from "../../../src/runtime/saved/parameterize.ts";

test("makes a parameter of a constant at the top level [R6]", () => {
  const source = `const city = "Berlin";\nawait device.A.get(city);\n`;
  expect(parameterize(source, ["city"])).toEqual({
    source: `const { city } = await device.input();\nawait device.A.get(city);\n`,
    parameters: { city: { type: "string" } },
    values: { city: "Berlin" },
  });
});

const DECLARED: readonly (readonly [source: string, rest: string])[] = [
  [`const a = 1, b = 2;\nprint(a, b);`, `print(a, b);`],
  [`const x = f(), a = 1, b = 2, y = g();\nprint(a, b);`, `const x = f(), y = g();\nprint(a, b);`],
  [`const a = 1, x = f(), b = 2;\nprint(a, b);`, `const x = f();\nprint(a, b);`],
  [`const x = f(), b = 2, a = 1\nprint(a, b)`, `const x = f()\nprint(a, b)`],
  [`print(0); const a: number = 1; /* one */\nconst b = 2;\r\nprint(a)`, `print(0); /* one */\nprint(a)`],
];

test.each(DECLARED)("moves the constants a and b of %j to the input [R6]", (source, rest) => {
  expect(parameterize(source, ["a", "b"])).toMatchObject({
    source: `const { a, b } = await device.input();\n${rest}`,
    values: { a: 1, b: 2 },
  });
});

test("replaces a literal in a statement that loses a constant [R6]", () => {
  expect(parameterize(`const a = 1, x = f({ days: 3 });\nprint(a, x);`, ["a", "days"]).source).toBe(
    `const { a, days } = await device.input();\nconst x = f({ days: days });\nprint(a, x);`,
  );
});

test("takes the members of an input that the run had as parameters [R6]", () => {
  const source = "const { city } = await device.input();\nprint(city);\n";
  expect(parameterizeInput(source, { city: "Rome", days: 2 }, ["city"])).toEqual({
    source,
    parameters: { city: { type: "string" }, days: { type: "number" } },
    values: { city: "Rome", days: 2 },
  });
  const refuse =
    (input: unknown, names: readonly string[] = []) =>
    () =>
      parameterizeInput(source, input, names);
  expect(refuse(["Rome"])).toThrow("its input is not an object");
  expect(refuse({ city: 1 }, ["town"])).toThrow('"town" is no parameter: all members of its input are (city)');
  expect(refuse({ "a b": 1 })).toThrow('the member "a b" of its input cannot be a parameter');
});

test("makes a parameter of a literal by its value, and by the name of its property [R6]", () => {
  const source = `await device.A.get("Berlin", { days: 3, all: true });\n`;
  expect(parameterize(source, ["city=Berlin", "days", "every=true"])).toEqual({
    source: `const { city, days, every } = await device.input();\nawait device.A.get(city, { days: days, all: every });\n`,
    parameters: { city: { type: "string" }, days: { type: "number" }, every: { type: "boolean" } },
    values: { city: "Berlin", days: 3, every: true },
  });
});

const REFUSED: readonly (readonly [source: string, wanted: readonly string[], says: string])[] = [
  [
    `await device.A.get("Berlin");\nawait device.A.set("Berlin");`,
    ["city=Berlin"],
    `more than one literal can be city: "\\"Berlin\\"" at line 1, column 20, "\\"Berlin\\"" at line 2, column 20. Declare one constant for them at the top level, as in const city = "Berlin"`,
  ],
  [
    `await device.A.get("Berlin");`,
    ["city=Rome"],
    `no literal "Rome"; its literals are "\\"Berlin\\"" at line 1, column 20`,
  ],
  [`await device.A.get("Berlin");`, ["city"], "no constant city at its top level, and no literal for city"],
  [`const city = f();\nfunction f() { return 1; }`, ["city"], "line 1, column 7: the value of city is computed"],
  [`{ const city = "a"; print(city); }`, ["city"], "no constant city at its top level"],
  [`const days = 3;\nawait device.A.get(4);`, ["days=4"], "line 1, column 7 uses the name days already"],
  [`await device.A.get(4);`, ["device=4"], `"device=4" names no parameter`],
  [`await device.A.get(4);`, ["a b"], `"a b" names no parameter: write --param city, or --param city=Berlin`],
  [`await device.A.get(["a"]);`, ["one=a", `list=["a"]`], "are the same or overlap, at line 1, column 20"],
  [`print("a"`, ["a"], "line 1, column"],
];

test.each(REFUSED)("refuses %s with the parameters %s [R6]", (source, wanted, says) => {
  expect(() => parameterize(source, wanted)).toThrow(says);
});

test("infers the schema of a parameter from its value [R6]", () => {
  expect(inferSchema(["a", "b"])).toEqual({ type: "array", items: { type: "string" } });
  expect(inferSchema(["a", 1])).toEqual({ type: "array", items: {} });
  expect(inferSchema(null)).toEqual({});
  expect(inferSchema({ at: 1, deep: { list: [] } })).toEqual({
    type: "object",
    properties: {
      at: { type: "number" },
      deep: {
        type: "object",
        properties: { list: { type: "array", items: {} } },
        required: ["list"],
        additionalProperties: false,
      },
    },
    required: ["at", "deep"],
    additionalProperties: false,
  });
});

test("infers nothing about what comes after 10,000 values [R6]", () => {
  const list = (length: number): number[] => Array.from({ length }, (_, id) => id);
  expect(inferSchema(list(9_999))).toEqual({ type: "array", items: { type: "number" } });
  expect(inferSchema(list(10_001))).toEqual({ type: "array", items: {} });
  expect(inferSchema(Object.fromEntries(list(10_001).map((id) => [id, id])))).toEqual({ type: "object" });
  expect(inferSchema({ rows: [list(9_000), list(9_000)], more: "a" })).toMatchObject({
    properties: { rows: { type: "array", items: {} }, more: {} },
  });
});

test("refuses an input of more than 100 members as the parameters of a skill [R6]", () => {
  const create = (length: number) =>
    parameterizeInput("1", Object.fromEntries(Array.from({ length }, (_, id) => [`n${id}`, id])), []);
  expect(Object.keys(create(100).parameters)).toHaveLength(100);
  expect(() => create(101)).toThrow("its input has 101 members, and a saved program has at most 100 parameters");
});
