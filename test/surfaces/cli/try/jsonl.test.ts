// @module-tag rest

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";

import { ended, MATH_SKILL, MCP_JSON, project, runProcess, skillgate, start } from "../command.ts";

type Answer = {
  readonly status: "ok" | "error";
  readonly type?: string;
  readonly data?: never;
  readonly message?: string;
};

const call = (name: string, input?: unknown): string =>
  JSON.stringify({ command: "tool_call", name, arguments: input });
const command = (name: string, fields: object = {}): string => JSON.stringify({ command: name, ...fields });

async function drive(lines: readonly string[], cwd = project({ "skills/math.js": MATH_SKILL })) {
  const { exit, stdout, stderr } = await skillgate(["try", "--jsonl"], { cwd, input: lines.join("\n") });
  const answers = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Answer);
  return { exit, stderr, answers };
}

test("writes nothing beside the answers, however many lines it answers", async () => {
  const input = `${command("get_skills")}\n`.repeat(12);
  const { exit, stdout, stderr } = await runProcess(["try", "--jsonl"], { cwd: project(), input });
  expect({ exit, stderr, answers: stdout.trimEnd().split("\n").length }).toEqual({ exit: 0, stderr: "", answers: 12 });
});

test("answers every command with one line, in order, and ends after shutdown [O6]", async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL, ".mcp.json": MCP_JSON });
  const { exit, stderr, answers } = await drive(
    [
      call("MathSkill.add", { a: 1, b: 2 }),
      call("FilesystemMCP__list_directory", { path: "." }),
      call("run_code", { code: "print('so'); (await device.MathSkill.add(2, 3)) * 2" }),
      call("run_code", JSON.stringify({ code: "7" })),
      call("search_skills", { query: "add numbers" }),
      call("describe_function", { path: "MathSkill.add" }),
      command("get_system_prompt"),
      command("get_tool_schemas"),
      command("get_skills"),
      command("reload"),
      command("shutdown"),
      command("get_skills"),
    ],
    cwd,
  );
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
  expect(answers.map(({ status, type }) => `${status} ${type}`)).toEqual([
    ...Array.from({ length: 6 }, () => "ok tool_result"),
    "ok system_prompt",
    "ok tool_schemas",
    "ok skills",
    "ok reload",
    "ok shutdown",
  ]);
  const [sum, listing, program, short, found, , prompt, tools, skills, reloaded] = answers.map(({ data }) => data);
  expect([sum, program, short]).toEqual([{ value: 3 }, { text: "so\n10", value: 10 }, { text: "7", value: 7 }]);
  expect(JSON.stringify(listing)).toContain("[DIR] skills");
  expect(found).toMatchObject({ text: expect.stringContaining("MathSkill.add(a: number, b: number)") as string });
  expect(prompt).toContain("MathSkill");
  expect(tools).toMatchObject([{ name: "search_skills" }, { name: "describe_function" }, { name: "run_code" }]);
  expect(skills).toMatchObject([{ name: "MathSkill", methods: expect.arrayContaining([]) as unknown[] }, {}]);
  expect(reloaded).toMatchObject({ skills: 2 });
});

test("answers invalid input with an error, and reads the next line [O6]", async () => {
  const { exit, answers } = await drive([
    "{",
    "",
    "[]",
    "null",
    "{}",
    "\u0000",
    command("__proto__"),
    command("tool_cal"),
    command("tool_call"),
    call("MathSkil.add", {}),
    call("MathSkill.add", [1]),
    call("MathSkill.add", "{"),
    call("MathSkill.add", { a: 1 }),
    call("MathSkill.fail", { why: "no" }),
    call("run_code", { code: "device.MathSkill.sub(1)" }),
    call("run_code", { code: "throw new Error('late')" }),
    command("get_system_prompt", { mode: "loud" }),
    `{"command": "tool_call", "name": "run_code", "arguments": ${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
    `{"command": "${"x".repeat(5 << 20)}"}`,
    call("MathSkill.add", { a: 1, b: 2 }),
  ]);
  expect(exit).toBe(0);
  expect(answers.slice(0, -1).map(({ status }) => status)).toEqual(Array.from({ length: 18 }, () => "error"));
  expect(answers.at(-1)).toEqual({ status: "ok", type: "tool_result", data: { value: 3 } });
  const messages = answers.map(({ message = "" }) => message);
  expect(messages.slice(1, 4)).toEqual([
    'Cannot read the line: write an object, as in {"command": "get_skills"}',
    'Cannot read the line: write an object, as in {"command": "get_skills"}',
    "The field command must be one of tool_call, get_system_prompt, get_tool_schemas, get_skills, reload, shutdown",
  ]);
  expect(messages[6]).toBe("Unknown command: tool_cal; did you mean tool_call?");
  expect(messages[8]).toMatch(/^Unknown tool: MathSkil\.add; did you mean MathSkill\.add/);
  expect(messages[13]).toContain("> 1 | device.MathSkill.sub(1)");
  expect(messages[14]).toContain("Error: late (line 1, column 16)");
  expect(messages[17]).toBe("Cannot read the line: it has more than 4194304 characters");
});

test("answers while the input is open, and reads changed skills after reload [O6]", async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL });
  const child = start(["try", "--jsonl"], { cwd });
  const result = ended(child);
  if (child.stdout === null) throw new TypeError("There is no stdout");
  const lines = createInterface(child.stdout);
  const ask = async (line: string): Promise<unknown> => {
    child.stdin?.write(`${line}\n`);
    const [answer] = (await once(lines, "line")) as [string];
    return JSON.parse(answer);
  };
  expect(await ask(call("MathSkill.add", { a: 1, b: 2 }))).toMatchObject({ data: { value: 3 } });
  writeFileSync(join(cwd, "skills/math.js"), MATH_SKILL.replace("return a + b", "return a + b + 100"));
  expect(await ask(command("reload"))).toMatchObject({ status: "ok" });
  expect(await ask(call("MathSkill.add", { a: 1, b: 2 }))).toMatchObject({ data: { value: 103 } });
  writeFileSync(join(cwd, "settings.yaml"), "limits: { calls: many }\n");
  expect(await ask(command("reload"))).toMatchObject({
    data: { problems: [expect.stringContaining("limits.calls must be a whole number")] as unknown[] },
  });
  expect(await ask(call("MathSkill.add", { a: 1, b: 2 }))).toMatchObject({ data: { value: 103 } });
  child.stdin?.end();
  expect((await result).exit).toBe(0);
});

test("ends at a signal while it waits for input [O6]", async () => {
  const child = start(["try", "--jsonl"], { cwd: project({ "skills/math.js": MATH_SKILL }) });
  const result = ended(child);
  child.stdin?.write(`${command("get_skills")}\n`);
  if (child.stdout !== null) await once(child.stdout, "data");
  child.kill("SIGINT");
  expect((await result).exit).toBe(130);
});
