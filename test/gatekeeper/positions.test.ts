import fc from "../support/fuzz.ts";
import { describe, expect, test } from "vitest";

import { check } from "./stubs.ts";

/** Where a word of the code stands in the text, by the map of the program. */
function findPlace(source: string, word: string): string {
  const { program } = check(source);
  if (program === undefined) throw new Error("refused");
  const lines = program.code.split("\n");
  const line = lines.findIndex((text) => text.includes(word));
  const { line: sourceLine, column } = program.toSourcePosition(line + 1, (lines[line] ?? "").indexOf(word));
  return `${sourceLine}:${column}`;
}

describe("maps positions of the running program to the model's text [S10]", () => {
  test.each([
    ["after what was written before", "boom()\nfunction boom() {}", "boom()", "1:0"],
    ["inside of a result", "1 + boom\nvar boom", "boom", "1:4"],
    ["behind a corrected name", "default_api.MathSkill.add(1, 2).boom", "boom", "1:32"],
    ["behind a blocking call", "return device.UserSkill.get(1).boom", "boom", "1:31"],
    ["behind named arguments", 'return device.BraveSearchMCP.search(query="x").boom', "boom", "1:47"],
    ["in a fence", "Here it is:\n```js\nlet boom = 1;\n```\nDone.", "boom", "3:4"],
    [
      "behind types",
      "const a: Map<string, number> = new Map<string, number>();\nboom(a as any);\nfunction boom(x: unknown) {}",
      "boom",
      "2:0",
    ],
    ["behind a tag", "js\nlet boom = 1", "boom", "2:4"],
    ["in later lines", "let a = 1\n\n\n  a + boom\nvar boom", "boom", "4:6"],
  ])("%s [S10]", (_where, source, word, place) => {
    expect(findPlace(source, word)).toBe(place);
  });

  test("maps code that was only inserted to the position of the insertion [S10]", () => {
    expect(check("1 + 1").program?.toSourcePosition(1, 3)).toEqual({ line: 1, column: 0 });
    expect(check("function main() {}").program?.toSourcePosition(2, 5)).toEqual({ line: 1, column: 18 });
    expect(check("1").program?.toSourcePosition(99, 99)).toEqual({ line: 1, column: 1 });
  });

  test("keeps the number of lines of the text [S10]", { tags: "repeated" }, () => {
    const statements = [
      "device.UserSkill.get(1).name",
      "MathSkill.add(a=1,\n b=2)",
      "total = 1",
      "for (const x of [1])\n  x",
      "const f: number = 1 as any\n",
      "// comment",
      "",
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...statements), { maxLength: 8 }), (parts) => {
        const source = parts.map((part, index) => part.replace("f:", `f${index}:`)).join(";\n");
        const { program } = check(source);
        if (program !== undefined)
          expect(program.code.split("\n").length).toBeGreaterThanOrEqual(source.split("\n").length + 1);
        for (const [index, line] of (program?.code.split("\n") ?? []).entries()) {
          expect(program?.toSourcePosition(index + 1, line.length).line).toBe(
            Math.min(index + 1, source.split("\n").length),
          );
        }
      }),
      { numRuns: 60 },
    );
  });
});
