import { describe, expect, test } from "vitest";

import { check, emitCode, sourceText } from "./stubs.ts";

describe("reports each missing but expected global with a sentence of its own [S4, S5]", () => {
  test.each([
    [
      "fetch('https://a.b')",
      "GLOBAL_FORBIDDEN",
      "There is no network here: call a method of device that fetches, such as device.HttpSkill.get(url: string)",
    ],
    [
      "axios.get('https://a.b')",
      "GLOBAL_FORBIDDEN",
      "There is no network here: call a method of device that fetches, such as device.HttpSkill.get(url: string)",
    ],
    [
      "new XMLHttpRequest()",
      "GLOBAL_FORBIDDEN",
      "There is no network here: call a method of device that fetches, such as device.HttpSkill.get(url: string)",
    ],
    [
      "fs.readFileSync('/a')",
      "GLOBAL_FORBIDDEN",
      "There are no files here: call a method of device that reads or writes them, such as device.FilesystemMCP.read_file(path: string)",
    ],
    [
      "require('fs')",
      "MODULE_FORBIDDEN",
      "There are no files here: call a method of device that reads or writes them, such as device.FilesystemMCP.read_file(path: string)",
    ],
    ["require('left-pad')", "MODULE_FORBIDDEN", "Everything is on device: call await device.Skill.method(…)"],
    [
      "await import('node:fs/promises')",
      "MODULE_FORBIDDEN",
      "There are no files here: call a method of device that reads or writes them, such as device.FilesystemMCP.read_file(path: string)",
    ],
    [
      "process.env.HOME",
      "GLOBAL_FORBIDDEN",
      "There is no environment here: methods of device have their own credentials",
    ],
    ["AbortSignal.timeout(5)", "GLOBAL_FORBIDDEN", "Leave it out: every call has its own timeout"],
    ["process.exit(1)", "GLOBAL_FORBIDDEN", "Write return to end the program"],
    [
      "process.cwd()",
      "GLOBAL_FORBIDDEN",
      "There is no process here: write the values into the program, and return the result",
    ],
    [
      "Buffer.from('a')",
      "GLOBAL_FORBIDDEN",
      "Write new TextEncoder().encode(text), or btoa(text) and atob(text) for base64",
    ],
    ["window.alert('a')", "GLOBAL_FORBIDDEN", "There is no page here: return the data"],
    ["alert('a')", "GLOBAL_FORBIDDEN", "Write print(text)"],
    ["eval('1')", "CODE_FORBIDDEN", "Write the code itself in the program"],
    [
      "new Function('return 1')()",
      "CODE_FORBIDDEN",
      'Write the function itself; to test for one, write typeof value === "function"',
    ],
    ["setTimeout('print(1)', 1)", "CODE_FORBIDDEN", "Write a function: setTimeout(() => { … }, ms)"],
    [
      "globalThis.print(1)",
      "GLOBAL_FORBIDDEN",
      "Write the name itself, and keep your own values in your own variables",
    ],
    ["Deno.readTextFile('/a')", "GLOBAL_FORBIDDEN", "This is not Deno: call a method of device"],
    ["len([1])", "GLOBAL_UNKNOWN", "Write list.length"],
    [
      "await devices.kitchen.MusicSkill.play()",
      "GLOBAL_UNKNOWN",
      "No other machine is connected; write device.Skill.method() for the methods of this one",
    ],
    ["raise", "GLOBAL_UNKNOWN", 'Write throw new Error("…")'],
    ['throw ValueError("x")', "GLOBAL_UNKNOWN", "Write new Error(message)"],
    ['print("a", end="")', "GLOBAL_UNKNOWN", "Pass the value by position, or omit it: end=… is Python"],
    ["Math.sum([1])", "GLOBAL_UNKNOWN", "Write list.reduce((a, b) => a + b, 0)"],
    ["JSON.dumps({})", "GLOBAL_UNKNOWN", "Write JSON.stringify(value)"],
    [
      "await Array.fromAsync((async function* () {})())",
      "GLOBAL_UNKNOWN",
      "Write await Promise.all(list); for an async generator, write for await (const item of items) list.push(item)",
    ],
    [
      "Uint8Array.fromBase64('AQI=')",
      "GLOBAL_UNKNOWN",
      "Write Uint8Array.from(atob(text), (character) => character.charCodeAt(0))",
    ],
    ["new Intl.PluralRules('en').select(1)", "GLOBAL_UNKNOWN", 'Write count === 1 ? "item" : "items"'],
    [
      "Intl.ListFormat('en').format(['a', 'b'])",
      "GLOBAL_UNKNOWN",
      'Write `${list.slice(0, -1).join(", ")} and ${list.at(-1)}`',
    ],
    [
      "await crypto.subtle.digest('SHA-256', new Uint8Array(1))",
      "GLOBAL_FORBIDDEN",
      "Write Math.random() for numbers that need not be secret; for a hash, call a method of device",
    ],
    ["await delay(10)", "GLOBAL_FORBIDDEN", "Write await new Promise((done) => setTimeout(done, ms))"],
    ["Math.flor(1.5)", "GLOBAL_UNKNOWN", "Write Math.floor"],
    ["console.success('a')", "GLOBAL_UNKNOWN", "Write it yourself: console has no success"],
    ["read_file('/a')", "GLOBAL_UNKNOWN", "Write device.FilesystemMCP.read_file(path: string)"],
    ["mcp__filesystem__read_file('/a')", "GLOBAL_UNKNOWN", "Write device.FilesystemMCP.read_file(path: string)"],
    [
      "callTool('FilesystemMCP.read_file', '/a')",
      "GLOBAL_UNKNOWN",
      "Write device.FilesystemMCP.read_file(path: string)",
    ],
    ["arguments", "GLOBAL_FORBIDDEN", "Write the values into the program: it gets no arguments"],
    ["const __waiting = 1", "GLOBAL_FORBIDDEN", "Use a name that does not begin with __wait"],
  ])("%s [S5]", (source, code, fix) => {
    expect(check(source).violations.map((violation) => [violation.code, violation.fix])).toEqual([[code, fix]]);
  });

  test("refuses letters that the engine may not know [S5]", () => {
    expect(sourceText("const \u0558 = 1;\n({}).\u0558")).toEqual([
      "CHARACTER_FORBIDDEN 1:6",
      "CHARACTER_FORBIDDEN 2:5",
    ]);
  });

  test("does not report the names of a refused import again [S5]", () => {
    expect(sourceText('import axios, { get } from "axios";\nget("x"); axios.get("x")')).toEqual([
      "MODULE_FORBIDDEN 1:0",
    ]);
  });

  test.each([
    ["asks whether something is there", "typeof process === 'undefined' && typeof fetch === 'undefined'"],
    [
      "has variables of these names",
      "const process = (x) => x + 1, require = 3, window = 'w', fs = [];\nreturn process(require) + window.length + fs.length",
    ],
    [
      "has parameters of these names",
      "const f = (document, { fetch }) => document + fetch;\nreturn f(1, { fetch: 2 })",
    ],
    ["catches an error by such a name", "try { null.x } catch (process) { process.message }"],
    ["looks before it uses a member", "if (Error.captureStackTrace) Error.captureStackTrace({})"],
    ["makes the member itself", "Math.sum = (a, b) => a + b;\nMath.sum(1, 2)"],
    [
      "uses what the sandbox has",
      "console.table([1]); print(structuredClone({}), new URL('https://a.b'), atob('YQ=='))",
    ],
  ])("accepts a program that %s [S5]", (_what, source) => {
    expect(check(source).violations).toEqual([]);
  });
});

