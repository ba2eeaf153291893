import { describe, expect, test } from "vitest";

import { repetitions, takeShare } from "../support/repetitions.ts";
import { check, sourceText, questions } from "./stubs.ts";

describe("ends hostile programs with an error, and soon [S5, S7]", () => {
  test("reports at most fifty violations, and the number of the others [S5]", () => {
    const { violations } = check("fetch(1);\n".repeat(200));
    expect(violations.length).toBe(50);
    expect(violations[48]?.fix).toBe(
      "There is no network here: call a method of device that fetches, such as device.HttpSkill.get(url: string)",
    );
    expect(violations[49]?.fix).toBe(
      "There is no network here: call a method of device that fetches, such as device.HttpSkill.get(url: string) (150 more violations are not listed)",
    );
  });

  test("cuts the frame of a long line around its position [S5]", () => {
    const [violation] = check(`const text = "${"x".repeat(200_000)}"; fetch(1)`).violations;
    expect(violation?.frame).toBe(`> 1 | …${"x".repeat(37)}"; fetch(1)\n    | ${" ".repeat(41)}^^^^^`);
    expect(violation).toMatchObject({ line: 1, column: 200_017 });
  });

  test("limits the searches for one program, and repeats none [S5]", () => {
    const asked: string[] = [];
    const counting = { ...questions, findSimilar: (words: string) => (asked.push(words), []) };
    check(Array.from({ length: 40 }, (_, i) => `device.MathSkill.adx${i % 20}y();`).join("\n"), counting);
    expect(asked.length).toBe(8);
    expect(new Set(asked).size).toBe(8);
  });

  const sources: readonly (readonly [what: string, createSource: (n: number) => string])[] = [
    ["a chain of members", (n: number) => `const a = 1;\na${".b".repeat(n)}`],
    [
      "a chain of aliases",
      (n: number) =>
        `const a0 = device.MathSkill;\n${Array.from({ length: n / 10 }, (_, i) => `const a${i + 1} = a${i};`).join("\n")}`,
    ],
    [
      "variables that lead to each other",
      (n: number) =>
        Array.from(
          { length: n / 10 },
          (_, i) => `let f${i} = g${i}, g${i} = f${i}; f${i} = () => device.MathSkill.add(1, 2);`,
        ).join("\n"),
    ],
    [
      "functions that hand on results",
      (n: number) =>
        `const f0 = () => device.MathSkill.add(1, 2);\n${Array.from({ length: n / 10 }, (_, i) => `const f${i + 1} = () => f${i}();`).join("\n")}\nf9().x`,
    ],
    ["one variable of many calls", (n: number) => `let p;\n${"p = device.MathSkill.add(1, 2); p.x;\n".repeat(n / 10)}`],
    [
      "many named arguments",
      (n: number) => `device.TestSkill.echo(${Array.from({ length: n }, (_, i) => `a${i}=1`).join(", ")})`,
    ],
    ["many unknown names", (n: number) => Array.from({ length: n }, (_, i) => `name${i};`).join("\n")],
    ["many errors of one kind", (n: number) => "device.MathSkill.add(1);\n".repeat(n / 5)],
    [
      "many parts of one pattern",
      (n: number) => `const { ${Array.from({ length: n / 10 }, (_, i) => `m${i}`).join(", ")} } = device.MathSkill`,
    ],
    [
      "many members of one name",
      (n: number) => `class A { b = device.MathSkill.add(1, 2) }\n${"new A().b.c;\n".repeat(n / 5)}`,
    ],
    [
      "async members of one name",
      (n: number) => `const o = {${"run: async () => o.run().x,".repeat(n / 10)}};\n${"o.run().x;".repeat(n / 10)}`,
    ],
    [
      "async functions that use each other",
      (n: number) =>
        Array.from(
          { length: n / 10 },
          (_, i) => `async function f${i}() { return f${Math.max(0, i - 1)}().x + device.MathSkill.add(1, 2) }`,
        ).join("\n"),
    ],
    [
      "functions that one variable gets",
      (n: number) => `let f;\n${"f = async () => 1;\n".repeat(n / 10)}${"f().x;\n".repeat(n / 10)}`,
    ],
    [
      "lists of Promise.all that cannot wait",
      (n: number) =>
        `const f = () => {${"Promise.all([device.MathSkill.add(1, 2)]).map((x) => x);".repeat(n / 20)}};\nf()`,
    ],
    ["a literal of many values", (n: number) => `device.TestSkill.echo([${"1,".repeat(n)}])`],
  ];

  test.each(takeShare(6, sources))(
    "takes twice as much work for twice as many %s [S5]",
    { tags: "repeated" },
    (_what, createSource) => {
      const measureCost = (n: number): number =>
        Math.min(...Array.from({ length: repetitions(3, 6) }, () => measureMs(() => check(createSource(n)))));
      measureCost(2_000);
      // A square would make it sixteen times.
      expect(measureCost(8_000)).toBeLessThan(10 * measureCost(2_000) + 60);
    },
  );

  test("walks a deeply nested tree without recursion [S5]", () => {
    expect(sourceText(`const a = {};\na${".b".repeat(7_500)}`)).toEqual([]);
    expect(sourceText(`device${".b".repeat(7_500)}`)).toEqual(["SKILL_UNKNOWN 1:7"]);
  });

  test("follows a list of promises through many variables without deep recursion [S5]", () => {
    const lists = Array.from({ length: 1_900 }, (_, i) => `var a${i} = [a${i + 1}];`).join("\n");
    const source = `const p = device.MathSkill.add(1, 2);\nvar a1900 = [];\nif (p) a1900.push(p);\n${lists}\nawait Promise.all(a0)`;
    expect(sourceText(source)).toEqual([]);
  });
});

