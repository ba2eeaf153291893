import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

import { expect, test } from "vitest";

import { ended, MATH_SKILL, MCP_JSON, project, runProcess, skillgate, start } from "../command.ts";

const DOWN = JSON.stringify({
  mcpServers: { down: { command: process.execPath, args: ["-e", "console.error('out of order'); process.exit(7)"] } },
});

test("prints with doctor one line for each check that passes [O1]", { tags: "rest" }, async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL, ".mcp.json": MCP_JSON });
  const { exit, stdout, stderr } = await skillgate(["doctor"], { cwd });
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
  const lines = stdout.trimEnd().split("\n");
  expect(lines[0]).toBe(`✓ Node.js: ${process.versions.node}`);
  expect(lines[1]).toMatch(/^✓ TypeScript: [\d.]+$/);
  expect(lines[2]).toBe("✓ Configuration: .mcp.json");
  expect(lines[3]).toBe("✓ Store: none yet; it is created when it is first needed");
  expect(lines[4]).toMatch(/^✓ Sandbox: ran a program in [\d.]+ ms$/);
  expect(lines[5]).toBe("✓ Skills: MathSkill (7 methods)");
  expect(lines[6]).toBe("✓ Model: none (only ask and chat need one)");
  expect(lines.slice(7, 10).every((line) => line.startsWith("    "))).toBe(true);
  expect(lines[10]).toMatch(/^✓ MCP server filesystem: connected as FilesystemMCP, \d+ tools$/);
  expect(lines).toHaveLength(11);
});

test("names with doctor the skills folder of the settings that is empty, or does not exist [O1]", async () => {
  const cwd = project({ "settings.yaml": "skills: { dir: code }\n" });
  const missing = await skillgate(["doctor"], { cwd });
  expect(missing.stdout).toContain("\n! Skills: none, because code does not exist\n");
  mkdirSync(join(cwd, "code"));
  expect((await skillgate(["doctor"], { cwd })).stdout).toContain("\n✓ Skills: none in code\n");
});

test(
  "exits from doctor with 6 for a server that is down, with the end of its stderr [O1]",
  { tags: "rest" },
  async () => {
    const cwd = project({ "skills/math.js": MATH_SKILL, "mcp.json": DOWN });
    const { exit, stdout } = await skillgate(["doctor"], { cwd });
    expect(exit).toBe(6);
    expect(stdout).toMatch(/\n✗ MCP server down: error: .*exited with code 7.*\n {4}out of order\n$/);
  },
);

test("reports with doctor a mistake in a working skill as a warning [O1]", { tags: "rest" }, async () => {
  const cwd = project({ "skills/loose.js": "export class LooseSkill { take(anything) {} }" });
  const { exit, stdout } = await skillgate(["doctor"], { cwd });
  expect(exit).toBe(0);
  expect(stdout).toMatch(/\n✓ Skills: LooseSkill \(1 method\)\n! Problem: .*loose\.js/);
});

test(
  "exits from doctor with 2 for problems that the user must fix, even if a server is down [O1]",
  { tags: "rest" },
  async () => {
    const cwd = project({ "skills/broken.js": "export class {", "mcp.json": DOWN, ".mcp.json": "{" });
    const { exit, stdout } = await skillgate(["doctor", "--json"], { cwd });
    expect(exit).toBe(2);
    const { ok, checks } = JSON.parse(stdout);
    expect(ok).toBe(false);
    const failed = checks.filter(({ status }: { status: string }) => status === "error");
    expect(failed.map(({ kind, says }: { kind: string; says: string }) => [kind, says])).toEqual([
      ["configuration", expect.stringContaining(".mcp.json")],
      ["configuration", expect.stringContaining("broken.js")],
      ["server", expect.stringContaining("exited with code 7")],
    ]);
  },
);

test("continues doctor when the named settings file cannot be read [O1]", async () => {
  const { exit, stdout } = await skillgate(["doctor", "--settings", "nowhere.yaml"], { cwd: project() });
  expect(exit).toBe(2);
  expect(stdout).toMatch(
    /^✓ Node\.js: .*\n.*\n.*\n✗ Problem: Cannot read the configuration: nowhere\.yaml: it does not exist/,
  );
});

test("reports a mistake in the section of the server, which only serve reads [O1]", async () => {
  const cwd = project({ "settings.yaml": "server:\n  prot: 1\n" });
  const { exit, stdout } = await skillgate(["doctor"], { cwd });
  expect(exit).toBe(2);
  expect(stdout).toContain("server has the unknown setting prot; did you mean port?");
});

test(
  "warns with doctor of a setting that looks like a secret, and is not declared as one [O1, P9]",
  { tags: "rest" },
  async () => {
    const schema = {
      apiKey: { type: "string" },
      author: { type: "string" },
      pin_code: { type: "string" },
      token: { type: "string", writeOnly: true },
    };
    const skill = `import { defineSkill } from "skillgate";
    export default defineSkill({ name: "MailSkill", description: "Mail", settings: { type: "object", properties: ${JSON.stringify(schema)} }, methods: { send: { description: "Send", run: () => 1 } } });`;
    const { exit, stdout } = await skillgate(["doctor"], { cwd: project({ "skills/mail.js": skill }) });
    expect(exit).toBe(0);
    expect(stdout).toContain(
      "! Setting: apiKey of MailSkill looks like a secret, and is not masked\n    Write writeOnly: true in its schema",
    );
    expect(stdout.match(/looks like a secret/g)).toHaveLength(1);
  },
);

test("says with doctor that a store cannot be kept, and once while serving [O1, S5]", { tags: "rest" }, async () => {
  const cwd = project();
  const env = { NODE_OPTIONS: `--require ${resolve("test/fixtures/store/hide-sqlite.cjs")}` };
  const { stdout } = await runProcess(["doctor"], { cwd, env });
  expect(stdout).toMatch(/\n! Store: Cannot keep the store in .*: Node [\d.]+ has no SQLite, .*npm install libsql@/);
  const server = start(["serve", "--http", "--port", "0", "--no-auth"], { cwd, env });
  const end = ended(server);
  for await (const line of createInterface({ input: server.stderr! })) if (line.startsWith("Serving")) break;
  server.kill("SIGTERM");
  const { stderr } = await end;
  expect(stderr.match(/Cannot keep the store/g)).toHaveLength(1);
});