describe("accepts the names of the program [S5]", () => {
  test.each([
    ["a function that is declared later", "f();\nfunction f() {}"],
    ["a var before its declaration", "x = 1;\nvar x"],
    ["a var in a block", "{ var x = 1 }\nx"],
    ["a var in a loop", "for (var i = 0; i < 1; i++);\ni"],
    ["a var in a catch", "try {} catch (e) { var x = 1 }\nx"],
    ["a name of a function expression, inside", "const f = function g() { return g };\nf"],
    ["a name of a class expression, inside", "const A = class B { make() { return B } };\nA"],
    ["arguments in a function", "function f() { return arguments.length }\nf()"],
    ["arguments in an arrow in a function", "function f() { return () => arguments.length }\nf()"],
    ["rest and patterns", "const f = ({ a, b: [c], ...d }, e = a, ...g) => [a, c, d, e, g];\nf({ b: [] })"],
    ["labels are no names", "a: for (;;) { break a }"],
    ["keys are no names", "({ some: 1, key() {} }).other"],
    ["a variable of a switch", "switch (1) { case 1: let x = 1; print(x) }"],
    ["a static block", "class A { static { var x = 1; A.y = x } }\nA.y"],
  ])("%s [S5]", (_what, source) => {
    expect(check(source).violations).toEqual([]);
  });

  test.each([
    ["a let outside of its block", "{ let x = 1; print(x) }\nprint(x)", "GLOBAL_UNKNOWN 2:6"],
    ["a function outside of its block", "{ function f() {} f() }\nf()", "GLOBAL_UNKNOWN 2:0"],
    ["the name of a function expression, outside", "const f = function g() {};\ng(f)", "GLOBAL_UNKNOWN 2:0"],
    [
      "a variable of the body in a default value",
      "const f = (a = inside) => { var inside = 1; return [a, inside] };\nf()",
      "GLOBAL_UNKNOWN 1:15",
    ],
    ["a caught error outside", "try {} catch (failure) { print(failure) }\nprint(failure)", "GLOBAL_UNKNOWN 2:6"],
  ])("reports %s as unknown [S5]", (_what, source, place) => {
    expect(sourceText(source)).toEqual([place]);
  });

  test("suggests the nearest names [S5]", () => {
    expect(check("const results = [];\nresult.push(1)").violations[0]).toMatchObject({
      message: "Cannot find this name: result (GLOBAL_UNKNOWN)",
      fix: "Write results, or declare result",
      suggestions: ["results"],
    });
  });
});

