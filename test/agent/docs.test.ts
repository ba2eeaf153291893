import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

import { parseScript } from "../../src/agent/models/scripted.ts";
import { callCode, sayText, serveReplies } from "../support/agent.ts";
import { ended, environment, MATH_SKILL, project, skillgate } from "../surfaces/cli/command.ts";

const PAGE = readFileSync("docs/agents.md", "utf8");

test("runs the library's example of docs/agents.md [G7]", { tags: "rest" }, async () => {
  await using server = await serveReplies([callCode("device.MathSkill.add(2, 3)"), sayText("It is 5.")]);
  const [, example = ""] = /```js\n(.*?)```/s.exec(PAGE) ?? [];
  const cwd = project({ "skills/math.js": MATH_SKILL, "settings.yaml": "limits: {}" });
  const file = resolve(join(".cache", `agents-${process.pid}.mjs`));
  mkdirSync(".cache", { recursive: true });
  writeFileSync(file, example);
  try {
    const env = environment(cwd, { ANTHROPIC_API_KEY: "sk-ant-own-key", ANTHROPIC_BASE_URL: `${server.url}/v1` });
    const { exit, stdout, stderr } = await ended(spawn(process.execPath, [file], { cwd, env }));
    expect({ exit, stdout, stderr }).toEqual({ exit: 0, stdout: "It is 5.", stderr: "MathSkill.add ok\n" });
  } finally {
    rmSync(file);
  }
});

test("plays the script of docs/agents.md [G1]", { tags: "rest" }, async () => {
  const [, script = ""] = /```yaml\n(- thinking.*?)```/s.exec(PAGE) ?? [];
  const { exit, stdout } = await skillgate(["ask", "2 + 3?", "--model", "scripted:script.yaml"], {
    cwd: project({ "script.yaml": script, "skills/math.js": MATH_SKILL }),
  });
  expect(exit).toBe(0);
  expect(stdout).toContain("The sum is ");
});

test.each([
  ["replies: 1", "it must be a list of replies"],
  ["- 1", "reply 1: it must be a text, or have some of thinking, text, code, tools, error, finish, usage"],
  ["- txt: x", "reply 1: unknown field txt; use thinking"],
  ["- text: 1", "reply 1: text must be a text"],
  ["- tools: [{}]", "reply 1: tools must be a list of { name, arguments }"],
  ["- error: { status: x }", "reply 1: error must have a status and a message"],
  ["- finish: maybe", "reply 1: finish must be stop or length"],
  ["- {", "CONFIG_INVALID"],
])("reports a script that cannot be read: %s [G1]", (script, message) => {
  expect(() => parseScript(script, "script.yaml")).toThrow(message);
});
