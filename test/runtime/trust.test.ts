import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";

import { trustProject, loadConfig } from "../../src/config/index.ts";
import { createRuntime, type Runtime } from "../../src/index.ts";
import { SERVER_DEFAULTS, serveHttp } from "../../src/surfaces/http/index.ts";
import { newClient } from "../surfaces/serving.ts";

let cwd: string;
let theirs: string;
let env: { readonly HOME: string };
beforeEach(() => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "skillgate-live-trust-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  [cwd, theirs, env] = [join(folder, "project"), join(folder, "theirs"), { HOME: join(folder, "home") }];
  mkdirSync(theirs);
  git(theirs, "init", "--quiet", "--initial-branch=main");
  publish({
    "skills/greeter.js": greeter("hello"),
    "skills/other.js": "export const greet = () => 'other';",
    "lib/words.js": "export const word = 1;",
  });
  git(folder, "clone", "--quiet", theirs, cwd);
});

const FIXTURE = resolve("test/fixtures/mcp/server.js");

const greeter = (word: string): string =>
  `import "../lib/words.js";\n/** Greets. */\nexport class GreeterSkill { greet() { return ${JSON.stringify(word)}; } }`;

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

function git(folder: string, ...args: readonly string[]): void {
  const user = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
  execFileSync("git", ["-C", folder, ...user, ...args], { stdio: "pipe" });
}

/** Commits files in the repository of another person, which the project is a clone of. */
function publish(files: Readonly<Record<string, string>>): void {
  write(theirs, files);
  git(theirs, "add", "--all");
  git(theirs, "commit", "--quiet", "-m", "change");
}

const trust = async (): Promise<void> => trustProject({ cwd, env }, (await loadConfig({ cwd, env })).trust);

async function open(options: { readonly watch?: boolean } = {}): Promise<Runtime> {
  const runtime = await createRuntime({ cwd, env, discover: true, trust: "recorded", ...options });
  onTestFinished(() => runtime.close());
  return runtime;
}

async function answer(runtime: Runtime, code: string): Promise<string> {
  const outcome = await runtime.run(code);
  return outcome.kind === "completed" ? String(outcome.value) : outcome.text;
}

const GREET = "device.GreeterSkill.greet()";
const OTHER = "device.OtherSkill.greet()";

/** Reads the changed files, as soon as the watch of the folder does. */
const reload = (runtime: Runtime): Promise<void> => runtime.reloadSkills();

test("says that a skill is held in a project that was never trusted [P12]", async () => {
  const runtime = await open();
  expect(runtime.catalog.skills).toEqual([]);
  expect(await answer(runtime, GREET)).toContain(
    "GreeterSkill is held: this folder is not trusted yet; run skillgate trust",
  );
  expect(runtime.describe("GreeterSkill.greet").text).toContain("GreeterSkill is held");
  expect(runtime.heldProblem).toMatchObject({ isAll: true });
});

test.each([
  ["skills/greeter.js", greeter("evil"), "the skill itself"],
  ["lib/words.js", "export const word = 'evil';", "a file that it imports"],
])(
  "holds only the skill that reads %s after a pull, at its start and after it: %s [P12]",
  { tags: "rest" },
  async (file, text) => {
    await trust();
    const running = await open();
    expect(await answer(running, GREET)).toBe("hello");
    publish({ [file]: text });
    git(cwd, "pull", "--quiet");
    await reload(running);
    expect(await answer(running, GREET)).toBe("hello");
    expect(running.heldProblem).toMatchObject({ error: `Held: ${file} changed by a pull`, isAll: false });
    const restarted = await open();
    expect(await answer(restarted, GREET)).toContain(
      `GreeterSkill is held: ${file} changed by a pull; run skillgate trust (SKILL_HELD)`,
    );
    expect(restarted.listHeldSkills()).toMatchObject([{ name: "GreeterSkill", source: "greeter.js" }]);
    expect(await answer(restarted, OTHER)).toBe("other");
    await trust();
    await reload(restarted);
    expect(restarted.heldProblem).toBe(undefined);
    if (file === "skills/greeter.js") expect(await answer(restarted, GREET)).toBe("evil");
  },
);

