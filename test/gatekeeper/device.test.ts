import { describe, expect, test } from "vitest";

import { catalog, check, emitCode, sourceText } from "./stubs.ts";

describe("tracks device through all literal names [S5]", () => {
  test.each([
    ["dots", "device.MathSkill.add(1, 2)"],
    ["brackets", 'device["MathSkill"]["add"](1, 2)'],
    ["a template without values", "device[`MathSkill`].add(1, 2)"],
    ["optional chaining", "device?.MathSkill?.add?.(1, 2)"],
    ["parentheses", "((device).MathSkill).add(1, 2)"],
    ["escapes", "d\\u0065vice.Math\\u0053kill.add(1, 2)"],
    ["an alias of device", "const d = device; d.MathSkill.add(1, 2)"],
    ["an alias of a skill", "const m = device.MathSkill; m.add(1, 2)"],
    ["an alias of a method", "const add = device.MathSkill.add; add(1, 2)"],
    ["an alias of an alias", "const d = device, m = d.MathSkill, add = m.add; add(1, 2)"],
    ["a let that never changes", "let m = device.MathSkill; m.add(1, 2)"],
    ["destructuring", "const { MathSkill } = device; MathSkill.add(1, 2)"],
    ["destructuring with another name", "const { MathSkill: m } = device; m.add(1, 2)"],
    ["nested destructuring", "const { MathSkill: { add } } = device; add(1, 2)"],
    ["destructuring with literal brackets", 'const { ["MathSkill"]: m } = device; m.add(1, 2)'],
    ["a constant that holds the name", "const s = 'MathSkill', m = `add`; device[s][m](1, 2)"],
    ["a constant of a constant", "const a = 'MathSkill', s = a; const { [s]: math } = device; math.add(1, 2)"],
    ["a constant in the other style", "const s = 'math_skill'; device[s].add(1, 2)"],
    ["a parameter", "const f = (d) => d.MathSkill.add(1, 2); f(device)"],
    [
      "a parameter that is taken apart",
      "function f(n, { MathSkill: m }) { return m.add(n, 2) }\nf(1, device); f(2, device)",
    ],
    [
      "a parameter in braces",
      "async function main({ device }) { return device.MathSkill.add(1, 2) }\nmain({ device })",
    ],
    ["a parameter of a function that is called on the spot", "(async (device) => device.MathSkill.add(1, 2))(device)"],
    ["parameters of functions in functions", "const f = (d) => d.MathSkill.add(1, 2), g = (d) => f(d); g(device)"],
    ["an alias that is handed over", "const d = device, f = (d) => d.MathSkill.add(1, 2); f(d)"],
    ["a function that calls itself", "const f = (d, n) => n ? f(d, n - 1) : d.MathSkill.add(1, 2); f(device, 2)"],
    [
      "a question whether it is there",
      "if (device.MathSkill && typeof device.MathSkill.add === 'function') device.MathSkill.add(1, 2)",
    ],
  ])("tracks device by %s [S5]", (_how, source) => {
    const { program, violations } = check(source);
    expect(violations).toEqual([]);
    expect(program?.paths).toContain("MathSkill.add");
  });

  test("gives a program the methods that it names, and no others [S6]", () => {
    expect(check("device.MathSkill.add(1, 2); device.UserSkill.get(1)").program?.paths).toEqual([
      "MathSkill.add",
      "UserSkill.get",
    ]);
  });

  test("gives a program all methods of a skill that it passes on [S6]", () => {
    const source = "const run = async (math) => await math.add(1, 2);\nrun(device.MathSkill)";
    expect(check(source).program?.paths).toEqual([
      "MathSkill.add",
      "MathSkill.subtract",
      "MathSkill.multiply",
      "MathSkill.divide",
      "MathSkill.sum",
    ]);
  });

  test("refuses to pass on a skill with a method that the caller may not call [S6]", () => {
    expect(check("print(device.FilesystemMCP)").violations[0]).toMatchObject({
      code: "DEVICE_DYNAMIC",
      message: "Cannot use device except as device.Skill.method(…): FilesystemMCP as a value (DEVICE_DYNAMIC)",
      fix: "Write device.FilesystemMCP.method(…) with the name of the method",
    });
  });

  test("does not treat a local variable named device as device [S5]", () => {
    expect(check('const device = { A: { b: () => 1 } }; device.A.b()["x"]').program?.paths).toEqual([]);
  });

  test("accepts the methods of device itself without a catalog [S4]", () => {
    expect(check('device.search_skills("math"); await device.describe("MathSkill.add")').program?.paths).toEqual([
      "search_skills",
      "describe",
    ]);
  });
});

