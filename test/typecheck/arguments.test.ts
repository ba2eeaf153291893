import * as fc from "../support/fuzz.ts";
import { repetitions } from "../support/repetitions.ts";
import { describe, expect, test } from "vitest";

import { bindArguments } from "../../src/model/arguments.ts";
import { createRegistry, declarations, exampleArguments } from "../../src/registry/index.ts";
import { checkTypes } from "../../src/typecheck/check-types.ts";
import { createValidator } from "../../src/validation/index.ts";
import { fittingInput } from "../registry/schemas.ts";
import { DECLARATIONS, createSkills, told, unmarked } from "./samples.ts";

describe("reports certain mistakes in arguments, each at its position [S5]", () => {
  test.each([
    ["a value", `return device.MathSkill.add(1, «"2"»);`, `! "b" of MathSkill.add must be a number, not "2"`],
    ["a named value", `device.MathSkill.add({ a: «true», b: 1 })`, `! "a" of MathSkill.add must be a number, not true`],
    [
      "a shorthand",
      `const b = "2"; device.MathSkill.add({ a: 1, «b» })`,
      `! "b" of MathSkill.add must be a number, not "2"`,
    ],
    [
      "an operator",
      "device.MathSkill.add(1, «`${Date.now()}`»)",
      `! "b" of MathSkill.add must be a number, not a string`,
    ],
    [
      "the result of another method",
      `device.MathSkill.add(1, «await device.TimeSkill.now()»)`,
      `! "b" of MathSkill.add must be a number, not a string`,
    ],
    [
      "the result of another method without await",
      `device.MathSkill.add(1, «device.TimeSkill.now()»)`,
      `! "b" of MathSkill.add must be a number, not a string`,
    ],
    [
      "a member of a result",
      `const user = await device.UserSkill.get(1);\nreturn device.UserSkill.get(«user.name»);`,
      `! "id" of UserSkill.get must be a number, not a string`,
    ],
    [
      "a whole result",
      `const { users } = await device.UserSkill.list();\nreturn device.WebSkill.search(«users[0]»);`,
      `! "query" of WebSkill.search must be a string, not an object`,
    ],
    [
      "a builtin",
      `device.WebSkill.search(«"a b".split(" ")»)`,
      `! "query" of WebSkill.search must be a string, not an array of strings`,
    ],
    [
      "the parameter of a callback",
      `return ["a"].map((name) => device.UserSkill.get(«name»));`,
      `! "id" of UserSkill.get must be a number, not a string`,
    ],
    [
      "one of some values",
      `device.UserSkill.list({ filter: { order: «"up"» } })`,
      `! "filter.order" of UserSkill.list must be one of "asc", "desc", not "up"`,
    ],
    [
      "deep inside",
      `device.UserSkill.list({ filter: { tags: ["a", «1»], nested: { depth: «"x"» } } })`,
      `! "filter.tags[1]" of UserSkill.list must be a string, not 1`,
      `! "filter.nested.depth" of UserSkill.list must be a number, not "x"`,
    ],
    [
      "items",
      `const ids = [1, 2].map((n) => n * 2);\nreturn device.UserSkill.list({ filter: { tags: «ids» } });`,
      `! "filter.tags" of UserSkill.list must be an array of strings, not an array of numbers`,
    ],
    [
      "an object after a value",
      `device.WebSkill.search("weather", { count: «"5"» })`,
      `! "count" of WebSkill.search must be a number, not "5"`,
    ],
    [
      "an object in a variable",
      `const options = { query: «5», count: 2 };\nreturn device.WebSkill.search(options);`,
      `! "query" of WebSkill.search must be a string, not 5`,
    ],
    [
      "an alias",
      `const { add } = device.MathSkill;\nadd(1, «"x"»)`,
      `! "b" of MathSkill.add must be a number, not "x"`,
    ],
    [
      "brackets",
      `device["UserSkill"]["get"]({ "id": «[1]» })`,
      `! "id" of UserSkill.get must be a number, not an array of numbers`,
    ],
    [
      "a name that is no identifier",
      `device.UserSkill.save({ user: {}, "dry-run": «"yes"» })`,
      `! "dry-run" of UserSkill.save must be a boolean, not "yes"`,
    ],
    [
      "a reserved word by place",
      `device.WebSkill.fetch("https://example.com", «1»)`,
      `! "class" of WebSkill.fetch must be a string, not 1`,
    ],
    [
      "none of several types",
      `device.ShapeSkill.get(«true»)`,
      `! "id" of ShapeSkill.get must be a string or a number, not true`,
    ],
  ])("%s", expectTold);

  test.each([
    ["missing by place", `«device.MathSkill.add(1)»`, `! "b" of MathSkill.add is required`],
    ["missing by name", `device.MathSkill.add(«{ a: 1 }»)`, `! "b" of MathSkill.add is required`],
    ["nothing given", `«device.MathSkill.add()»`, `! "a", "b" of MathSkill.add are required`],
    ["no names given", `device.MathSkill.add(«{}»)`, `! "a", "b" of MathSkill.add are required`],
    ["too many", `device.MathSkill.add(1, 2, «3»)`, `! MathSkill.add takes at most 2 (a, b), not 3`],
    ["too many for none", `device.TimeSkill.now(«"UTC"»)`, `! TimeSkill.now takes no arguments, not 1`],
    [
      "a misspelt name",
      `device.WebSkill.search({ «qurey»: "x" })`,
      `! "qurey" is not an argument of WebSkill.search, valid are query, count (query)`,
    ],
    [
      "a misspelt name in a variable",
      `const options = { query: "x", «cuont»: 3 };\nreturn device.WebSkill.search(options);`,
      `! "cuont" is not an argument of WebSkill.search, valid are query, count (count)`,
    ],
    [
      "a misspelt name beside values that nobody knows",
      `device.WebSkill.search({ query: something(), «cuont»: other.thing })`,
      `! "cuont" is not an argument of WebSkill.search, valid are query, count (count)`,
    ],
    [
      "a misspelt name deep inside, which a schema may allow",
      `device.UserSkill.list({ filter: { «nmae»: "x" } })`,
      `? "filter.nmae" of UserSkill.list is not declared, valid are name, tags, order, nested (name)`,
    ],
  ])("%s", expectTold);

  function expectTold(_title: string, marked: string, ...messages: readonly string[]): void {
    const { code, places } = unmarked(marked);
    const found = checkTypes({ code, typescript: false, declarations: DECLARATIONS });
    expect(told(code)).toEqual(messages);
    expect(found.map(({ start, end }) => [start, end])).toEqual(places);
    expect(told(code, true)).toEqual(messages);
  }
});