test(
  "answers over MCP and HTTP that a skill is held, with the file and the command [P12]",
  { tags: "rest" },
  async () => {
    await trust();
    publish({ "skills/greeter.js": greeter("evil") });
    git(cwd, "pull", "--quiet");
    const runtime = await open();
    const server = await serveHttp(runtime, { ...SERVER_DEFAULTS, port: 0, auth: false, drainSeconds: 1 });
    onTestFinished(() => void server.close());
    const client = await newClient(server.url);
    const held = "GreeterSkill is held: skills/greeter.js changed by a pull; run skillgate trust";
    const call = async (name: string, args: Readonly<Record<string, string>>): Promise<string> =>
      JSON.stringify(await client.callTool({ name, arguments: args }));
    expect(await call("run_code", { code: GREET })).toContain(held);
    expect(await call("describe_function", { path: "GreeterSkill.greet" })).toContain(held);
    const headers = { "content-type": "application/json" };
    const post = async (path: string, body: object): Promise<string> =>
      (await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) })).text();
    expect(await post("/tools/GreeterSkill.greet", {})).toContain(held);
    expect(
      await post("/rpc", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "GreeterSkill.greet" } }),
    ).toContain(held);
    expect(await (await fetch(`${server.url}/health`)).text()).toContain('"degraded"');
    expect(await post("/tools/OtherSkill.greet", {})).toContain("other");
  },
);

test(
  "holds a changed entry of a server while it runs, and leaves servers of unchanged entries alone [P12, M10]",
  { tags: "rest" },
  async () => {
    const entry = (...more: readonly string[]) => ({ command: process.execPath, args: [FIXTURE, ...more] });
    const servers = (content: object): string => JSON.stringify({ mcpServers: content });
    publish({ ".mcp.json": servers({ same: entry(), other: entry() }) });
    git(cwd, "pull", "--quiet");
    await trust();
    const runtime = await open({ watch: true });
    await runtime.ready;
    const pid = (skill: string): Promise<unknown> => runtime.call(`${skill}.pid`, {});
    const before = [await pid("SameMCP"), await pid("OtherMCP")];
    const told = new Promise<string>((resolve) => {
      runtime.on("log", ({ text }) => text.includes("is held") && resolve(text));
    });
    publish({ ".mcp.json": servers({ same: entry(), other: entry("--evil"), third: entry() }) });
    git(cwd, "pull", "--quiet");
    expect(await told).toContain("MCP server 'other' is held: .mcp.json changed by a pull; run skillgate trust");
    expect([await pid("SameMCP"), await pid("OtherMCP")]).toEqual(before);
    expect(runtime.servers.find(({ name }) => name === "third")).toMatchObject({
      status: "error",
      error: "MCP server 'third' is held: .mcp.json changed by a pull; run skillgate trust",
    });
    const started = new Promise<void>((resolve) => {
      runtime.on("catalog", ({ skills }) => skills.some(({ name }) => name === "ThirdMCP") && resolve());
    });
    await trust();
    await started;
    await runtime.ready;
    expect(await pid("SameMCP")).toBe(before[0]);
    expect(await pid("OtherMCP")).not.toBe(before[1]);
  },
);

test(
  "holds a new skill that a pull has brought, also while the runtime watches the folder [P12]",
  { tags: "rest" },
  async () => {
    await trust();
    const runtime = await open({ watch: true });
    publish({ "skills/theirs.js": "export const evil = () => 1;" });
    git(cwd, "pull", "--quiet");
    await reload(runtime);
    expect(await answer(runtime, "device.TheirsSkill.evil()")).toContain("skills/theirs.js changed by a pull");
    write(cwd, { "skills/mine.js": "export const own = () => 'mine';" });
    await reload(runtime);
    expect(await answer(runtime, "device.MineSkill.own()")).toBe("mine");
    const trusted = new Promise<void>((resolve) => {
      runtime.on("catalog", ({ skills }) => skills.some(({ name }) => name === "TheirsSkill") && resolve());
    });
    await trust();
    await trusted;
    expect(await answer(runtime, "device.TheirsSkill.evil()")).toBe("1");
  },
);

