import { describe, expect, test } from "vitest";

import { sourceText, read, readText, readViolations } from "../support/read-program-source.ts";

/** The program among the blanks. */
const readTrimmedText = (source: string): string => readText(source).trim();

describe("removes Markdown around a program [S4]", () => {
  test("blanks a fence, so that lines and columns stay the same [S4]", () => {
    expect(readText("```js\nconst a = 1;\nreturn a;\n```")).toBe("     \nconst a = 1;\nreturn a;\n   ");
  });

  test.each([
    ["javascript", "```javascript\n1\n```"],
    ["ts", "```ts\n1\n```"],
    ["tool_code", "```tool_code\n1\n```"],
    ["an unknown language", "```kotlin\n1\n```"],
    ["no language", "```\n1\n```"],
    ["words behind the language", '```js title="a.js" {1,2}\n1\n```'],
    ["four backticks", "````js\n1\n````"],
    ["tildes", "~~~js\n1\n~~~"],
    ["an indented fence", "   ```js\n   1\n   ```"],
    ["Windows line ends", "```js\r\n1\r\n```\r\n"],
    ["empty lines around", "\n\n```js\n1\n```\n\n"],
    ["prose around", "Here is the code:\n\n```js\n1\n```\n\nIt gives **one**; see device.MathSkill.add for more."],
    ["a fence that is never closed", "```js\n1"],
    ["a fence that is only closed", "1\n```"],
  ])("removes a fence with %s [S4]", (_how, source) => {
    expect(readTrimmedText(source)).toBe("1");
  });

  test("accepts code that begins on the line of the fence [S4]", () => {
    expect(readTrimmedText("```js return 1;\n```")).toBe("return 1;");
  });

  test.each([
    ["js", "js\n1"],
    ["javascript:", "javascript:\n1"],
    ["TypeScript", "TypeScript\n\n1"],
    ["tool_code", "tool_code\n1"],
    ["a tag inside of a fence", "```\njs\n1\n```"],
  ])("removes a language tag alone on the first line: %s [S4]", (_tag, source) => {
    expect(readTrimmedText(source)).toBe("1");
  });

  test("keeps a tag that is the whole text as a name [S4]", () => {
    expect(readText("js\n")).toBe("js\n");
  });

  test("removes a shebang line [S4]", () => {
    expect(readText("#!/usr/bin/env node\n1")).toBe("                   \n1");
  });

  test("reads a program between backticks on one line [S4]", () => {
    expect(readTrimmedText("`device.A.b()`")).toBe("device.A.b()");
    expect(readTrimmedText("```js device.A.b()```")).toBe("device.A.b()");
    expect(readTrimmedText('`device.A.b("${1 + 1}")`')).toBe('device.A.b("${1 + 1}")');
    expect(readText("`only text`")).toBe("`only text`");
  });

  test("keeps a template whose values are calls as a program [S4]", () => {
    const template = "`It is ${device.A.b()} o'clock`";
    expect(readText(template)).toBe(template);
  });

  test.each([
    ["in a string", 'const md = "```js\\ncode\\n```"; md.length'],
    ["in a template, with escapes", "const md = `\n\\`\\`\\`js\ncode\n\\`\\`\\`\n`; md"],
    ["in a comment", "// ```js\n1"],
    ["tildes in a template", "const md = `\n~~~\ncode\n~~~\n`; md"],
  ])("does not treat fences %s as fences [S4]", (_where, source) => {
    expect(readText(source)).toBe(source);
  });
});

describe("selects one of several blocks, or none [S4]", () => {
  const json = '```json\n{ "a": 1 }\n```\n';
  const bash = "```bash\nnpm install\n```\n";
  const js = "```js\n1\n```\n";
  const call = "```\ndevice.A.b()\n```\n";

  test.each([
    ["the only one of JavaScript", `${json}${js}${bash}`, "1", "Only one of 3 code blocks was read, the one marked js"],
    [
      "the only one that uses device",
      `${json}${call}`,
      "device.A.b()",
      "Only one of 2 code blocks was read, the one that uses device",
    ],
    [
      "of two of JavaScript the one that uses device",
      `${js}\`\`\`ts\ndevice.A.b()\n\`\`\``,
      "device.A.b()",
      "Only one of 2 code blocks was read, the one marked ts",
    ],
    ["the one that is not empty", `\`\`\`js\n\n\`\`\`\n${js}`, "1", undefined],
  ])("%s [S4]", (_which, source, program, note) => {
    expect(readTrimmedText(source)).toBe(program);
    expect(read(source)).toMatchObject({ notes: note === undefined ? [] : [note] });
  });

  test("refuses a text with two programs [S4]", () => {
    expect(readViolations("```js\ndevice.A.b()\n```\nOr:\n```js\ndevice.A.c()\n```")).toEqual([
      {
        code: "SYNTAX",
        message: "Cannot parse the program: 2 code blocks; cannot tell which one to run (SYNTAX)",
        line: 5,
        column: 0,
        endLine: 5,
        endColumn: 3,
        frame: "  4 | Or:\n> 5 | ```js\n    | ^^^\n  6 | device.A.c()",
        fix: "Send one block with the whole program",
        suggestions: [],
      },
    ]);
    expect(sourceText(`${json}${bash}`)).toEqual(["SYNTAX 4:0"]);
  });

  test.each([
    ["behind the block", "```js\nreturn 1;\n```\ndevice.AdminSkill.delete_user({ id: 1 });", "SYNTAX 4:0"],
    ["before the block", "const a = 1;\n```js\na\n```", "SYNTAX 1:0"],
    ["between prose", "```js\n1\n```\nThen do this:\nawait device.A.b();\nThank you.", "SYNTAX 5:0"],
  ])("refuses to omit code %s silently [S4]", (_where, source, place) => {
    expect(sourceText(source)).toEqual([place]);
    expect(readViolations(source)[0]?.message).toBe(
      "Cannot parse the program: found code outside the code block (SYNTAX)",
    );
  });
});
