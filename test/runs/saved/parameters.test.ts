import { expect, test } from "vitest";

import { inferSchema, parameterize } from "../../../src/runtime/saved/parameterize.ts";

test("makes a parameter of a constant at the top level [R6]", () => {
  const source = `const city = "Berlin";\nawait device.A.get(city);\n`;
  expect(parameterize(source, ["city"])).toEqual({ source, parameters: { city: { type: "string" } } });
});

test("makes a parameter of a literal by its value, and by the name of its property [R6]", () => {
  const source = `await device.A.get("Berlin", { days: 3, all: true });\n`;
  expect(parameterize(source, ["city=Berlin", "days", "every=true"])).toEqual({
    source: `const city = "Berlin";\nconst days = 3;\nconst every = true;\nawait device.A.get(city, { days: days, all: every });\n`,
    parameters: { city: { type: "string" }, days: { type: "number" }, every: { type: "boolean" } },
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
