import { readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

import { MATH_SKILL, MCP_JSON, meetingPoint, project, ended, skillgate, start } from "../command.ts";

const chatFiles = (replies: readonly unknown[]): Record<string, string> => ({
  "skills/math.js": MATH_SKILL,
  "settings.yaml": "store: { dir: state }\n",
  "script.yaml": JSON.stringify(replies),
});

const CHAT = ["chat", "--model", "scripted:script.yaml"];

/** Runs a chat with lines from a pipe. */
function chat(
  lines: readonly string[],
  replies: readonly unknown[] = [],
  files: Readonly<Record<string, string>> = {},
): ReturnType<typeof skillgate> {
  return skillgate(CHAT, { cwd: project({ ...chatFiles(replies), ...files }), input: `${lines.join("\n")}\n` });
}

test(
  "shows servers with transport, number of tools and the first five names, in any case [G8]",
  { tags: "rest" },
  async () => {
    const { exit, stdout } = await chat(["/MCP"], [], { ".mcp.json": MCP_JSON });
    expect(exit).toBe(0);
    expect(stdout).toBe(`✓ filesystem (stdio): 14 tools
    read_file
    read_text_file
    read_media_file
    read_multiple_files
    write_file
    ... and 9 more
`);
  },
);

test("shows skills and their methods, and the commands [G8]", async () => {
  const { stdout } = await chat(["/tools", "/Tools mathskill", "/help"]);
  expect(stdout).toContain("MathSkill: 7 methods\n    Does sums.\n");
  expect(stdout).toContain("MathSkill.add\n    Add two numbers.\n");
  for (const name of "mcp tools runs approve deny model system save new help exit".split(" "))
    expect(stdout).toMatch(new RegExp(`^/${name}\\b`, "m"));
});

test("takes paths of files for text, and says what a mistyped command means [G8]", { tags: "rest" }, async () => {
  const lines = ["/path/to/file", "/etc", " /mcp", "/hepl", "/tools Mathskil"];
  const { exit, stdout, stderr } = await chat(lines, ["One.", "Two.", "Three."]);
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: "One.\nTwo.\nThree.\n" });
  expect(stderr).toContain("Unknown command: /hepl; did you mean /help?");
  expect(stderr).toContain("Unknown skill: Mathskil; did you mean MathSkill?");
});

test("lists the programs of the conversation, and one with its code and result [G7]", { tags: "rest" }, async () => {
  const code = "const sum = await device.MathSkill.add(2, 3);\nsum";
  const { stdout } = await chat(["2 + 3?", "/runs", "/runs s1", "/new", "/runs"], [{ code }, "5."]);
  const steady = stdout.replaceAll(/[\da-f-]{36}/g, "ID").replaceAll(/\d[\d.]* ms/g, "1 ms");
  expect(steady).toBe(`5.
s1 ok ID
    const sum = await device.MathSkill.add(2, 3);
    MathSkill.add ok 1 ms
s1 ok ID
    const sum = await device.MathSkill.add(2, 3);
    sum
    MathSkill.add ok 1 ms
    5
A new conversation begins
No programs yet
`);
});

test(
  "continues a program that waits, after /approve, and the model gets its result [P6, G7]",
  { tags: "rest" },
  async () => {
    const code = "const paid = await device.MathSkill.pay('Ada', 5); paid + '!'";
    const cwd = project(chatFiles([{ code }, "It was: {result}"]));
    const child = start([...CHAT, "--json"], { cwd });
    const events: Record<string, unknown>[] = [];
    const outcome = ended(child);
    let rest = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) {
        const event = JSON.parse(part) as Record<string, unknown>;
        events.push(event);
        if (event["type"] !== "done") continue;
        const { id } = events.find(({ type }) => type === "approval") ?? {};
        const isFirst = events.filter(({ type }) => type === "done").length === 1;
        if (isFirst) child.stdin?.write(`/approve ${String(id)}\n`);
        else child.stdin?.end("/approve nosuchid\n");
      }
    });
    child.stdin?.write("pay\n");
    expect((await outcome).exit).toBe(0);
    const types = events.map(({ type }) => String(type)).filter((type) => type !== "delta");
    expect(types.slice(types.indexOf("code"))).toEqual(
      "code plan call_started approval waiting done command call_ended result message turn usage message done command_error end".split(
        " ",
      ),
    );
    const waiting = events.find(({ type }) => type === "waiting");
    const approval = events.find(({ type }) => type === "approval");
    expect(waiting).toMatchObject({ step: "s1", approvals: [approval?.["id"]] });
    const [first, last] = events.filter(({ type }) => type === "done");
    expect([first?.["reason"], last?.["reason"], last?.["text"]]).toEqual([
      "waiting",
      "answer",
      "It was: paid 5 to Ada!",
    ]);
    expect(events.at(-2)).toMatchObject({ type: "command_error", error: { code: "APPROVAL_UNKNOWN" } });
  },
);