describe("refuses uses of device that cannot be tracked [S5, S6]", () => {
  test.each([
    ["a computed name", "let s = 'MathSkill'; s += '';\ndevice[s].add(1, 2)", "DEVICE_DYNAMIC 2:0"],
    ["a name of a list", "for (const s of ['MathSkill'])\ndevice[s].add(1, 2)", "DEVICE_DYNAMIC 2:0"],
    ["a constant that holds no name", "const s = 5;\ndevice[s].add(1, 2)", "DEVICE_DYNAMIC 2:0"],
    [
      "a constant that holds a method which the caller may not call",
      "const m = 'delete_user';\ndevice.AdminSkill[m](1)",
      "PERMISSION_MISSING 2:18",
    ],
    ["a constant that holds an unknown name", "const s = 'NoSkill';\ndevice[s].add(1, 2)", "SKILL_UNKNOWN 2:7"],
    ["a name that is put together", "device['Math' + 'Skill'].add(1, 2)", "DEVICE_DYNAMIC 1:0"],
    [
      "a computed method that is not called",
      "const f = device.MathSkill[1 < 2 ? 'add' : 'sum'];\nf(1)",
      "DEVICE_DYNAMIC 1:10",
    ],
    ["a computed name on a computed skill", "device[1 < 2 ? 'MathSkill' : ''][`a${1}`](1)", "DEVICE_DYNAMIC 1:0"],
    ["a computed name on an unknown skill", "device.NoSkill[1 < 2 ? 'add' : 'sum'](1)", "SKILL_UNKNOWN 1:7"],
    ["Object.values", "Object.values(device)", "DEVICE_DYNAMIC 1:14"],
    ["spread", "const copy = { ...device };\ncopy", "DEVICE_DYNAMIC 1:18"],
    ["a shorthand property", "const o = { device };\no", "DEVICE_DYNAMIC 1:12"],
    ["for in", "for (const skill in device) print(skill)", "DEVICE_DYNAMIC 1:20"],
    ["an argument", "print(device)", "DEVICE_DYNAMIC 1:6"],
    ["an argument that is something else at times", "const f = (d) => d;\nf(device);\nf(1)", "DEVICE_DYNAMIC 2:2"],
    ["an argument of a function that is handed on", "const f = (d) => d;\nf(device);\nprint(f)", "DEVICE_DYNAMIC 2:2"],
    ["an argument that is given back", "const f = (d) => d;\nf(device)", "DEVICE_DYNAMIC 1:17"],
    ["an argument that changes", "const f = (d) => { d = 1 };\nf(device)", "DEVICE_DYNAMIC 2:2"],
    [
      "an argument of a function that is declared twice",
      "function g() { f(device);\nfunction f(d) {} function f(d) { return d } }",
      "DEVICE_DYNAMIC 1:17",
    ],
    ["an argument after a list", "const f = (a, d) => 1;\nf(...[1], device)", "DEVICE_DYNAMIC 2:10"],
    ["an argument beyond the parameters", "const f = (a) => a;\nf(1, device)", "DEVICE_DYNAMIC 2:5"],
    ["an argument of a constructor", "class A {}\nnew A(device)", "DEVICE_DYNAMIC 2:6"],
    [
      "a part of an argument that is there twice",
      "const f = ({ d }) => d;\nf({ d: device, ...f })",
      "DEVICE_DYNAMIC 2:7",
    ],
    ["a result", "return device", "DEVICE_DYNAMIC 1:7"],
    ["rest", "const { ...all } = device;\nall", "DEVICE_DYNAMIC 1:8"],
    ["a default in a pattern", "const { MathSkill = 1 } = device;\nMathSkill", "DEVICE_DYNAMIC 1:8"],
    ["an element pattern", "const [a] = device;\na", "DEVICE_DYNAMIC 1:6"],
    ["a default parameter", "const f = (d = device) => d;\nf()", "DEVICE_DYNAMIC 1:15"],
    ["a variable that changes", "let d = device;\nd = 1", "DEVICE_DYNAMIC 1:8"],
    ["a variable that is set later", "let m;\nm = device.MathSkill", "DEVICE_DYNAMIC 2:4"],
    ["a pattern that is set later", "let x;\n({ MathSkill: x } = device)", "DEVICE_DYNAMIC 2:20"],
    ["call", "device.MathSkill.add.call(null, 1, 2)", "DEVICE_DYNAMIC 1:21"],
    ["apply", "device.MathSkill.add.apply(null, [1, 2])", "DEVICE_DYNAMIC 1:21"],
    ["bind", "device.MathSkill.add.bind(null, 1)(2)", "DEVICE_DYNAMIC 1:21"],
    ["new", "new device.MathSkill.add(1, 2)", "DEVICE_DYNAMIC 1:0"],
    ["new of a skill", "const math = new device.MathSkill(); math.add(1, 2)", "DEVICE_DYNAMIC 1:13"],
    ["a tag", "device.TextSkill.uppercase`a`", "DEVICE_DYNAMIC 1:0"],
    ["a deeper path", "device.MathSkill.add.more(1)", "DEVICE_DYNAMIC 1:21"],
    ["a skill that is called", "device.MathSkill('add', 1, 2)", "DEVICE_DYNAMIC 1:0"],
    ["a device that is called", "device('MathSkill.add', 1, 2)", "DEVICE_DYNAMIC 1:0"],
    ["a method that is not called", "await device.TimeSkill.now", "DEVICE_DYNAMIC 1:6"],
    ["assignment to device", "device = {}", "DEVICE_READONLY 1:0"],
    ["assignment to a skill", "device.MathSkill = {}", "DEVICE_READONLY 1:0"],
    ["assignment to a method", "device.MathSkill.add = () => 5", "DEVICE_READONLY 1:0"],
    ["assignment through an alias", "const m = device.MathSkill;\nm.add = 5", "DEVICE_READONLY 2:0"],
    ["assignment in a pattern", "[device.MathSkill.add] = [1]", "DEVICE_READONLY 1:1"],
    ["delete", "delete device.MathSkill", "DEVICE_READONLY 1:7"],
    ["an increment", "device.MathSkill.add++", "DEVICE_READONLY 1:0"],
    ["a loop variable", "for (device.MathSkill of []);", "DEVICE_READONLY 1:5"],
  ])("%s [S6]", (_what, source, place) => {
    expect(sourceText(source)).toEqual([place]);
  });

  test.each([
    ["call(null, 1, 2)", "Call it directly: device.MathSkill.add(…)"],
    ["apply(null, [1, 2])", "Call it directly: device.MathSkill.add(…)"],
    [
      "bind(null, 1)",
      "It does not need this: write device.MathSkill.add itself, or (…) => device.MathSkill.add(…) to pass leading arguments",
    ],
  ])("suggests something simpler than add.%s [S5]", (how, fix) => {
    expect(check(`const f = device.MathSkill.add.${how}; f`).violations[0]?.fix).toBe(fix);
  });

  test("corrects a constant where it is used [S4]", () => {
    const source = "const s = 'math_skill'; return device[s].add(1, 2)";
    expect(emitCode(source)).toBe(`const s = 'math_skill'; return device["MathSkill"].add(1, 2)`);
    expect(check(source).notes).toEqual(["math_skill was read as MathSkill"]);
  });

  test("refuses an existing method that the caller may not call [S6]", () => {
    expect(check("const { delete_user } = device.AdminSkill;\ndelete_user(1)").violations).toEqual([
      {
        code: "PERMISSION_MISSING",
        message: "Cannot call a method without its permission: AdminSkill.delete_user (PERMISSION_MISSING)",
        line: 1,
        column: 8,
        endLine: 1,
        endColumn: 19,
        frame: "> 1 | const { delete_user } = device.AdminSkill;\n    |         ^^^^^^^^^^^\n  2 | delete_user(1)",
        fix: "Ask the owner for the permission that the message names",
        suggestions: [],
      },
    ]);
  });
});

