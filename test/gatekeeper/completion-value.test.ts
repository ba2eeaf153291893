import { describe, expect, test } from "vitest";

import { check, emitCode } from "./stubs.ts";

describe("returns the value of the last expression [S3]", () => {
  test.each([
    ["an expression", "1 + 1", "return (1 + 1)"],
    ["with a semicolon and a comment", "1 + 1; // two", "return (1 + 1); // two"],
    ["in brackets", "({ a: 1 })", "return (({ a: 1 }))"],
    ["after statements without semicolons", "const a = 1\na", "const a = 1\nreturn (a)"],
    ["before functions, which are there from the start", "f();\nfunction f() {}", "return (f());\nfunction f() {}"],
    ["an assignment", "let a;\na = 5", "let a;\nreturn (a = 5)"],
    ["a string", '"hello"', 'return ("hello")'],
    ["in both branches of if", 'if (1) "a"; else { "b" }', 'if (1) return ("a"); else { return ("b") }'],
    ["in a block", "{ 1; 2 }", "{ 1; return (2) }"],
    [
      "in try and catch",
      "try { 1 } catch { 2 } finally { 3 }",
      "try { return await (1) } catch { return (2) } finally { 3 }",
    ],
    ["in a label", "a: { 5 }", "a: { return (5) }"],
    [
      "in every case of a switch",
      'switch (1) { case 1: "a"; break; case 2: { "b"; break } case 3: "c"; default: "d" }',
      'switch (1) { case 1: return ("a"); break; case 2: { return ("b"); break } case 3: "c"; default: return ("d") }',
    ],
    [
      "in the last round of a loop",
      "for (const a of [1]) { a }",
      "let __waitedRound;{for (const a of [1]) { __waitedRound = (a) }; return __waitedRound;}",
    ],
    [
      "in a loop with a label",
      "a: while (0) 1",
      "let __waitedRound;{a: while (0) __waitedRound = (1); return __waitedRound;}",
    ],
    ["an object that JavaScript takes for a block", "const a = 1;\n{ a, b: 2 }", "const a = 1;\nreturn ({ a, b: 2 })"],
    ["a name in braces", "const a = 1;\n{ a }", "const a = 1;\nreturn ({ a })"],
    ["a property in braces", "const a = 1;\n{ total: a }", "const a = 1;\nreturn ({ total: a })"],
  ])("%s [S3]", (_where, source, code) => {
    expect(emitCode(source)).toBe(code);
  });

  test.each([
    ["a return at the top", "return 5"],
    ["a declaration", "const a = 1"],
    ["nothing", ""],
    ["a throw", 'throw new Error("x")'],
    ["a block that sets something", "let a;\n{ a = 1; }".replace("a = 1;", "let b = 1;")],
  ])("leaves %s unchanged [S3]", (_what, source) => {
    expect(emitCode(source)).toBe(source);
  });

  test("explains how to return a value to a program that ends with a declaration [S3]", () => {
    expect(check("const total = 1 + 1").notes).toEqual(["The program has no result: end it with total"]);
    expect(check("const total = 1 + 1;\nprint(total);\nconst more = 2").notes).toEqual([]);
  });
});

