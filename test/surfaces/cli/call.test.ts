import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { MATH_SKILL, MCP_JSON, project, skillgate } from "./command.ts";

test.each<[readonly string[], string]>([
  [["MathSkill.add", "a=2", "b=0.5"], "2.5\n"],
  [["MathSkill.add", '{"a": 2, "b": 3}'], "5\n"],
  [["MathSkill.repeat", "text=42"], "42\n"],
  [["MathSkill.repeat", "text=@words.txt"], "from a file\n"],
  [["MathSkill.echo", "value=@numbers.json"], "[\n  1,\n  2\n]\n"],
  [["MathSkill.echo", 'value={"__proto__": {"x": 1}}'], '{\n  "__proto__": {\n    "x": 1\n  }\n}\n'],
  [["MathSkill.echo", "value={not json"], "{not json\n"],
])("calls %j [O1]", callMethod);

test.each<[readonly string[], string]>([
  [["MathSkill.repeat", "text=a=b", "times=2"], "a=ba=b\n"],
  [["MathSkill.repeat", 'text="42"'], "42\n"],
  [["MathSkill.repeat", 'text="@file"'], "@file\n"],
  [["MathSkill.repeat", "text="], ""],
  [["MathSkill.echo", "value=true"], "true\n"],
  [["MathSkill.echo", "value=null"], "null\n"],
  [["device.MathSkill.add", "a=1", "b=1"], "2\n"],
])("calls %j [O1]", { tags: "rest" }, callMethod);

async function callMethod(args: readonly string[], stdout: string): Promise<void> {
  const files = { "words.txt": "from a file\n", "numbers.json": "[1, 2]\n" };
  const cwd = project({ "skills/math.js": MATH_SKILL, ...files });
  expect(await skillgate(["call", ...args], { cwd })).toEqual({ exit: 0, stdout, stderr: "" });
}

test("prints an invalid date as null", async () => {
  const cwd = project({ "skills/clock.ts": "export function now(): Date {\n  return new Date(NaN);\n}\n" });
  expect(await skillgate(["call", "ClockSkill.now"], { cwd })).toMatchObject({ exit: 0, stdout: "null\n" });
});

test("prints the path and the value with call --json [O1]", { tags: "rest" }, async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL, ".mcp.json": MCP_JSON });
  writeFileSync(join(cwd, "note.txt"), "hello");
  const local = await skillgate(["call", "MathSkill.add", "a=1", "b=2", "--json"], { cwd });
  expect({ ...local, stdout: JSON.parse(local.stdout) }).toEqual({
    exit: 0,
    stdout: { path: "MathSkill.add", value: 3 },
    stderr: "",
  });
  const remote = await skillgate(["call", "FilesystemMCP.read_text_file", "path=note.txt", "--json"], { cwd });
  expect(JSON.parse(remote.stdout)).toEqual({ path: "FilesystemMCP.read_text_file", value: { content: "hello" } });
});

test.each([
  [["MathSkill.ad", "a=1"], 5, "Error: Method 'ad' not found in MathSkill; did you mean add?"],
  [["Nowhere.add"], 5, "Error: Skill 'Nowhere' not found"],
  [["MathSkill"], 2, 'Cannot call "MathSkill": name one method, as in Skill.method'],
  [
    ["MathSkill.add", "1", "2"],
    2,
    'Cannot read the argument "1": write key=value, key=@file, or all of them as one JSON object',
  ],
  [["MathSkill.add", "a=1", "a=2"], 2, 'Argument given twice: "a"'],
  [["MathSkill.echo", "value=@missing.txt"], 2, 'Cannot read "missing.txt": it does not exist'],
  [["MathSkill.fail", "why=no luck"], 1, "no luck"],
  [["MathSkill.late"], 124, "Tool 'MathSkill.late' timed out after 0.1s"],
  [
    ["MathSkill.pay", "name=Ada", "amount=5"],
    4,
    'Cannot call a method without an approval: caller "owner" calls "MathSkill.pay"; request ID waits for an answer (APPROVAL_MISSING)',
  ],
])("exits for call %j with %i [O1]", { tags: "rest" }, async (args, exit, says) => {
  const cwd = project({ "skills/math.js": MATH_SKILL });
  const ended = await skillgate(["call", ...args], { cwd });
  expect({ exit: ended.exit, stdout: ended.stdout }).toEqual({ exit, stdout: "" });
  expect(ended.stderr.split("\n")[0]?.replace(/request \w{10} waits/, "request ID waits")).toBe(says);
});

test("exits with 3 for arguments that do not match, with all reasons [T6]", async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL });
  const { exit, stdout, stderr } = await skillgate(["call", "MathSkill.add", "a=x", "c=1", "--json"], { cwd });
  expect({ exit, stderr }).toEqual({ exit: 3, stderr: "" });
  const { error } = JSON.parse(stdout);
  expect(error).toMatchObject({ code: "ARGUMENTS_INVALID", skill: "MathSkill", method: "add" });
  expect(error.problems.map(({ field }: { field: string }) => field).toSorted()).toEqual(["a", "b", "c"]);
});

test("exits with 2 for arguments that are not a JSON object [O1]", async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL });
  const { exit, stderr } = await skillgate(["call", "MathSkill.add", '{"a": 1'], { cwd });
  expect(exit).toBe(2);
  expect(stderr).toMatch(/^Cannot read the arguments as a JSON object: /);
});