describe("suggests similar names for unknown ones [D1, D3]", () => {
  test("reports an unknown skill [S5]", () => {
    expect(check("return await device.MathSkil.add({ a: 1, b: 2 });").violations).toEqual([
      {
        code: "SKILL_UNKNOWN",
        message: "Unknown skill: MathSkil (SKILL_UNKNOWN)",
        line: 1,
        column: 20,
        endLine: 1,
        endColumn: 28,
        frame: "> 1 | return await device.MathSkil.add({ a: 1, b: 2 });\n    |                     ^^^^^^^^",
        fix: "Write device.MathSkill.add(a: number, b: number)",
        suggestions: ["MathSkill"],
      },
    ]);
  });

  test.each([
    [
      "an unknown method",
      "device.FilesystemMCP.readfiles('/x')",
      "METHOD_UNKNOWN",
      "Write device.FilesystemMCP.read_file(path: string)",
    ],
    [
      "a method of another skill",
      "device.MathSkill.uppercase('x')",
      "METHOD_UNKNOWN",
      "Write device.TextSkill.uppercase(text: string)",
    ],
    [
      "an unknown skill with a known method",
      "device.Forecasts.get_forecast('Paris')",
      "SKILL_UNKNOWN",
      "Write device.WeatherSkill.get_forecast(city: string, days?: number)",
    ],
    [
      "a method that lives elsewhere",
      "device.Zzz.get_forecast('Paris')",
      "SKILL_UNKNOWN",
      "Write device.WeatherSkill.get_forecast(city: string, days?: number)",
    ],
    [
      "a method without its skill",
      "device.get_forecast('Paris')",
      "SKILL_UNKNOWN",
      "Write device.WeatherSkill.get_forecast(city: string, days?: number)",
    ],
    [
      "a hidden method without its skill, as one that is not there",
      "device.get_token('x')",
      "SKILL_UNKNOWN",
      'Call await device.search_skills("get token") to find a method',
    ],
    [
      "nothing that is known",
      "device.Zzz.qqq()",
      "SKILL_UNKNOWN",
      'Call await device.search_skills("zzz qqq") to find a method',
    ],
    [
      "a hidden skill, as one that is not there",
      "device.SecretsSkill.get_token('x')",
      "SKILL_UNKNOWN",
      'Call await device.search_skills("secrets skill get token") to find a method',
    ],
    [
      "a name of Object.prototype",
      "device.constructor.constructor('x')",
      "SKILL_UNKNOWN",
      'Call await device.search_skills("constructor constructor") to find a method',
    ],
    [
      "a method of Object.prototype",
      "device.MathSkill.constructor({ id: 1 })",
      "METHOD_UNKNOWN",
      "Use one of device.MathSkill.add, device.MathSkill.subtract, device.MathSkill.multiply, device.MathSkill.divide, device.MathSkill.sum",
    ],
    [
      "letters that cannot be seen",
      "device.Math\u200dSkill.add(1, 2)",
      "SKILL_UNKNOWN",
      "Write device.MathSkill.add(a: number, b: number)",
    ],
    ["a device in other letters", "d\u0435vice.MathSkill.add(1, 2)", "GLOBAL_UNKNOWN", "Write device in Latin letters"],
  ])("%s [S5]", (_what, source, code, fix) => {
    expect(check(source).violations.map((violation) => [violation.code, violation.fix])).toEqual([[code, fix]]);
  });

  test("shows invisible characters of a name as escapes [S5]", () => {
    expect(check("device.Math\u200dSkill.add(1, 2)").violations[0]?.message).toBe(
      "Unknown skill: Math\\u{200d}Skill (SKILL_UNKNOWN)",
    );
    expect(check("d\u0435vice.MathSkill.add(1, 2)").violations[0]?.message).toBe(
      "Cannot find this name: d\\u{435}vice (GLOBAL_UNKNOWN)",
    );
  });
});

