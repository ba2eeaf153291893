import { expect, test } from "vitest";

import { MATH_SKILL, project, skillgate } from "../command.ts";

const run = (input: string, args: readonly string[] = []) =>
  skillgate(["try", ...args], { cwd: project({ "skills/math.js": MATH_SKILL }), input });

test("runs the programs of a pipe, separated by an empty line, ;; or a command [O6]", async () => {
  const { exit, stdout, stderr } = await run(`const sum = await device.MathSkill.add(1, 2);
print("sum");
sum

[1,

 2].length
;;
\`\`\`js
"fenced"

\`\`\`

"typed" as string
.plan if (true) {

  await device.MathSkill.add(1, 1) }

.exit
"never"
`);
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
  expect(stdout).toBe(`sum
3
2
fenced
typed
The program is valid; it calls
  line 3  MathSkill.add  conditional
`);
});

test(
  "shows errors as a model reads them, runs the next program, and exits with the first failure [O6]",
  { tags: "rest" },
  async () => {
    const { exit, stdout } = await run(`print("before")
throw new Error("late")

device.MathSkill.sub(1, 2)

foo(
;;
"after"`);
    expect(exit).toBe(1);
    expect(stdout).toContain('before\nError: late (line 2, column 16)\n  1 | print("before")\n> 2 | throw new Error');
    expect(stdout).toContain("Refused; nothing was called.\n\n");
    expect(stdout).toContain("the text ends before the ( in line 1 is closed");
    expect(stdout.endsWith("\nafter\n")).toBe(true);
  },
);

test("answers the commands from what is open [O6]", { tags: "rest" }, async () => {
  const { exit, stdout } = await run(`.search add numbers
.describe MathSkill.add
.types MathSkill
.types MathSkil
.prompt
.time
.budget
await device.MathSkill.add(1, 2)
.time
.budget
.plan device.MathSkill.sub()

.serch add
.constructor x
.reload
.help`);
  expect(exit).toBe(0);
  for (const part of [
    "- MathSkill.add(a: number, b: number)",
    "Form: await device.MathSkill.add(1, 1)",
    "declare const device: {",
    "Unknown",
    "No program has run yet",
    "MathSkill.add  ok",
    "Unknown command: .serch; did you mean .search?",
    "Unknown command: .constructor; use .help for a list",
    "1 skill with 7 methods",
    ".budget         show the limits",
  ])
    expect(stdout).toContain(part);
  expect(stdout).toMatch(/calls +1000\n/);
  expect(stdout).toMatch(/calls +1000 +1\n/);
});

test("ends a program at its time limit, and refuses --json [O6]", async () => {
  const { exit, stdout } = await run("await device.MathSkill.wait()", ["--timeout", "200"]);
  expect(exit).toBe(124);
  expect(stdout).toContain("WALL_LIMIT");
  const { exit: usage, stdout: json } = await run("1", ["--json"]);
  expect(usage).toBe(2);
  expect(JSON.parse(json)).toMatchObject({ error: { message: expect.stringContaining("--jsonl") as string } });
});
