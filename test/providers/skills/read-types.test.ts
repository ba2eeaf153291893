import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { readModule } from "../../../src/providers/skills/type-reader/index.ts";
import { parseSource } from "../../../src/providers/skills/type-reader/syntax.ts";
import { temporaryFolder } from "./call.ts";

/** The input schema of one exported function `take`, and what could not be read in it. */
function read(source: string, file = "take.ts") {
  const [take] = readModule(parseSource(`/skills/${file}`, source), "take").functions;
  if (take === undefined) throw new Error("no function was found");
  return { ...take.definition, warnings: take.warnings, layout: take.layout };
}

/** The schema of a parameter of a type, with what is declared before the function. */
function readSchema(type: string, declarations = ""): unknown {
  const { input, warnings } = read(`${declarations}\nexport function take(value: ${type}) {}`);
  expect(warnings).toEqual([]);
  return (input["properties"] as Record<string, unknown>)["value"];
}

const point = {
  type: "object",
  properties: { x: { type: "number" }, y: { type: "number" } },
  required: ["x", "y"],
  additionalProperties: false,
};
const POINT = "interface Point { x: number; y: number }";

describe("types become JSON Schema", () => {
  test.each<[type: string, schema: unknown, declarations?: string]>([
    ["string", { type: "string" }],
    ["number", { type: "number" }],
    ["boolean", { type: "boolean" }],
    ["any", {}],
    ["unknown", {}],
    ["object", { type: "object" }],
    ["null", { type: "null" }],
    ['"a"', { type: "string", enum: ["a"] }],
    ['"a" | "b"', { type: "string", enum: ["a", "b"] }],
    ["1 | -2", { type: "number", enum: [1, -2] }],
    ["true", { type: "boolean", enum: [true] }],
    ["true | false", { type: "boolean" }],
    ['"a" | string', { type: "string" }],
    ["string | null", { anyOf: [{ type: "string" }, { type: "null" }] }],
    ["string | number", { anyOf: [{ type: "string" }, { type: "number" }] }],
    ['"a" | 1 | null', { anyOf: [{ type: "string", enum: ["a"] }, { type: "number", enum: [1] }, { type: "null" }] }],
    ["string | any", {}],
    ["`${number}px`", { type: "string" }],
    ["string[]", { type: "array", items: { type: "string" } }],
    ["readonly (string | null)[]", { type: "array", items: { anyOf: [{ type: "string" }, { type: "null" }] } }],
    ["Array<number>", { type: "array", items: { type: "number" } }],
    ["ReadonlyArray<Point>", { type: "array", items: point }, POINT],
    [
      "[string, number]",
      { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], minItems: 2, maxItems: 2 },
    ],
    [
      "[from: string, to?: number]",
      { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], minItems: 1, maxItems: 2 },
    ],
    [
      "[string, ...number[]]",
      { type: "array", prefixItems: [{ type: "string" }], minItems: 1, items: { type: "number" } },
    ],
    ["Record<string, number>", { type: "object", additionalProperties: { type: "number" } }],
    ["{ [key: string]: boolean }", { type: "object", properties: {}, additionalProperties: { type: "boolean" } }],
    [
      'Record<"x" | "y", number>',
      {
        type: "object",
        properties: { x: { type: "number" }, y: { type: "number" } },
        required: ["x", "y"],
        additionalProperties: false,
      },
    ],
    ["{ [Key in string]: number }", { type: "object", additionalProperties: { type: "number" } }],
    [
      '{ [Key in "a" | "b"]?: Key }',
      {
        type: "object",
        properties: { a: { type: "string", enum: ["a"] }, b: { type: "string", enum: ["b"] } },
        additionalProperties: false,
      },
    ],
    ["Point", point, POINT],
    ["Readonly<Point>", point, POINT],
    ["Partial<Point>", { type: "object", properties: point.properties, additionalProperties: false }, POINT],
    [
      "Required<{ a?: string }>",
      { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false },
    ],
    [
      'Pick<Point, "x">',
      { type: "object", properties: { x: { type: "number" } }, required: ["x"], additionalProperties: false },
      POINT,
    ],
    [
      'Omit<Point, "x">',
      { type: "object", properties: { y: { type: "number" } }, required: ["y"], additionalProperties: false },
      POINT,
    ],
    ["keyof Point", { type: "string", enum: ["x", "y"] }, POINT],
    ['Point["x"]', { type: "number" }, POINT],
    ['Exclude<"a" | "b" | "c", "b">', { type: "string", enum: ["a", "c"] }],
    ['Extract<"a" | "b", "b" | "c">', { type: "string", enum: ["b"] }],
    ["NonNullable<string | null>", { type: "string" }],
    ["string & { readonly brand: unique symbol }", { type: "string" }],
    ["string & {}", { type: "string" }],
    ["Colour", { type: "string", enum: ["red", "blue"] }, 'enum Colour { Red = "red", Blue = "blue" }'],
    ["Level", { type: "number", enum: [0, 1, 8, 9] }, "enum Level { Low, Middle, High = 1 << 3, Highest }"],
    ["Colour.Red", { type: "string", enum: ["red"] }, 'enum Colour { Red = "red", Blue = "blue" }'],
    [
      "(typeof UNITS)[number]",
      { type: "string", enum: ["metric", "imperial"] },
      'const UNITS = ["metric", "imperial"] as const;',
    ],
    [
      "(typeof MODES)[keyof typeof MODES]",
      { type: "string", enum: ["f", "s"] },
      'const MODES = { fast: "f", slow: "s" } as const;',
    ],
    ["keyof typeof MODES", { type: "string", enum: ["fast", "slow"] }, 'const MODES = { fast: "f", slow: "s" };'],
    ["Date", { type: "string", format: "date-time" }],
    ["URL", { type: "string", format: "uri" }],
    ["Uint8Array", {}],
    ["Maybe<string>", { anyOf: [{ type: "string" }, { type: "null" }] }, "type Maybe<T> = T | null;"],
    [
      "Page<Point>",
      {
        type: "object",
        properties: { items: { type: "array", items: point } },
        required: ["items"],
        additionalProperties: false,
      },
      `${POINT} interface Page<T = string> { items: T[] }`,
    ],
    ["Point & { z?: number }", { ...point, properties: { ...point.properties, z: { type: "number" } } }, POINT],
    [
      "Solid",
      { ...point, properties: { ...point.properties, z: { type: "number" } }, required: ["x", "y", "z"] },
      `${POINT} interface Solid extends Point { z: number }`,
    ],
    ["Twice", { ...point }, "interface Twice { x: number } interface Twice { y: number }"],
  ])("%s [T4]", (type, schema, declarations = "") => {
    expect(readSchema(type, declarations)).toEqual(schema);
  });

  test("converts a recursive type to a reference to its definition [T4]", () => {
    const { input } = read(
      "interface Tree { name: string; parts?: Tree[] }\nexport function take(tree: Tree, other: Tree) {}",
    );
    expect(input).toEqual({
      type: "object",
      properties: { tree: { $ref: "#/$defs/Tree" }, other: { $ref: "#/$defs/Tree" } },
      required: ["tree", "other"],
      additionalProperties: false,
      $defs: {
        Tree: {
          type: "object",
          properties: { name: { type: "string" }, parts: { type: "array", items: { $ref: "#/$defs/Tree" } } },
          required: ["name"],
          additionalProperties: false,
        },
      },
    });
  });

  test("reads constraints of fields from their comments [T4]", () => {
    const fields = `{
      /** How many. @minimum 1 @maximum 10 @integer */ count: number;
      /** @minLength 2 @maxLength 8 @pattern ^[a-z]+$ @format hostname */ name?: string;
      /** @minItems 1 @maxItems 3 @default ["a"] */ tags?: string[];
    }`;
    expect(readSchema(fields)).toEqual({
      type: "object",
      properties: {
        count: { type: "integer", description: "How many.", minimum: 1, maximum: 10 },
        name: { type: "string", minLength: 2, maxLength: 8, pattern: "^[a-z]+$", format: "hostname" },
        tags: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 3, default: ["a"] },
      },
      required: ["count"],
      additionalProperties: false,
    });
  });

  test("treats names of Object.prototype as ordinary field names [T4]", () => {
    const schema = readSchema("{ __proto__: string; constructor: number; toString?: boolean }") as {
      properties: object;
      required: string[];
    };
    expect(Object.keys(schema.properties)).toEqual(["__proto__", "constructor", "toString"]);
    expect(schema.required).toEqual(["__proto__", "constructor"]);
  });
});