test("names the subject in every diagnostic [S5]", () => {
  const code = `device.MathSkill.add(1, 2, 3); device.MathSkill.add("1"); device.WebSkill.search({ qurey: "" }).foo;`;
  expect(checkTypes({ code, typescript: false, declarations: DECLARATIONS }).map((each) => each.code)).toEqual([
    "ARGUMENT_COUNT",
    "ARGUMENT_MISSING",
    "ARGUMENT_TYPE",
    "ARGUMENT_UNKNOWN",
    "MEMBER_UNKNOWN",
  ]);
});

test.each([
  "search(query=5)",
  "search(count=1, query=2)",
  "search(...[1, 2])",
  "search(5 as any)",
  "search(Math.random() > 0.5 ? 5 : 'x')",
  "search(new Date())",
  "search({ toJSON: () => 'x' })",
  "search({ query: undefined ?? unknownName })",
  "search({ ...unknownName })",
  "search({ [unknownName]: 'x' })",
  "search('x', undefined)",
  "search('x', null)",
])("reports nothing about values that only a run can know: %s [S1]", (call) => {
  expect(told(`device.WebSkill.${call}`, true)).toEqual([]);
});

test("never reports arguments that validation accepts as certainly wrong [T6]", { tags: "rest" }, () => {
  const validator = createValidator(10_000); // a busy machine must not skip a validation
  const value: fc.Arbitrary<unknown> = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom({}, [], "a", 1));
  let [valid, found] = [0, 0];
  fc.assert(
    fc.property(
      fittingInput,
      fc.array(fc.array(value, { maxLength: 3 }), { maxLength: 4 }),
      fc.nat(15),
      (input, lists, left) => {
        const registry = createRegistry();
        for (const skill of createSkills([{ path: "Wild.m", input, output: undefined }])) registry.register(skill);
        const text = declarations(registry.catalog);
        const method = registry.catalog.method("Wild.m");
        if (method === undefined) throw new Error("Wild.m is not there");
        const example = exampleArguments(method);
        const some = Object.fromEntries(Object.entries(example).filter((_, at) => ((left >> at) & 1) === 1));
        const placed = method.parameters.map(({ name }) => example[name]);
        for (const args of [...lists, [example], [some], placed, [placed[0], some]]) {
          const code = `device.Wild.m(${args.map((each) => JSON.stringify(each) ?? "undefined").join(", ")})`;
          if (code.includes("__proto__")) continue; // sets no property in an object of JavaScript
          const certain = checkTypes({ code, typescript: false, declarations: text }).filter((each) => each.certain);
          const isValid = validator.problems(method, args).length === 0;
          if (isValid) expect({ code, certain, text }).toEqual({ code, certain: [], text });
          valid += Number(isValid);
          found += Number(certain.length > 0 && bindArguments(method, args).kind === "bound");
        }
      },
    ),
    { numRuns: repetitions(15, 40) },
  );
  expect(valid).toBeGreaterThan(20);
  expect(found).toBeGreaterThan(20);
});