describe("refuses JSON instead of code [S4]", () => {
  test.each([
    [
      "a tool call",
      '{"tool": "MathSkill.add", "arguments": {"a": 1, "b": 2}}',
      'Write return await device.MathSkill.add({"a":1,"b":2})',
    ],
    [
      "a name as served",
      '{"name": "MathSkill__add", "arguments": {"a": 1}}',
      'Write return await device.MathSkill.add({"a":1})',
    ],
    [
      "a bare method",
      '{"name": "get_forecast", "parameters": {"city": "Paris"}}',
      'Write return await device.WeatherSkill.get_forecast({"city":"Paris"})',
    ],
    [
      "arguments as text",
      '{"function": {"name": "MathSkill.add", "arguments": "{\\"a\\": 1}"}}',
      'Write return await device.MathSkill.add({"a":1})',
    ],
    [
      "several calls",
      '[{"tool": "TimeSkill.now", "args": {}}, {"tool": "UserSkill.get", "args": {"id": 1}}]',
      'Write return await Promise.all([device.TimeSkill.now({}), device.UserSkill.get({"id":1})])',
    ],
    [
      "tags around it",
      '<tool_call>{"name": "TimeSkill.now", "arguments": {}}</tool_call>',
      "Write return await device.TimeSkill.now({})",
    ],
    [
      "a fence around it",
      '```json\n{"tool": "TimeSkill.now", "input": {}}\n```',
      "Write return await device.TimeSkill.now({})",
    ],
  ])("refuses %s with the code to write [S4]", (_what, source, fix) => {
    expect(check(source).violations.map((violation) => [violation.code, violation.fix])).toEqual([["SYNTAX", fix]]);
  });

  test("names the call in the message and shows it in the frame [S4]", () => {
    expect(check('  {"tool": "MathSkill.add", "arguments": {}}').violations).toEqual([
      {
        code: "SYNTAX",
        message: "Cannot parse the program: a tool call in JSON, MathSkill.add, where code was expected (SYNTAX)",
        line: 1,
        column: 2,
        endLine: 1,
        endColumn: 44,
        frame: `> 1 |   {"tool": "MathSkill.add", "arguments": {}}\n    |   ${"^".repeat(42)}`,
        fix: "Write return await device.MathSkill.add({})",
        suggestions: [],
      },
    ]);
  });

  test("reads JSON that is not a call, or too large for one, as code [S4]", () => {
    expect(check('[{"a": 1}, 2]').violations).toEqual([]);
    expect(sourceText(`{"tool": "a.b", "arguments": ${"[".repeat(5_000)}${"]".repeat(5_000)}}`)).toEqual([
      "SYNTAX 1:7",
    ]);
  });
});

/** CPU time, so that other work of the machine does not count. */
function measureMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
