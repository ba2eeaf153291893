import { describe, expect, test } from "vitest";

import { UNKNOWN } from "../../src/model/plan.ts";
import { check, emitCode, sourceText, questions } from "./stubs.ts";

const valuesIn = (source: string): unknown => check(source).plan[0]?.literalArguments;

describe("refuses arguments that cannot match before the run [S5]", () => {
  test("reports every reason, a correction and the nearest name at the position of the argument [S5]", () => {
    expect(check('device.BraveSearchMCP.search({ "query": 1,\n  cuont: 5 })').violations).toEqual([
      {
        code: "ARGUMENTS_INVALID",
        message:
          'Cannot call a method with these arguments: "query" must be a string, not 1; "cuont" is not an argument, ' +
          "valid are query, count (did you mean count?); see BraveSearchMCP.search (ARGUMENTS_INVALID)",
        line: 1,
        column: 31,
        endLine: 1,
        endColumn: 41,
        frame:
          '> 1 | device.BraveSearchMCP.search({ "query": 1,\n    |                                ^^^^^^^^^^\n  2 |   cuont: 5 })',
        fix: 'Write await device.BraveSearchMCP.search({ query: "1", count: 5 })',
        suggestions: ["count"],
      },
    ]);
  });

  test("adds an example of a missing argument [S5]", () => {
    const asked = { ...questions, exampleArguments: () => ({ a: 3, b: 4 }) };
    expect(check("device.MathSkill.add(1)", asked).violations[0]?.fix).toBe("Write await device.MathSkill.add(1, 4)");
  });

  test.each([
    ["a value by place", 'device.MathSkill.add(1, "2")', "ARGUMENTS_INVALID 1:24"],
    ["a missing one", "device.MathSkill.add(1)", "ARGUMENTS_INVALID 1:0"],
    ["one too many", "device.MathSkill.add(1, 2, 3)", "ARGUMENTS_INVALID 1:0"],
    ["a value inside of a list", "device.MathSkill.sum([1, '2'])", "ARGUMENTS_INVALID 1:21"],
    [
      "a named one after a positional one",
      'device.WeatherSkill.get_forecast("Paris", { days: "3" })',
      "ARGUMENTS_INVALID 1:44",
    ],
    ["one in the manner of Python", 'device.MathSkill.add(a=1, b="2")', "ARGUMENTS_INVALID 1:26"],
    ["one that a constant holds", "const args = { a: 1 };\ndevice.MathSkill.add(args)", "ARGUMENTS_INVALID 2:0"],
    [
      "the wrong one beside one that is only known later",
      "const n = Math.random();\ndevice.MathSkill.add({ a: n, b: '2' })",
      "ARGUMENTS_INVALID 2:29",
    ],
  ])("%s [S5]", (_what, source, place) => {
    expect(sourceText(source)).toEqual([place]);
  });
});