describe("parameters", () => {
  test("converts parameters to properties of the input in the declared order [T2]", () => {
    const { input } = read(`
      const LIMIT = 50;
      /**
       * @param city - The city to look at
       * @param days How many days
       */
      export async function take(city: string, days = 3, unit: "c" | "f" = "c", limit = LIMIT, when = Date.now(), note?: string, flag: boolean | undefined) {}
    `);
    expect(input).toEqual({
      type: "object",
      properties: {
        city: { type: "string", description: "The city to look at" },
        days: { type: "number", default: 3, description: "How many days" },
        unit: { type: "string", enum: ["c", "f"], default: "c" },
        limit: { type: "number", default: 50 },
        when: {},
        note: { type: "string" },
        flag: { type: "boolean" },
      },
      required: ["city"],
      additionalProperties: false,
    });
  });

  test.each<[parameter: string, fallback: unknown]>([
    ["value = 0", 0],
    ["value = false", false],
    ['value = ""', ""],
    ["value = -1.5", -1.5],
    ["value = null", null],
    ['value = ["a", "b"]', ["a", "b"]],
    ["value = { a: { b: 1 } }", { a: { b: 1 } }],
    ["value = `text`", "text"],
  ])("reads a literal default: %s [T3]", (parameter, fallback) => {
    const { input } = read(`export function take(${parameter}) {}`);
    expect((input["properties"] as { value: { default: unknown } }).value.default).toEqual(fallback);
  });

  test("reads the fields of a destructured parameter as parameters [L2]", () => {
    const source = `
      interface Query { /** The city */ city: string; days?: number; unit?: "c" | "f" }
      export const take = async ({ city, days = 3, unit }: Query) => {};
    `;
    const { input, layout } = read(source);
    expect(input).toEqual({
      type: "object",
      properties: {
        city: { type: "string", description: "The city" },
        days: { type: "number", default: 3 },
        unit: { type: "string", enum: ["c", "f"] },
      },
      required: ["city"],
      additionalProperties: false,
    });
    expect(layout).toMatchObject({ form: "object", context: false });
  });

  test.each([
    ["context", true],
    ["context: CallContext", true],
    ["ctx: CallContext", true],
    ["_context?: Ctx", true],
    ["{ signal }", true],
    ["context: string", false],
    ["context: string[]", false],
    ["{ signal }: { signal: string }", false],
  ])("detects whether a last parameter %s is the context: %s [L3]", (parameter, isContext) => {
    const imports = 'import type { CallContext, CallContext as Ctx } from "skillgate";';
    const { layout } = read(`${imports}\nexport function take(text: string, ${parameter}) {}`);
    expect(layout.context).toBe(isContext);
  });

  test("reads a rest parameter as an optional list [L2]", () => {
    const { input, layout } = read("export function take(...names: string[]) {}");
    expect(input).toEqual({
      type: "object",
      properties: { names: { type: "array", items: { type: "string" } } },
      additionalProperties: false,
    });
    expect(layout.rest).toBe(true);
  });

  test("reads parameter types from the annotation of the variable [L2]", () => {
    const { input, output } = read(
      "export const take: (city: string, days?: number) => Promise<boolean> = async (city, days) => true;",
    );
    expect(input["properties"]).toEqual({ city: { type: "string" }, days: { type: "number" } });
    expect(output).toEqual({ type: "boolean" });
  });

  test("reads a type parameter as its constraint [L2]", () => {
    const { input } = read("export function take<T extends string, U>(a: T, b: U[]) {}");
    expect(input["properties"]).toEqual({ a: { type: "string" }, b: { type: "array", items: {} } });
  });
});

