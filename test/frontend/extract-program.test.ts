import { describe, expect, test } from "vitest";

import { readProgramSource } from "../../src/frontend/index.ts";

const read = (source: string): ReturnType<typeof readProgramSource> =>
  readProgramSource(source, { sourceBytes: 10_000 });

/** What is read of a text, without the spaces around it; or what is wrong with it. */
function programIn(source: string): readonly string[] {
  const program = read(source);
  if (program.kind === "program") return [program.text.trim(), ...program.notes];
  return program.kind === "unreadable" ? program.violations.map(({ message }) => message) : [program.kind];
}

const CALL = "await device.MathSkill.add(1, 2)";

describe("finds a program between sentences or tags [S4]", () => {
  test.each([
    ["a sentence before", `Here is the code:\n\n${CALL}`, "The sentences around the program were ignored"],
    [
      "sentences before and after",
      `Sure! I'll add them.\n${CALL}\n\nThis gives the sum.`,
      "The sentences around the program were ignored",
    ],
    [
      "a list of steps before",
      `1. First we add\n2. Then we print it.\n\n${CALL}`,
      "The sentences around the program were ignored",
    ],
    ["tags", `<tool_code>\n${CALL}\n</tool_code>`, "The text outside <tool_code> was ignored"],
    ["tags in a sentence", `Let me see.\n<code>${CALL}</code>\nDone.`, "The text outside <code> was ignored"],
    ["thoughts", `<think>I add 1 < 2.</think>\n${CALL}`, "Thoughts before the program were ignored"],
    [
      "thoughts and sentences",
      `<think>Hm.</think>\nI will add them now.\n${CALL}`,
      "The sentences around the program were ignored",
    ],
  ])("%s [S4]", (_what, source, note) => {
    expect(programIn(source)).toEqual([CALL, note]);
  });

  test("keeps the lines and columns of the text [S4]", () => {
    const program = read(`Here is the code:\n\n  ${CALL}`);
    expect(program.kind === "program" && program.tree.body[0]).toMatchObject({ start: 21 });
  });

  test.each([
    [
      "a program that is read as it is",
      'const html = "<code>x</code>";\nhtml',
      ['const html = "<code>x</code>";\nhtml'],
    ],
    ["nothing but sentences", "I cannot do this.\nPlease ask again later.", 1],
    ["two tags", `<code>${CALL}</code> or <code>${CALL}</code>`, 1],
    ["code with a mistake", `Here is the code:\nawait device.MathSkill.add(1, 2`, 1],
    ["Python", "from math import sqrt\nprint(sqrt(2))\nfor x in range(3):\n    print(x)", 1],
  ])("does not guess: %s [S4]", (_what, source, expected) => {
    if (typeof expected === "number") expect(read(source)).toMatchObject({ kind: "unreadable" });
    else expect(programIn(source)).toEqual(expected);
  });

  test.each([
    ["an escaped line feed", `const x = 1;\\n${CALL}`, "a line feed written as \\n"],
    ["dots for data", "const list = [...];", "three dots in place of code"],
    ["dots for code", "// TODO\n...", "three dots in place of code"],
  ])("has a specific message for %s [S4]", (_what, source, words) => {
    expect(programIn(source)).toEqual([`Cannot parse the program: ${words} (SYNTAX)`]);
  });

  test("takes twice as much work for a text of sentences that is twice as long [S4]", { tags: "rest" }, () => {
    const cost = (lines: number): number => {
      const source = "This is a sentence of some words.\n".repeat(lines);
      // CPU time, so that other work of the machine does not count.
      const before = process.cpuUsage();
      readProgramSource(source, { sourceBytes: 1 << 20 });
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    };
    const least = (lines: number): number => Math.min(cost(lines), cost(lines), cost(lines));
    // A square would make it sixteen times.
    expect(least(8_000)).toBeLessThan(10 * least(2_000) + 20);
  });
});