const NOTE = (word: string): string => `format: skillgate-saved-1
name: NoteSkill
description: Returns a word
method: run
run: 4d7d08e3
cassette: note.cassette.json
source: '"${word}"'
`;

test(
  "keeps the version of a saved skill in use that a pull has changed, and holds it at the next start [P12, R6]",
  { tags: "rest" },
  async () => {
    publish({ "skills/note.saved.yaml": NOTE("hello") });
    git(cwd, "pull", "--quiet");
    await trust();
    const running = await open({ watch: true });
    expect(await answer(running, "device.NoteSkill.run()")).toBe("hello");
    publish({ "skills/note.saved.yaml": NOTE("evil"), "skills/new.saved.yaml": NOTE("evil").replace("Note", "New") });
    git(cwd, "pull", "--quiet");
    await reload(running);
    expect(await answer(running, "device.NoteSkill.run()")).toBe("hello");
    expect(running.problems).toContainEqual({
      source: "note.saved.yaml",
      error:
        "note.saved.yaml is held: skills/note.saved.yaml changed by a pull; run skillgate trust. Until then, its version before the change stays in use",
      isHeld: true,
    });
    expect(running.listHeldSkills()).toMatchObject([{ name: "NewSkill", source: "new.saved.yaml" }]);
    const restarted = await open();
    expect(await answer(restarted, "device.NoteSkill.run()")).toContain(
      "NoteSkill is held: skills/note.saved.yaml changed by a pull; run skillgate trust (SKILL_HELD)",
    );
    await trust();
    await reload(running);
    expect(await answer(running, "device.NoteSkill.run()")).toBe("evil");
    expect(running.listHeldSkills()).toEqual([]);
  },
);

test(
  "loads twenty saves of the author without a question, before and after a restart [P12]",
  { tags: "rest" },
  async () => {
    await trust();
    const runtime = await open();
    for (let save = 0; save < 20; save++) {
      write(cwd, { "skills/greeter.js": greeter(`save ${save}`), "lib/words.js": `export const word = ${save};` });
      if (save % 10 === 9) git(cwd, "commit", "--quiet", "--all", "-m", "save");
      await reload(runtime);
      expect(await answer(runtime, GREET)).toBe(`save ${save}`);
    }
    expect(runtime.heldProblem).toBe(undefined);
    expect(await answer(await open(), GREET)).toBe("save 19");
  },
);

test("asks about each change with the setting trust: content [P12]", { tags: "rest" }, async () => {
  write(cwd, { "settings.yaml": "trust: content\n" });
  await trust();
  write(cwd, { "skills/greeter.js": greeter("own") });
  expect(await answer(await open(), GREET)).toContain(
    "GreeterSkill is held: skills/greeter.js has changed since this folder was trusted",
  );
});

test(
  "keeps settings and a policy in force that a pull has changed, and holds all of it after a restart [P12]",
  { tags: "rest" },
  async () => {
    write(cwd, { "policies/tools.yaml": "OtherSkill.greet: { decision: deny }\n" });
    git(cwd, "add", "--all");
    git(cwd, "commit", "--quiet", "-m", "own");
    await trust();
    const running = await open({ watch: true });
    const refused = new Promise<string>((resolve) => {
      running.on("log", ({ text }) => text.includes("policy") && resolve(text));
    });
    git(cwd, "push", "--quiet", "origin", "HEAD:other");
    git(theirs, "merge", "--quiet", "other");
    publish({ "policies/tools.yaml": "OtherSkill.greet: { decision: allow }\n" });
    git(cwd, "pull", "--quiet", "--no-rebase", "--no-edit");
    expect(await refused).toBe(
      "Cannot use the changed policy: policies/tools.yaml is held: policies/tools.yaml changed by a pull; run skillgate trust. The policy before the change stays in force",
    );
    expect(await answer(running, OTHER)).toContain("POLICY_DENIED");
    expect(await answer(await open(), OTHER)).toContain("OtherSkill is held: policies/tools.yaml changed by a pull");
  },
);