describe("results", () => {
  test.each<[type: string, schema: unknown]>([
    ["Promise<string>", { type: "string" }],
    ["Promise<void>", undefined],
    ["void", undefined],
    ["unknown", undefined],
    ["Promise<{ ok: boolean }>", { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] }],
    ["value is string", { type: "boolean" }],
    ["Map<string, number>", { type: "object", additionalProperties: { type: "number" } }],
    ["Set<string>", { type: "array", items: { type: "string" } }],
  ])("%s [T1]", (type, schema) => {
    expect(read(`export function take(value: any): ${type} {}`).output).toEqual(schema);
  });

  test("reads the description of the result from the comment [T1]", () => {
    const { output } = read("/** @returns The sum of all */\nexport function take(): number { return 1 }");
    expect(output).toEqual({ type: "number", description: "The sum of all" });
  });
});

describe("types in comments", () => {
  const typed = (type: string): unknown => {
    const { input, warnings } = read(`/** @param {${type}} value */\nexport function take(value) {}`, "take.js");
    expect(warnings).toEqual([]);
    return (input["properties"] as Record<string, unknown>)["value"];
  };

  test.each<[type: string, schema: unknown]>([
    ["string", { type: "string" }],
    ["String", { type: "string" }],
    ["integer", { type: "integer" }],
    ["?number", { anyOf: [{ type: "number" }, { type: "null" }] }],
    ["!Array<string>", { type: "array", items: { type: "string" } }],
    ["Array.<number>", { type: "array", items: { type: "number" } }],
    ["Object<string, boolean>", { type: "object", additionalProperties: { type: "boolean" } }],
    ["Object", { type: "object" }],
    ["*", {}],
    ["(string|number)", { anyOf: [{ type: "string" }, { type: "number" }] }],
    ['"a"|"b"', { type: "string", enum: ["a", "b"] }],
    [
      "{ a: string, b?: number }",
      {
        type: "object",
        properties: { a: { type: "string" }, b: { type: "number" } },
        required: ["a"],
        additionalProperties: false,
      },
    ],
  ])("{%s} [L2]", (type, schema) => {
    expect(typed(type)).toEqual(schema);
  });

  test("reads an optional parameter and its default from brackets [L2]", () => {
    const source =
      '/**\n * @param {string} [unit="c"] - The unit\n * @param {number=} days\n */\nexport function take(unit, days) {}';
    expect(read(source, "take.js").input).toEqual({
      type: "object",
      properties: { unit: { type: "string", default: "c", description: "The unit" }, days: { type: "number" } },
      additionalProperties: false,
    });
  });
});

