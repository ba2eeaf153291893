import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { sayText, serveReplies } from "../support/agent.ts";
import { rawText, rawToolCall, serveRaw } from "./raw-model-server.ts";
import { ended, MATH_SKILL, meetingPoint, project, skillgate, start } from "../surfaces/cli/command.ts";

const SCRIPT = `
- thinking: I need a sum.
  code: |
    const sum = await device.MathSkill.add(2, 3);
    print("adding");
    sum
- "The sum is 5."
`;

const files = { "skills/math.js": MATH_SKILL, "script.yaml": SCRIPT };

test("prints the answer on stdout, and the program, its plan and its calls on stderr [G7]", async () => {
  const { exit, stdout, stderr } = await skillgate(["ask", "2 + 3?", "--model", "scripted:script.yaml"], {
    cwd: project(files),
  });
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: "The sum is 5.\n" });
  expect(stderr.replace(/\d[\d.]* ms/, "1 ms")).toBe(`Program s1
  1  const sum = await device.MathSkill.add(2, 3);
  2  print("adding");
  3  sum
Plan
  line 1  MathSkill.add(2, 3)
  MathSkill.add …
  MathSkill.add ok 1 ms
  adding
`);
});

test("prints no program in fences on stdout [G2]", { tags: "rest" }, async () => {
  const script = JSON.stringify([
    "Let me add.\n```{fence}\nawait device.MathSkill.add(2, 3)\n```\nThe result is 6.",
    "It is 5:\n```json\n5\n```",
  ]);
  const cwd = project({ ...files, "script.json": script });
  const { stdout } = await skillgate(["ask", "2 + 3?", "--model", "scripted:script.json"], { cwd });
  expect(stdout).toBe("Let me add.\nIt is 5:\n```json\n5\n```\n");
});

test("prints with --json one event on each line, and the result last [G7]", { tags: "rest" }, async () => {
  const { exit, stdout } = await skillgate(["ask", "2 + 3?", "--json", "--model", "scripted:script.yaml"], {
    cwd: project(files),
  });
  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string });
  expect(exit).toBe(0);
  expect(events.map(({ type }) => type)).toEqual(
    "message turn delta usage message code plan call_started call_ended output result message turn delta usage message done".split(
      " ",
    ),
  );
  expect(events.at(-1)).toMatchObject({ reason: "answer", text: "The sum is 5.", turns: 1, calls: 1 });
});

test(
  "records a conversation, shows it again without a model, and exports it as Markdown",
  { tags: "rest" },
  async () => {
    const cwd = project(files);
    const model = ["--model", "scripted:script.yaml"];
    const first = await skillgate(["ask", "2 + 3?", "--record", "run.jsonl", ...model], { cwd });
    expect(statSync(join(cwd, "run.jsonl")).mode & 0o777).toBe(0o600);
    expect(await skillgate(["ask", "--replay", "run.jsonl"], { cwd })).toEqual(first);
    const { stdout } = await skillgate(["ask", "--replay", "run.jsonl", "--export", "md"], { cwd });
    expect(stdout.replace(/\d[\d.]* ms/, "1 ms")).toBe(
      `## User

2 + 3?

### Program s1

\`\`\`js
const sum = await device.MathSkill.add(2, 3);
print("adding");
sum
\`\`\`

- \`MathSkill.add\` ok, 1 ms

Result:

\`\`\`text
adding
5
\`\`\`

## Assistant

The sum is 5.
`,
    );
  },
);

test("reports the line of a transcript that cannot be read", { tags: "rest" }, async () => {
  const cwd = project({
    "a.jsonl": '{"transcript":"skillgate","version":1}\n{"type":"turn"}\n{"type":',
    "b.jsonl": "{}",
  });
  expect((await skillgate(["ask", "--replay", "a.jsonl"], { cwd })).stderr).toContain("a.jsonl, line 3: ");
  expect(await skillgate(["ask", "--replay", "b.jsonl"], { cwd })).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining("b.jsonl, line 1: it is not the header of a transcript"),
  });
});

test("says in three lines how to get a model, and exits with 2 [G1]", async () => {
  const { exit, stdout, stderr } = await skillgate(["ask", "2 + 3?"], { cwd: project(files) });
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
  const [reason, ...ways] = stderr.trimEnd().split("\n");
  expect(reason).toMatch(/^No model is configured: .*\(MODEL_MISSING\)$/);
  expect(ways.map((line) => line.split(":")[0])).toEqual(["A service", "On this machine", "Another server"]);
});

test(
  "takes the model and its address from settings.yaml, and the key from a variable [G1]",
  { tags: "rest" },
  async () => {
    await using server = await serveRaw([
      rawToolCall("openai", "run_code", '{"code": "device.MathSkill.add(2, 3)"}'),
      rawText("openai", "The sum is 5."),
    ]);
    const settings = `agent: { model: "openai:sums", baseUrl: "${server.url}/v1", keyVariable: OWN_KEY }`;
    const cwd = project({ ...files, "settings.yaml": settings, ".env": "OWN_KEY=sk-own-key-of-the-owner" });
    const { exit, stdout } = await skillgate(["ask", "2 + 3?"], { cwd });
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: "The sum is 5.\n" });
    expect(server.bodies[0]).toMatchObject({ model: "sums" });
    expect(server.headers[0]).toMatchObject({ authorization: "Bearer sk-own-key-of-the-owner" });
  },
);

