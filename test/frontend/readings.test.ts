import { describe, expect, test } from "vitest";

import { readProgramSource } from "../../src/frontend/index.ts";
import { emitCode } from "../gatekeeper/stubs.ts";

const readNotes = (source: string): readonly string[] => {
  const program = readProgramSource(source, { sourceBytes: 10_000 });
  return program.kind === "program" ? program.notes : [program.kind];
};

const OBJECT = "The braces at the end were read as an object";
const BRACKET = "A line that begins with a bracket was read as a separate statement";

describe("reads an object at the end as the result, although JavaScript reads it as a block [S3]", () => {
  test.each([
    ["after statements", "const a = 1;\n{ a, b: a + 1 }", "const a = 1;\nreturn ({ a, b: a + 1 })"],
    [
      "without a semicolon before",
      "const a = 1\n{\n  a: a,\n  b: 2,\n};",
      "const a = 1\nreturn ({\n  a: a,\n  b: 2,\n});",
    ],
    ["after types", "const a: number = 1;\n{ a: a, b: 2 }", "const a         = 1;\nreturn ({ a: a, b: 2 })"],
    ["alone", "{ a: Math.max(1), b: 2 }", "return ({ a: Math.max(1), b: 2 })"],
  ])("%s [S3]", (_where, source, code) => {
    expect(emitCode(source)).toBe(code);
    expect(readNotes(source)).toEqual([OBJECT]);
  });

  test.each([
    ["data alone", '{ "a": 1, "b": 2 }'],
    ["something after it", "const a = 1;\n{ a, b: 2 }\nprint(1)"],
    ["a mistake before it", "const a = ;\n{ a, b: 2 }"],
    ["a mistake in it", "const a = 1;\n{ a, b: }"],
  ])("does not read an object with %s as the result [S3]", (_what, source) => {
    expect(readNotes(source)).toEqual(["unreadable"]);
  });
});

describe("reads a line that begins with a bracket as a statement if its indentation is that of the line before [S1]", () => {
  test.each([
    ["a list", "let a = 1\n[a, a]", "let a = 1\n;return ([a, a])"],
    ["a pattern", "let a = 1, b = 2\n[a, b] = [b, a]\nreturn a", "let a = 1, b = 2\n;(0+0,[a, b] = [b, a])\nreturn a"],
    ["a function that is called", "let a = 1\n(() => a)()", "let a = 1\n;return ((() => a)())"],
    ["a template", "let a = 1 // one\n`${a}`", "let a = 1; // one\nreturn (`${a}`)"],
    ["after an empty line", "let a = f()\n\n[1].map(f)\nfunction f() {}", ";\n\nreturn ([1].map(f))"],
    ["inside of a function", "const f = () => {\n  let a = 1\n  [2].map(print)\n}", "let a = 1;\n  [2].map(print)"],
    ["after types", "let a: number = 1\n[a]", "let a         = 1;\nreturn ([a])"],
  ])("%s [S1]", (_what, source, code) => {
    expect(emitCode(source).replaceAll("\n;", ";\n")).toContain(code.replaceAll("\n;", ";\n"));
    expect(readNotes(source)).toEqual([BRACKET]);
  });

  test.each([
    ["further right", "let a = [[1]]\n  [0]\n  [0]\nreturn a"],
    ["inside of brackets", "const a = [\n[1],\n[2]\n]\nreturn a"],
    ["after an operator", "const a = 1 +\n(2)\nreturn a"],
    ["after a semicolon", "const a = 1;\n[a].map(print)"],
  ])("does not split %s [S1]", (_what, source) => {
    expect(readNotes(source)).toEqual([]);
  });
});