describe("corrects names in the style of other systems [S4]", () => {
  test.each([
    ["default_api", "default_api.MathSkill.add(1, 2)", "default_api was read as device"],
    ["tools", "tools.MathSkill.add(1, 2)", "tools was read as device"],
    ["devices", "devices.MathSkill.add(1, 2)", "devices was read as device"],
    ["nothing before the skill", "MathSkill.add(1, 2)", "MathSkill was read as device.MathSkill"],
    ["snake case for a skill", "device.math_skill.add(1, 2)", "math_skill was read as MathSkill"],
    ["camel case for a skill", "device.mathSkill.add(1, 2)", "mathSkill was read as MathSkill"],
    ["literal brackets", 'device["math_skill"].add(1, 2)', "math_skill was read as MathSkill"],
  ])("%s [S4]", (_what, source, note) => {
    const bracket = source.includes("[");
    expect(emitCode(source)).toBe(
      bracket ? 'return (device["MathSkill"].add(1, 2))' : "return (device.MathSkill.add(1, 2))",
    );
    expect(check(source).notes).toEqual([note]);
  });

  test("reads the short name of the only such skill, and says so [S4]", () => {
    expect(emitCode("device.math.add(1, 2)")).toBe("return (device.MathSkill.add(1, 2))");
    expect(check("const { weather } = device; weather.get_forecast('Paris')").notes).toEqual([
      "weather was read as WeatherSkill",
    ]);
    expect(sourceText("device.secrets.get_token('x')")).toEqual(["SKILL_UNKNOWN 1:7"]);
    expect(sourceText("device.admin.delete_user(1)")).toEqual(["PERMISSION_MISSING 1:13"]);
  });

  test("accepts a computed method of a known skill, and plans all of its methods [S5]", () => {
    const { plan, program, violations } = check(
      "const n = Math.random() < 1 ? 'add' : 'sum';\ndevice.MathSkill[n](1, 2)",
    );
    expect(violations).toEqual([]);
    expect(plan).toMatchObject([{ path: "MathSkill.*", line: 2, column: 0, literalArguments: [1, 2] }]);
    expect(program?.paths).toEqual(catalog.skill("MathSkill")?.methods.map(({ path }) => path));
  });

  test("offers a computed name only the methods that the caller may call [S6]", () => {
    const { program } = check("device.FilesystemMCP[`delete_${'file'}`]('/a')");
    expect(program?.paths).toContain("FilesystemMCP.read_file");
    expect(program?.paths).not.toContain("FilesystemMCP.delete_file");
  });

  test.each([
    ["camel case for a method", "device.FilesystemMCP.readFile('/a')", "return (device.FilesystemMCP.read_file('/a'))"],
    [
      "camel case in a pattern",
      "const { readFile } = device.FilesystemMCP; readFile('/a')",
      "0+0;const { read_file: readFile } = device.FilesystemMCP; return (readFile('/a'))",
    ],
    [
      "a skill in a shorthand property",
      "const o = { MathSkill }; o",
      "const o = { MathSkill: device.MathSkill }; return (o)",
    ],
    ["describe_function", "describe_function('MathSkill.add')", "return (device.describe('MathSkill.add'))"],
    ["search_skills", "device.searchSkills('x')", "return (device.search_skills('x'))"],
  ])("%s [S4]", (_what, source, code) => {
    expect(emitCode(source)).toBe(code);
  });

  test.each([
    ["only the case differs", "device.MathSkill.Add(1, 2)", "METHOD_UNKNOWN 1:17"],
    ["tools without a skill", "tools.nothing(1)", "GLOBAL_UNKNOWN 1:0"],
    ["the name is a variable of the program", "const MathSkill = { add: () => 3 }; MathSkill.add(1, 2)", ""],
  ])("does not guess if %s [S4]", (_what, source, place) => {
    expect(sourceText(source).join()).toBe(place);
  });
});