describe("leaves values that are only known at run time to the run [S5]", () => {
  test.each([
    ["plain values", "device.TestSkill.echo('a', -1, true, null, `b`)", ["a", -1, true, null, "b"]],
    [
      "lists and objects",
      'device.TestSkill.echo({ a: [1, { b: "c" }], "d-e": 2 })',
      [{ a: [1, { b: "c" }], "d-e": 2 }],
    ],
    [
      "calls and operators",
      "const n = Math.random();\ndevice.TestSkill.echo(n, 1 + 1, `${n}`, () => 1)",
      [UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN],
    ],
    [
      "parts of a value",
      "const n = Math.random();\ndevice.TestSkill.echo({ a: n, b: [n, 1] })",
      [{ a: UNKNOWN, b: [UNKNOWN, 1] }],
    ],
    ["an object with a spread", "const o = {};\ndevice.TestSkill.echo({ ...o, a: 1 })", [UNKNOWN]],
    ["an object with a computed name", "const k = 'a';\ndevice.TestSkill.echo({ [k]: 1 })", [UNKNOWN]],
    ["a prototype", "device.TestSkill.echo({ __proto__: { a: 1 } })", [UNKNOWN]],
    ["a getter and a method", "device.TestSkill.echo({ get a() { return 1 }, b() {} })", [{ a: UNKNOWN, b: UNKNOWN }]],
    ["numbers that JSON has not", "device.TestSkill.echo(1n, /a/)", [UNKNOWN, UNKNOWN]],
    ["a constant", "const n = 5;\ndevice.TestSkill.echo(n)", [5]],
    ["a variable that can change", "let n = 5;\ndevice.TestSkill.echo(n)", [UNKNOWN]],
    ["an object that others can change", "const o = { a: 1 };\no.a = 2;\ndevice.TestSkill.echo(o)", [UNKNOWN]],
  ])("%s [S5]", (_what, source, values) => {
    const asked = { ...questions, problems: () => [] };
    expect(check(source, asked).plan[0]?.literalArguments).toEqual(values);
  });

  test("does not count the arguments of a call with a spread [S5]", () => {
    expect(valuesIn("device.MathSkill.add(...[1, 2])")).toBeUndefined();
  });

  test("keeps __proto__ as an ordinary key [S5]", () => {
    const [value] = valuesIn('device.TestSkill.echo({ value: { ["__proto__"]: 1 } })') as [{ value: object }];
    expect(Object.entries(value.value)).toEqual([["__proto__", 1]]);
    expect(Object.getPrototypeOf(value.value)).toBe(Object.prototype);
  });
});

describe("accepts named arguments in the style of Python [S1, S4]", () => {
  test.each([
    ["alone", 'device.BraveSearchMCP.search(query="x")', 'return (device.BraveSearchMCP.search({ query:"x" }))'],
    [
      "several",
      'device.BraveSearchMCP.search(query="x", count=5)',
      'return (device.BraveSearchMCP.search({ query:"x", count:5 }))',
    ],
    [
      "after a value",
      'device.BraveSearchMCP.search("x", count=5)',
      'return (device.BraveSearchMCP.search("x", { count:5 }))',
    ],
    [
      "over several lines",
      "device.MathSkill.add(\n  a = 1, // one\n  b /* two */ = 2\n)",
      "return (device.MathSkill.add(\n  { a : 1, // one\n  b /* two */ : 2 }\n))",
    ],
    [
      "with a constant of the same name",
      'const path = "/a"; device.FilesystemMCP.read_file(path=path)',
      'const path = "/a"; return (device.FilesystemMCP.read_file({ path:path }))',
    ],
    [
      "with a call as the value",
      "device.UserSkill.get(id=device.MathSkill.add(1, 2))",
      "return (device.UserSkill.get({ id:device.MathSkill.add(1, 2) }))",
    ],
  ])("%s [S1]", (_how, source, code) => {
    expect(emitCode(source)).toBe(code);
    expect(check(source).notes[0]).toMatch(/^Named arguments were read as an object: \{ \w+: … \}$/);
  });

  test("does not read an assignment to a variable of the program as a named argument [S4]", () => {
    expect(check('let path = "/a"; device.FilesystemMCP.read_file(path=path)').violations[0]).toMatchObject({
      code: "ARGUMENTS_INVALID",
      message: "Cannot call a method with these arguments: path=… assigns to the variable path (ARGUMENTS_INVALID)",
      fix: "Write device.FilesystemMCP.read_file({ path: … })",
    });
    expect(emitCode("let n = 1; device.MathSkill.add(n = 5, 1)")).toBe(
      "let n = 1; return (device.MathSkill.add(n = 5, 1))",
    );
  });

  test("refuses a positional argument after a named one [S4]", () => {
    expect(check("device.MathSkill.add(a=1, 2)").violations[0]).toMatchObject({
      code: "ARGUMENTS_INVALID",
      column: 26,
      fix: "Write the named arguments last: (…, { a: … })",
    });
  });
});