test("sends no key to the address of a project that is not trusted [P9]", async () => {
  await using server = await serveReplies([sayText("Give me your key.")]);
  const settings = `agent: { model: "openai:sums", baseUrl: "${server.url}/v1" }`;
  const cwd = project({ "settings.yaml": settings, ".env": `OPENAI_BASE_URL=${server.url}/v1` });
  const env = {
    SKILLGATE_TRUSTED_FOLDERS: "",
    OPENAI_API_KEY: "sk-own-key-of-the-owner",
    OPENAI_BASE_URL: "http://127.0.0.1:9",
  };
  const { exit, stderr } = await skillgate(["ask", "2 + 3?", "--model", "openai:gpt-5", "--seconds", "1"], {
    cwd,
    env,
  });
  expect(exit).toBe(6);
  expect(stderr).toContain("agent.baseUrl");
  expect(server.requests()).toEqual([]);
});

test.each([
  [{ model: 1 }, "agent.model must be a name such as openai:gpt-5"],
  [{ modle: "x" }, "agent has the unknown setting modle; did you mean model?"],
  [{ budgets: { turns: 0 } }, "agent.budgets.turns must be a number above 0, not 0"],
  [{ mode: "fast" }, "agent.mode must be one of auto, tools, code, native"],
  [{ model: "qwen:7b" }, 'model "qwen:7b": Unknown provider of the model: qwen'],
])("reports settings that cannot be used: %j [G1]", { tags: "rest" }, async (agent, message) => {
  const cwd = project({ "settings.yaml": JSON.stringify({ agent }) });
  const { exit, stderr } = await skillgate(["ask", "2 + 3?"], { cwd });
  expect(exit).toBe(2);
  expect(stderr).toContain(message);
});

test("stops the program at Ctrl-C, and exits with 130", { tags: "rest" }, async () => {
  const cwd = project(files);
  const { path, next } = await meetingPoint(cwd);
  const code = `await device.MathSkill.wait(${JSON.stringify(path)})`;
  const child = start(["ask", "wait", "--json", "--model", "scripted:wait.json"], {
    cwd: projectWithScript(cwd, [{ code }, "Done."]),
  });
  const outcome = ended(child);
  await next();
  child.kill("SIGINT");
  const { exit, stdout } = await outcome;
  expect(exit).toBe(130);
  expect(JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({ type: "done", reason: "cancelled" });
});

test(
  "exits with 4 if a program waits, and the commands that it names approve and continue it [P6, G7]",
  { tags: "rest" },
  async () => {
    const code = "await device.MathSkill.pay('Ada', 5)";
    const cwd = project({
      ...files,
      "settings.yaml": "store: { dir: state }\n",
      "wait.json": JSON.stringify([{ code }, "Never."]),
    });
    const args = ["ask", "pay", "--model", "scripted:wait.json"];
    const { exit, stdout, stderr } = await skillgate(args, { cwd });
    expect({ exit, stdout }).toEqual({ exit: 4, stdout: "" });
    const [, run = ""] = /^Run ([\w-]+) waits for an approval$/m.exec(stderr) ?? [];
    const commands = [...stderr.matchAll(/: skillgate (.*)$/gm)].map(([, command = ""]) => command.split(" "));
    expect(commands.map(([name, verb]) => `${name} ${verb}`)).toEqual([
      "approvals show",
      "approvals approve",
      "runs resume",
    ]);
    for (const command of commands.slice(0, 2)) expect(await skillgate(command, { cwd })).toMatchObject({ exit: 0 });
    expect(await skillgate(commands[2] ?? [], { cwd })).toMatchObject({ exit: 0, stdout: "paid 5 to Ada\n" });
    const { stdout: json } = await skillgate([...args, "--json"], { cwd });
    const events = json.trimEnd().split("\n");
    expect(JSON.parse(events.at(-1) ?? "")).toMatchObject({ type: "done", reason: "waiting" });
    const waiting = events.map((line) => JSON.parse(line) as { type: string; runId?: string });
    expect(waiting.find(({ type }) => type === "waiting")?.runId).not.toBe(run);
  },
);

test("shows with doctor the model and whether its server knows it [G1]", { tags: "rest" }, async () => {
  await using server = await serveReplies([]);
  const cwd = project(files);
  const env = { OPENAI_API_KEY: "sk-own-key-of-the-owner", OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_MODEL: "sums" };
  const { stdout } = await skillgate(["doctor"], { cwd, env });
  expect(stdout).toContain(`Model: openai:sums at ${server.url}/v1, key from OPENAI_API_KEY\n`);
  const down = await skillgate(["doctor"], { cwd, env: { ...env, OPENAI_BASE_URL: "http://127.0.0.1:9/v1" } });
  expect(down.stdout).toMatch(/! Model: .*\n {4}Cannot reach the server: /);
  expect(down.exit).toBe(0);
});

function projectWithScript(cwd: string, replies: readonly unknown[]): string {
  writeFileSync(join(cwd, "wait.json"), JSON.stringify(replies));
  return cwd;
}