describe("accepts skills that are named or requested in another way [S1, S5]", () => {
  test.each([
    ["mathskill", "device.mathskill.add(1, 2)"],
    ["MATHSKILL", "device.MATHSKILL.add(1, 2)"],
  ])("reads %s as the only skill of that name [S1]", (name, source) => {
    const { violations, notes, plan } = check(source);
    expect(violations).toEqual([]);
    expect(plan.map(({ path }) => path)).toEqual(["MathSkill.add"]);
    expect(notes).toEqual([`${name} was read as MathSkill`]);
  });

  test.each([
    ["if (!device.PrinterSkill) print(1)"],
    ["typeof device.PrinterSkill"],
    ["device.PrinterSkill !== undefined"],
  ])("reports the missing skill in %s [S5]", (source) => {
    expect(check(source).violations).toMatchObject([
      {
        code: "SKILL_UNKNOWN",
        fix: 'Remove the check: PrinterSkill does not exist. Call await device.search_skills("printer skill") to find a method',
      },
    ]);
  });

  test("suggests no methods of other skills for an unknown skill [S5]", () => {
    expect(check("device.PrinterSkill.get(1)").violations).toMatchObject([
      { fix: 'Call await device.search_skills("printer skill get") to find a method' },
    ]);
    expect(check("device.Storage.read_file('/a')").violations).toMatchObject([
      { fix: "Write device.FilesystemMCP.read_file(path: string)" },
    ]);
  });
});