describe("types of other files", () => {
  test("follows types through imports, namespaces and re-exports [L2]", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "deep"));
    await writeFile(
      join(folder, "types.ts"),
      'export * from "./deep/index.js";\nexport default interface City { name: string }',
    );
    await writeFile(
      join(folder, "deep/index.ts"),
      'export type Unit = "c" | "f";\nexport { Size as Magnitude } from "./size";',
    );
    await writeFile(join(folder, "deep/size.ts"), "export enum Size { Small = 1, Large = 2 }");
    const source = `
      import type City from "./types.ts";
      import type { Unit, Magnitude } from "./types.js";
      import * as all from "./types";
      export function take(city: City, unit: Unit, size: Magnitude, again: all.Unit, inline: import("./types.ts").Unit) {}
    `;
    const file = join(folder, "take.ts");
    const { functions, files } = readModule(parseSource(file, source), "take");
    const unit = { type: "string", enum: ["c", "f"] };
    expect(functions[0]?.definition.input["properties"]).toEqual({
      city: {
        type: "object",
        properties: { name: { type: "string" } },
        required: ["name"],
        additionalProperties: false,
      },
      unit,
      size: { type: "number", enum: [1, 2] },
      again: unit,
      inline: unit,
    });
    expect(functions[0]?.warnings).toEqual([]);
    expect(new Set(files)).toEqual(
      new Set([file, ...["deep/index.ts", "deep/size.ts", "types.ts"].map((name) => join(folder, name))]),
    );
  });
});

describe("unreadable types", () => {
  test.each([
    [
      "(item: string) => void",
      '"(item: string) => void" of parameter "value" of "TakeSkill.take" (take.ts:2): functions cannot be passed, so any value is taken; use plain data instead',
    ],
    [
      "bigint",
      '"bigint" of parameter "value" of "TakeSkill.take" (take.ts:2): JSON has no bigint, so any value is taken; write number or string',
    ],
    [
      "Unheard",
      '"Unheard" of parameter "value" of "TakeSkill.take" (take.ts:2): it is not declared in the skill, so any value is taken; write it out as plain data, such as { city: string }',
    ],
    [
      "Stats",
      '"Stats" of parameter "value" of "TakeSkill.take" (take.ts:2): it comes from the package "node:fs", so any value is taken; write it out as plain data, such as { city: string }',
    ],
    [
      "Set<string>",
      '"Set<string>" of parameter "value" of "TakeSkill.take" (take.ts:2): a Set cannot be passed, so any value is taken; use an array',
    ],
  ])("accepts any value for %s and reports a fix [L2]", (type, warning) => {
    const { input, warnings } = read(`import type { Stats } from "node:fs";\nexport function take(value: ${type}) {}`);
    expect(input["properties"]).toEqual({ value: {} });
    expect(warnings).toEqual([`Cannot read the type ${warning}`]);
  });

  test("reports where to declare the type of a parameter without one [L2]", () => {
    expect(read("export function take(value) {}", "take.ts").warnings).toEqual([
      'Cannot read the type of parameter "value" of "TakeSkill.take" (take.ts:1): no type is declared, so any value is taken; write value: string, or whatever it is',
    ]);
    expect(read("export function take(value) {}", "take.js").warnings).toEqual([
      'Cannot read the type of parameter "value" of "TakeSkill.take" (take.js:1): no type is declared, so any value is taken; add @param {string} value, or whatever it is, to its doc comment',
    ]);
  });

  test("stops reading a type that expands without end [L2]", () => {
    const source =
      "type Twice<T> = { a: T; b: T };\ntype Many<T> = Twice<Twice<Twice<Twice<Twice<Twice<T>>>>>>;\nexport function take(value: Many<Many<Many<string>>>) {}";
    const { warnings } = read(source);
    expect(warnings).toEqual([
      'Cannot read the type of parameter "value" of "TakeSkill.take" (take.ts:2): it expands without end, so any value is taken; write it out as plain data, such as { city: string }',
    ]);
  });
});
