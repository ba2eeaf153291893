import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { HAS_TERMINAL, MATH_SKILL, meetingPoint, project } from "../command.ts";
import { takeShare } from "../../../support/repetitions.ts";
import { startChat } from "./chat-terminal.ts";

/** A project with a script, and with its state in a folder of its own. */
function chatProject(replies: readonly unknown[]): string {
  return project({
    "skills/math.js": MATH_SKILL,
    "settings.yaml": "store: { dir: state }\n",
    "script.yaml": JSON.stringify(replies),
  });
}

const PROMPT = "\n> ";

describe.skipIf(!HAS_TERMINAL)("a chat at a terminal", () => {
  test(
    "shows each program with its plan, its calls and its result, then the answer [G7]",
    { tags: "rest" },
    async () => {
      const cwd = chatProject([
        { text: "I add them.", code: "await device.MathSkill.add(2, 3)" },
        "The sum is 5.",
        { code: "await device.MathSkill.fail('no luck')" },
        "It failed.",
      ]);
      const chat = startChat(cwd, { env: { NO_COLOR: undefined } });
      await chat.until("> ");
      chat.type("2 + 3?\r");
      const shown = await chat.until("s)\n");
      const times = shown.replace(/\d[\d.]* ms/, "1 ms").replace(/\d+ tokens, [\d.]+ s/, "9 tokens, 1 s");
      expect(times.slice(times.indexOf("I add"))).toBe(`I add them.
Program s1
  1  await device.MathSkill.add(2, 3)
Plan
  line 1  MathSkill.add(2, 3)
  MathSkill.add …
  MathSkill.add ok 1 ms
  5
The sum is 5.
(1 call, 9 tokens, 1 s)
`);
      await chat.until("> ");
      chat.type("fail\r");
      await chat.until("It failed.");
      await chat.until("> ");
      chat.type("/exit\r");
      const { exit, raw } = await chat.ended();
      expect(exit).toBe(0);
      expect(raw).toContain("\u001B[36mMathSkill.fail\u001B[39m \u001B[31merror\u001B[39m");
    },
  );

  test("wraps Markdown at 60 columns, and uses no colours with NO_COLOR [G7]", { tags: "rest" }, async () => {
    const text = `## Title\n\n- **One** item ${"with many words ".repeat(6)}\n\n\`\`\`\n# code\n\`\`\`\n\n| a | b |\n|---|---|\n| 10 | 2 |\n`;
    const chat = startChat(chatProject([text]));
    await chat.until("> ");
    chat.type("write\r");
    const shown = await chat.until("s)\n");
    await chat.until("> ");
    chat.type("\u0004");
    const { raw } = await chat.ended();
    expect(shown.slice(shown.indexOf("##"), shown.lastIndexOf("("))).toBe(`## Title

- **One** item with many words with many words with many
  words with many words with many words with many words

\`\`\`
# code
\`\`\`

a   b
10  2
`);
    for (const code of [1, 2, 31, 36]) expect(raw).not.toContain(`\u001B[${code}m`);
  });

  test("shows escapes of a model, of a result and of a description as text [P9]", { tags: "rest" }, async () => {
    const evil = "a\u001B[2Jb\u202Ec\u001B[31md";
    const cwd = project({
      "skills/math.js": MATH_SKILL.replace("Does sums.", "Does\u202E sums."),
      "script.yaml": JSON.stringify([
        { code: `await device.MathSkill.echo(${JSON.stringify(evil).replace("\u202E", "\\u202e")})` },
        evil,
      ]),
    });
    const chat = startChat(cwd);
    await chat.until("> ");
    chat.type("go\r");
    await chat.until("s)\n> ");
    chat.type("/tools\r");
    await chat.until(PROMPT);
    chat.type("\u0004");
    const { raw, shown } = await chat.ended();
    expect(shown.split("a\\u001b[2Jb\\u202ec\\u001b[31md").length).toBeGreaterThan(3);
    expect(shown).toContain("MathSkill: 7 methods");
    for (const control of ["\u202E", "\u001B[2J", "\u001B[31m"]) expect(raw).not.toContain(control);
  });

  const answers = [
    ["y", 1],
    ["run", 2],
    ["n", 0],
  ] as const;
  const title = "asks for an approval in place, with the card of other commands: %s [P6]";
  test.each(takeShare(answers.length, answers))(title, { tags: "repeated" }, async (answer, paid) => {
    const code = "await device.MathSkill.pay('Ada', 1); await device.MathSkill.pay('Bob', 1)";
    const chat = startChat(chatProject([{ code }, "Done."]));
    await chat.until("> ");
    chat.type("pay\r");
    const card = await chat.until("[y/N] ");
    expect(card).toContain('"owner" asks to call MathSkill.pay with\n{\n  "name": "Ada",');
    expect(card).toContain("\n  always  this method for 30 days\nAllow this call? [y/N] ");
    chat.type(`${answer}\n`);
    if (answer === "y") {
      await chat.until("[y/N] ");
      chat.type("n\n");
    }
    const { length } = (await chat.until("s)\n")).split("MathSkill.pay ok");
    expect(length - 1 + (answer === "y" ? 1 : 0)).toBe(paid);
    await chat.until("> ");
    chat.type("\u0004");
    expect((await chat.ended()).exit).toBe(0);
  });

  test(
    "stops the work at Ctrl-C and continues; a second one on an empty line ends the chat [G7]",
    { tags: "rest" },
    async () => {
      const cwd = project({ "skills/math.js": MATH_SKILL, "script.yaml": "" });
      const { path, next } = await meetingPoint(cwd);
      const script = [{ code: `await device.MathSkill.wait(${JSON.stringify(path)})` }, "Still here."];
      const chat = startChat(replaceScript(cwd, script));
      await chat.until("> ");
      chat.type("wait\r");
      await next();
      chat.type("\u0003");
      await chat.until("(stopped;");
      await chat.until("> ");
      chat.type("go on\r");
      await chat.until("Still here.");
      await chat.until("> ");
      chat.type("half a line\u0003");
      await chat.until("> ");
      chat.type("\u0003");
      await chat.until("Ctrl-C again ends the chat");
      chat.type("\u0003");
      expect((await chat.ended()).exit).toBe(130);
    },
  );

  test("stops at Ctrl-C in a question [P6]", { tags: "rest" }, async () => {
    const chat = startChat(chatProject([{ code: "await device.MathSkill.pay('Ada', 1)" }, "Never."]));
    await chat.until("> ");
    chat.type("pay\r");
    await chat.until("[y/N] ");
    chat.type("\u0003");
    await chat.until("(stopped;");
    await chat.until("> ");
    chat.type("\u0004");
    const { exit, shown } = await chat.ended();
    expect(exit).toBe(0);
    expect(shown).not.toContain("Never.");
  });

  test("recalls earlier lines from a file that only its owner can read [G7]", { tags: "rest" }, async () => {
    const cwd = chatProject(["First.", "Second."]);
    const first = startChat(cwd);
    await first.until("> ");
    first.type("a question\r");
    await first.until("s)\n> ");
    first.type("/exit\r");
    await first.ended();
    const file = join(cwd, "state", "chat-history");
    expect(readFileSync(file, "utf8")).toBe("a question\n/exit\n");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const second = startChat(cwd);
    await second.until("> ");
    second.type("\u001B[A\u001B[A");
    await second.until("a question");
    second.type("\r");
    await second.until("First.");
    await second.until("> ");
    second.type("\u0004");
    await second.ended();
  });

  test(
    "edits lines beyond the width of the terminal, with wide characters, and breaks lines between words [G7]",
    { tags: "rest" },
    async () => {
      const code = "const sum = await device.MathSkill.add(2, 3);  return `the sum of both of these numbers is ${sum}`";
      const chat = startChat(chatProject([{ code }, "Done."]));
      await chat.until("> ");
      chat.type(`${"long 日本 ".repeat(8)}x`);
      await chat.until("x");
      chat.type("\u007F\u007F and more\r");
      const shown = await chat.until("Done.");
      expect(shown).toContain(`Program s1
  1  const sum = await device.MathSkill.add(2, 3);  return
     \`the sum of both of these numbers is \${sum}\`
`);
      await chat.until("> ");
      chat.type("/save chat.md\r");
      await chat.until("Saved chat.md\n> ");
      chat.type(`${"a line that is discarded ".repeat(4)}\u0003`);
      await chat.until("> ");
      chat.type("\u0004");
      const { raw } = await chat.ended();
      // The discarded line has two rows: readline goes up one row and erases both.
      expect(raw.slice(raw.lastIndexOf("discarded"))).toContain("\u001B[1A\u001B[1G\u001B[0J> ");
    },
  );

  test(
    "completes commands and paths of methods, and reads messages of several lines [G7]",
    { tags: "rest" },
    async () => {
      const cwd = chatProject(["Read."]);
      const chat = startChat(cwd);
      await chat.until("> ");
      chat.type("/he\t");
      await chat.until("/help ");
      chat.type("\r");
      await chat.until("/exit");
      await chat.until("> ");
      chat.type("use MathS\t");
      await chat.until("MathSkill.");
      chat.type("rep\t");
      await chat.until("eat");
      chat.type(" and\\\r");
      await chat.until("… ");
      chat.type("\u001B[200~one\rtwo\u001B[201~ three\r");
      await chat.until("Read.");
      await chat.until("> ");
      chat.type("/save chat.md\r");
      await chat.until("Saved chat.md\n> ");
      chat.type("\u0004");
      await chat.ended();
      expect(readFileSync(join(cwd, "chat.md"), "utf8")).toContain("use MathSkill.repeat and\none\ntwo three\n");
    },
  );
});

function replaceScript(cwd: string, replies: readonly unknown[]): string {
  writeFileSync(join(cwd, "script.yaml"), JSON.stringify(replies));
  return cwd;
}
