import { describe, expect, test } from "vitest";

import type { CallSite } from "../../src/model/plan.ts";
import { check } from "./stubs.ts";

const getPlan = (source: string): readonly CallSite[] => check(source).plan;

describe("lists the calls of a program in its plan [S5]", () => {
  test("lists calls in the order of the text, with positions and arguments [S5]", () => {
    const source =
      'const f = await device.WeatherSkill.get_forecast("Paris");\nreturn device.TextSkill.uppercase({ text: f.city });';
    expect(getPlan(source)).toEqual([
      {
        path: "WeatherSkill.get_forecast",
        line: 1,
        column: 16,
        endLine: 1,
        endColumn: 57,
        literalArguments: ["Paris"],
        inLoop: false,
        conditional: false,
        dynamic: false,
        parallel: false,
        blocking: false,
      },
      {
        path: "TextSkill.uppercase",
        line: 2,
        column: 7,
        endLine: 2,
        endColumn: 51,
        literalArguments: [{ text: expect.any(Symbol) as symbol }],
        inLoop: false,
        conditional: false,
        dynamic: false,
        parallel: false,
        blocking: false,
      },
    ]);
  });

  test.each([
    ["a for loop", "for (const id of [1]) await device.UserSkill.get(id)"],
    ["the condition of a loop", "while ((await device.UserSkill.get(1)).age > 99);"],
    ["a callback of a list", "return [1].map((id) => device.UserSkill.get(id))"],
    ["a method that is a callback", "return [1].map(device.UserSkill.get)"],
  ])("marks a call in %s as repeated [S5]", (_where, source) => {
    expect(getPlan(source)[0]?.inLoop).toBe(true);
  });

  test("marks the call that a loop iterates over as made once [S5]", () => {
    expect(getPlan("for (const row of await device.DatabaseMCP.query('q')) print(row)")[0]?.inLoop).toBe(false);
  });

  test.each([
    ["if", "if (1) await device.UserSkill.get(1)"],
    ["else", "if (1); else await device.UserSkill.get(1)"],
    ["a ternary", "return 1 ? device.UserSkill.get(1) : null"],
    ["the right of &&", "return 1 && device.UserSkill.get(1)"],
    ["catch", "try { null.x } catch { await device.UserSkill.get(1) }"],
    ["a case", "switch (1) { case 1: await device.UserSkill.get(1) }"],
  ])("marks a call in %s as conditional [S5]", (_where, source) => {
    expect(getPlan(source)[0]?.conditional).toBe(true);
  });

  test("does not mark a call in a condition as conditional [S5]", () => {
    expect(getPlan("if ((await device.UserSkill.get(1)).age > 3) print(1)")[0]?.conditional).toBe(false);
  });

  test.each(["all", "allSettled", "race", "any"])("marks calls in Promise.%s as parallel [S5]", (name) => {
    const [first, second] = getPlan(
      `return Promise.${name}([device.UserSkill.get(1)].concat([2].map((id) => device.UserSkill.get(id))))`,
    );
    expect([first?.parallel, second?.parallel]).toEqual([true, true]);
  });

  test("marks a call that is used as a value as blocking [S2, S5]", () => {
    expect(getPlan("return device.UserSkill.get(1).name")[0]?.blocking).toBe(true);
    expect(getPlan("return (await device.UserSkill.get(1)).name")[0]?.blocking).toBe(false);
  });

  test("says at which lines and columns a program waits without an await [S2]", () => {
    const source = `const user = await device.UserSkill.get(1);
const [a, b] = await Promise.all([device.UserSkill.get(2), device.UserSkill.get(3)]);
if (device.UserSkill.get(4)) print(device.UserSkill.get(5).name);
device.UserSkill.get(6);
const get = () => { device.UserSkill.get(7); return device.UserSkill.get(8).name; };
return get() + device.UserSkill.get(9).age`;
    const places = getPlan(source).flatMap(({ blocking, line, column }) => (blocking ? `${line}:${column}` : []));
    expect(places).toEqual(["3:4", "3:35", "4:0", "5:20", "6:15"]);
  });

  test("lists a method that is passed on with unknown arguments [S5]", () => {
    expect(getPlan("return [1].map(device.UserSkill.get)")).toMatchObject([
      { path: "UserSkill.get", literalArguments: undefined, dynamic: true },
    ]);
    expect(getPlan("return device.UserSkill.get(1)")[0]?.dynamic).toBe(false);
    expect(getPlan("const run = (skill) => skill;\nreturn run(device.KVSkill) === 1").map(({ path }) => path)).toEqual([
      "KVSkill.set",
      "KVSkill.get",
    ]);
  });

  test("plans the calls of a refused program [S5]", () => {
    const { plan, program } = check("device.UserSkill.get(1);\nfetch('x')");
    expect(plan.map(({ path }) => path)).toEqual(["UserSkill.get"]);
    expect(program).toBeUndefined();
  });
});