test("says that a program waits, and gives the model a denial as its result [P6]", { tags: "rest" }, async () => {
  const code = "await device.MathSkill.pay('Ada', 5)";
  const cwd = project(chatFiles([{ code }, "Not paid."]));
  const child = start(CHAT, { cwd });
  const outcome = ended(child);
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
    const [, id] = /\/approve (\w+) to approve it[^]*waits for an approval; 1 call/.exec(stderr) ?? [];
    if (id !== undefined && !child.stdin?.writableEnded) child.stdin?.end(`/deny ${id}\n`);
  });
  child.stdin?.write("pay\n");
  const { exit, stdout } = await outcome;
  expect(exit).toBe(0);
  expect(stdout).toMatch(/^Denied request \w+: MathSkill.pay for owner\nNot paid.\n$/);
  expect(stderr).toContain("MathSkill.pay refused");
});

test("changes the model and the system prompt, and keeps the conversation [G8]", { tags: "rest" }, async () => {
  const files = { "other.yaml": '["From the other: {result}"]' };
  const lines = [
    "hello",
    "/model scripted:other.yaml",
    "/model nosuch:x",
    "/system Speak like a sailor.",
    "/system",
    "ahoy",
  ];
  const { stdout, stderr } = await chat(lines, ["Hi."], files);
  expect(stdout).toContain("Hi.\nModel: scripted:other.yaml\n");
  expect(stdout).toContain("Speak like a sailor.");
  expect(stdout).toContain("From the other: ahoy");
  expect(stderr).toContain("Unknown provider of the model: nosuch");
});

test(
  "saves the conversation as Markdown and as a transcript that only its owner can read [G8]",
  { tags: "rest" },
  async () => {
    const cwd = project(chatFiles(["Hi."]));
    const input = "hello\\\nworld\n/save a.md\n/save a.jsonl\n/save a.md\n/save\n";
    const { stdout, stderr } = await skillgate(CHAT, { cwd, input });
    expect(stdout).toBe("Hi.\nSaved a.md\nSaved a.jsonl\n");
    expect(stderr).toContain("Cannot write a.md: ");
    expect(stderr).toContain("The file is missing; write /save chat.md");
    expect(readFileSync(join(cwd, "a.md"), "utf8")).toBe("## User\n\nhello\nworld\n\n## Assistant\n\nHi.\n");
    expect(statSync(join(cwd, "a.jsonl")).mode & 0o777).toBe(0o600);
    expect((await skillgate(["ask", "--replay", "a.jsonl"], { cwd })).stdout).toBe("Hi.\n");
  },
);

test("prints with --json each event as a line, and exits like the last message [G7]", { tags: "rest" }, async () => {
  const cwd = project(chatFiles([{ code: "device.MathSkill.add(2, 3)" }, "5."]));
  const { exit, stdout } = await skillgate([...CHAT, "--json"], { cwd, input: "2 + 3?\n/mcp\none more\n" });
  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const types = new Set(events.map(({ type }) => type));
  for (const type of "message delta code plan call_started call_ended result done command error end".split(" "))
    expect(types).toContain(type);
  expect(events.find(({ type }) => type === "command")).toEqual({ type: "command", name: "mcp", servers: [] });
  expect(exit).not.toBe(0);
});

test("shows an image of a result as the path of a file [G7]", { tags: "rest" }, async () => {
  const data = Buffer.from("not quite a PNG").toString("base64");
  const image = { type: "image", mimeType: "image/png", data };
  const code = `await device.MathSkill.echo(${JSON.stringify([image])})`;
  const { stderr } = await chat(["draw"], [{ code }, "Here."]);
  const path = /Image: (\/\S+\.png)/.exec(stderr)?.[1] ?? "";
  expect(readFileSync(path, "utf8")).toBe("not quite a PNG");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  rmSync(dirname(path), { recursive: true });
});

test("says in three lines how to get a model [G1]", async () => {
  const { exit, stdout, stderr } = await skillgate(["chat"], { cwd: project(), input: "hello\n" });
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
  expect(stderr).toMatch(/^No model is configured: .*\n.*\n.*\n.*\n$/);
});

test("stops the work at Ctrl-C without a terminal, and answers the next message [G7]", { tags: "rest" }, async () => {
  const cwd = project();
  const { path, next } = await meetingPoint(cwd);
  const replies = [{ code: `await device.MathSkill.wait(${JSON.stringify(path)})` }, "Next."];
  const child = start(CHAT, { cwd: project(chatFiles(replies)) });
  const outcome = ended(child);
  child.stdin?.end("wait\nnext\n");
  await next();
  child.kill("SIGINT");
  const { exit, stdout } = await outcome;
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: "Next.\n" });
});