describe("calls a function that is the whole program [S4]", () => {
  test.each([
    ["an arrow", "async () => { return 5 }", "return await (async () => { return 5 })()"],
    ["an arrow in brackets", "(() => 5);", "return await ((() => 5))();"],
    ["a function expression", "(async function () { return 5 })", "return await ((async function () { return 5 }))()"],
    [
      "a function declaration",
      "async function work() { return 5 }",
      "async function work() { return 5 }\nreturn await work();",
    ],
    ["a constant", "const main = async () => 5", "const main = async () => 5\nreturn await main();"],
    [
      "main among others",
      "const a = 1\nfunction main() { return a }\nfunction other() {}",
      "const a = 1\nfunction main() { return a }\nfunction other() {}\nreturn await main();",
    ],
    [
      "an exported function",
      "export async function main() { return 5 }",
      "       async function main() { return 5 }\nreturn await main();",
    ],
    [
      "a default export",
      "export default async function () { return 5 }",
      "const __waitedMain = async function () { return 5 };\nreturn await __waitedMain();",
    ],
    [
      "a default export with a name",
      "export default async function main() { return 5 }",
      "               async function main() { return 5 }\nreturn await main();",
    ],
    [
      "a default export of a name",
      "export default main;\nasync function main() { return 5 }",
      "const __waitedMain = main;\nasync function main() { return 5 }\nreturn await __waitedMain();",
    ],
    [
      "a default export with a comment inside",
      "export /* a\n */ default 5",
      "const __waitedMain =\n 5;\nreturn __waitedMain;",
    ],
    ["a default export of a value", "export default { a: 1 }", "const __waitedMain = { a: 1 };\nreturn __waitedMain;"],
    [
      "with device as its parameter",
      "async (device) => { return await device.MathSkill.add(1, 2) }",
      "return await (async (device) => { return await device.MathSkill.add(1, 2) })(device)",
    ],
    [
      "with a pattern of what is there",
      "export default async ({ device, console }) => device.MathSkill.add(1, 2)",
      "const __waitedMain = async ({ device, console }) => device.MathSkill.add(1, 2);\nreturn await __waitedMain({ device, console });",
    ],
    [
      "with parameters that have values",
      "async function main(a = 1, ...b) { return a }",
      "async function main(a = 1, ...b) { return a }\nreturn await main();",
    ],
  ])("%s [S4]", (_what, source, code) => {
    expect(emitCode(source)).toBe(code);
    expect(check(source).violations).toEqual([]);
  });

  test("notes that it called the function [S4]", () => {
    expect(check("async () => 5").notes).toEqual(["The function was called, as it is the whole program"]);
    expect(check("function main() {}").notes).toEqual(["main was called, as nothing else calls it"]);
  });

  test("does not call a function that the program calls itself [S4]", () => {
    expect(emitCode("main();\nfunction main() {}")).toBe("return (main());\nfunction main() {}");
  });

  test("does not call a function that needs arguments [S4]", () => {
    expect(check("function add(a, b) { return a + b }").notes).toEqual(["add is never called"]);
    expect(check("async function main(input) { return input }").violations).toMatchObject([
      { code: "NODE_FORBIDDEN", column: 20, fix: "Remove the parameter: device is already available" },
    ]);
  });

  test("removes exports around it, and refuses re-exports [S4]", () => {
    expect(emitCode("export const a = 1;\nconst b = 2;\nexport { b };\na")).toBe(
      "       const a = 1;\nconst b = 2;\n;            \nreturn (a)",
    );
    expect(check('export { a } from "b"').violations[0]).toMatchObject({
      code: "MODULE_FORBIDDEN",
      line: 1,
      column: 0,
    });
  });
});

describe("wraps the program in the expected text", () => {
  test("lets a program declare names of sandbox globals [S3]", () => {
    expect(check("let console = 1, print = 2, device = 3;\nconsole + print + device").program?.code).toBe(
      "{let console = 1, print = 2, device = 3;\nreturn (console + print + device)\n}",
    );
  });

  test("leaves this undefined at the top level, as in a module [S3]", () => {
    expect(emitCode("typeof this")).toBe("return (typeof undefined)");
    expect(emitCode("return (() => this)()")).toBe("return (() => undefined)()");
    expect(emitCode("return (function () { return this })()")).toBe("return (function () { return this })()");
    expect(emitCode("class A { a = this }\nreturn new A()")).toBe("class A { a = this }\nreturn new A()");
  });

  test("ends a comment at the end of the program before the code that follows [S3]", () => {
    expect(check("1 // one").program?.code).toBe("{return (1) // one\n}");
  });
});