describe("corrects habits of other languages [S4]", () => {
  test("corrects True, False and None [S4]", () => {
    expect(emitCode("return [True, False, None, { None }]")).toBe("return [true, false, null, { None: null }]");
    expect(check("return [True, True]").notes).toEqual(["True was read as true"]);
    expect(emitCode("const None = 1; return None")).toBe("const None = 1; return None");
  });

  test("declares variables that are only assigned to [S4]", () => {
    const source = "total = 0\nfor (n of [1, 2]) total += n\ntotal";
    expect(emitCode(source)).toBe("let total, n;total = 0\nfor (n of [1, 2]) total += n\nreturn (total)");
    expect(check(source).notes).toEqual(["Declared with let: total, n"]);
  });

  test("declares no variables in a program without any declaration [S4]", () => {
    const source = Array.from({ length: 22 }, (_, i) => `word${String.fromCharCode(97 + i).repeat(9)} = ${i}`).join(
      "\n",
    );
    expect(sourceText(source)).toEqual(["GLOBAL_UNKNOWN 21:0", "GLOBAL_UNKNOWN 22:0"]);
  });

  test.each([
    ["a name that is nearly another", "const total = 1;\ntotl = 2;\nprint(total)", "GLOBAL_UNKNOWN 2:0"],
    ["an argument of a function of the program", "const f = (a) => a;\nf(limit=1)", "GLOBAL_UNKNOWN 2:2"],
    ["a name that is only read", "count += 1", "GLOBAL_UNKNOWN 1:0"],
  ])("does not declare %s [S4]", (_what, source, place) => {
    expect(sourceText(source)).toEqual([place]);
  });
});

test("suggests the skill's method for a short name, without reporting its named arguments [S5]", () => {
  const { violations } = check("x = math.add(a=1, b=2)");
  expect(violations.map(({ message, fix }) => [message, fix])).toEqual([
    ["Cannot find this name: math (GLOBAL_UNKNOWN)", "Write device.MathSkill.add(a: number, b: number)"],
  ]);
  expect(check("device.MathSkill.ad(a=1, b=2)").violations.map(({ code }) => code)).toEqual(["METHOD_UNKNOWN"]);
});
