import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

import { BIN, project, skillgate } from "./command.ts";

const ARGS = [BIN, "serve", "--stdio"];
const COMMAND = process.execPath;
const LIST = JSON.stringify(ARGS).replaceAll(",", ", ");

test.skipIf(process.platform !== "linux").each([
  ["claude-code", ".claude.json", { mcpServers: { skillgate: { type: "stdio", command: COMMAND, args: ARGS } } }],
  [
    "claude-desktop",
    ".config/Claude/claude_desktop_config.json",
    { mcpServers: { skillgate: { command: COMMAND, args: ARGS } } },
  ],
  ["cursor", ".cursor/mcp.json", { mcpServers: { skillgate: { command: COMMAND, args: ARGS } } }],
  ["vscode", ".config/Code/User/mcp.json", { servers: { skillgate: { type: "stdio", command: COMMAND, args: ARGS } } }],
  [
    "opencode",
    ".config/opencode/opencode.json",
    { mcp: { skillgate: { type: "local", command: [COMMAND, ...ARGS], enabled: true } } },
  ],
  ["windsurf", ".codeium/windsurf/mcp_config.json", { mcpServers: { skillgate: { command: COMMAND, args: ARGS } } }],
  ["gemini", ".gemini/settings.json", { mcpServers: { skillgate: { command: COMMAND, args: ARGS } } }],
  [
    "zed",
    ".config/zed/settings.json",
    { context_servers: { skillgate: { source: "custom", command: COMMAND, args: ARGS, env: {} } } },
  ],
])("writes with connect %s ~/%s, and removes the entry with disconnect [V1]", async (client, file, content) => {
  const cwd = project();
  const path = join(dirname(cwd), "home", file);
  const connected = await skillgate(["connect", client], { cwd });
  expect(connected).toMatchObject({
    exit: 0,
    stderr: "",
    stdout: expect.stringContaining(`skillgate is in ~/${file}`),
  });
  const written = readFileSync(path, "utf8");
  expect(JSON.parse(written)).toEqual(content);
  const again = await skillgate(["connect", client, "--json"], { cwd });
  expect(JSON.parse(again.stdout)).toMatchObject({ client, file: `~/${file}`, changed: false });
  expect(readFileSync(path, "utf8")).toBe(written);
  expect(await skillgate(["disconnect", client], { cwd })).toMatchObject({ exit: 0 });
  expect(JSON.stringify(JSON.parse(readFileSync(path, "utf8")))).not.toContain("skillgate");
});

const CODEX = `# mine
model = "gpt-5" # best
[mcp_servers.docs] # keep
command = "x"
`;

test("keeps the TOML of codex with connect, and restores the same file with disconnect [V1]", async () => {
  const cwd = project();
  const path = join(dirname(cwd), "home", ".codex", "config.toml");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, CODEX);
  await skillgate(["connect", "codex"], { cwd });
  expect(readFileSync(path, "utf8")).toBe(
    `${CODEX}\n[mcp_servers.skillgate]\ncommand = ${JSON.stringify(COMMAND)}\nargs = ${LIST}\n`,
  );
  expect((await skillgate(["connect", "codex"], { cwd })).stdout).toBe(
    "Codex is already connected, in ~/.codex/config.toml\n",
  );
  await skillgate(["disconnect", "codex"], { cwd });
  expect(readFileSync(path, "utf8")).toBe(CODEX);
  expect((await skillgate(["disconnect", "codex"], { cwd })).stdout).toBe(
    "Codex is not connected: ~/.codex/config.toml has no skillgate\n",
  );
});

test("keeps comments with connect, and keys that the user added to the entry [V1]", async () => {
  const text = `{
  // mine
  "mcpServers": {
    "skillgate": { "command": "skillgate", "args": ["serve"], "env": { "A": "1" } }, // ours
    "x": { "command": "x" }
  }
}
`;
  const cwd = project({ ".cursor/mcp.json": text });
  const { exit } = await skillgate(["connect", "cursor", "--scope", "project"], { cwd });
  expect(exit).toBe(0);
  expect(readFileSync(join(cwd, ".cursor/mcp.json"), "utf8")).toBe(
    text.replace('"command": "skillgate", "args": ["serve"]', `"command": ${JSON.stringify(COMMAND)}, "args": ${LIST}`),
  );
});

test("writes nothing with connect --print, and passes options on as absolute paths [V1]", async () => {
  const cwd = project({ "servers.json": "{}" });
  const { exit, stdout, stderr } = await skillgate(["connect", "zed", "--print", "--mcp-config", "servers.json"], {
    cwd,
  });
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "Add this to ~/.config/zed/settings.json\n" });
  expect(JSON.parse(stdout).context_servers.skillgate.args).toEqual([
    ...ARGS,
    "--mcp-config",
    join(cwd, "servers.json"),
  ]);
  expect(existsSync(join(dirname(cwd), "home", ".config"))).toBe(false);
});

test("connects Skillgate by its name if a shell finds it [V1]", async () => {
  const cwd = project();
  const bin = join(dirname(cwd), "bin");
  mkdirSync(bin);
  const { symlinkSync, chmodSync } = await import("node:fs");
  chmodSync(BIN, 0o755);
  symlinkSync(BIN, join(bin, "skillgate"));
  const env = { PATH: `${bin}:${process.env["PATH"]}` };
  const { stdout } = await skillgate(["connect", "cursor", "--print"], { cwd, env });
  expect(JSON.parse(stdout)).toEqual({
    mcpServers: { skillgate: { command: "skillgate", args: ["serve", "--stdio"] } },
  });
});

test.each([
  [["connect", "cursr"], "Unknown client: cursr; did you mean cursor?"],
  [
    ["connect", "emacs"],
    "Unknown client: emacs; use claude-code, claude-desktop, cursor, vscode, codex, opencode, windsurf, gemini or zed",
  ],
  [["connect", "windsurf", "-s", "project"], "Windsurf has no project file; use --scope user"],
  [["connect", "cursor", "-s", "here"], "Unknown scope: here; use user or project"],
  [
    ["connect", "claude", "-s", "project", "--name", "taken"],
    "Another server is named taken in .mcp.json; choose a different name with --name",
  ],
  [
    ["disconnect", "claude", "-s", "project", "--name", "taken"],
    "Cannot disconnect: taken in .mcp.json is not Skillgate",
  ],
  [["conect", "cursor"], "Unknown command: conect; did you mean connect?"],
])("rejects %j as wrong usage, with a suggestion [V1]", async (args, says) => {
  const taken = '{ "mcpServers": { "taken": { "command": "x" } } }';
  const cwd = project({ ".mcp.json": taken });
  expect(await skillgate(args, { cwd })).toMatchObject({ exit: 2, stdout: "", stderr: expect.stringContaining(says) });
  expect(readFileSync(join(cwd, ".mcp.json"), "utf8")).toBe(taken);
});

test("leaves a client's file that cannot be parsed unchanged [V1]", async () => {
  const cwd = project({ ".cursor/mcp.json": "{ broken" });
  const { exit, stderr } = await skillgate(["connect", "cursor", "-s", "project"], { cwd });
  expect({ exit, stderr }).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining(".cursor/mcp.json line 1, column 3"),
  });
  expect(readFileSync(join(cwd, ".cursor/mcp.json"), "utf8")).toBe("{ broken");
});
