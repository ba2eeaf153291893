import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";

import { BIN, environment, MATH_SKILL, project, runProcess, skillgate } from "../command.ts";

const COMMAND = process.execPath;

/** The arguments of an entry that serves a project. */
function argsFor(cwd: string): readonly string[] {
  return [BIN, "serve", "--stdio", "--folder", cwd];
}

type ToFile = (args: readonly string[]) => unknown;

const inServers: ToFile = (args) => ({ mcpServers: { skillgate: { command: COMMAND, args } } });
const inMcp: ToFile = (args) => ({ mcp: { skillgate: { type: "local", command: [COMMAND, ...args], enabled: true } } });

const CLIENTS: readonly (readonly [client: string, file: string, content: ToFile])[] = [
  ["claude-code", ".claude.json", (args) => ({ mcpServers: { skillgate: { type: "stdio", command: COMMAND, args } } })],
  ["claude-desktop", ".config/Claude/claude_desktop_config.json", inServers],
  ["cursor", ".cursor/mcp.json", inServers],
  [
    "vscode",
    ".config/Code/User/mcp.json",
    (args) => ({ servers: { skillgate: { type: "stdio", command: COMMAND, args } } }),
  ],
  ["opencode", ".config/opencode/opencode.json", inMcp],
  ["windsurf", ".codeium/windsurf/mcp_config.json", inServers],
  ["gemini", ".gemini/settings.json", inServers],
  [
    "zed",
    ".config/zed/settings.json",
    (args) => ({ context_servers: { skillgate: { source: "custom", command: COMMAND, args, env: {} } } }),
  ],
  [
    "copilot",
    ".copilot/mcp-config.json",
    (args) => ({ mcpServers: { skillgate: { type: "local", command: COMMAND, args, tools: ["*"] } } }),
  ],
  ["qwen", ".qwen/settings.json", inServers],
  ["cline", ".cline/data/settings/cline_mcp_settings.json", inServers],
  ["continue", ".continue/mcpServers/skillgate.json", inServers],
  ["kilo", ".config/kilo/kilo.jsonc", inMcp],
  ["amp", ".config/amp/settings.json", (args) => ({ "amp.mcpServers": { skillgate: { command: COMMAND, args } } })],
];

test.skipIf(process.platform !== "linux").each(CLIENTS)(
  "writes with connect %s ~/%s, and removes the entry with disconnect [V1]",
  async (client, file, content) => {
    const cwd = project();
    const path = join(dirname(cwd), "home", file);
    const connected = await skillgate(["connect", client, "--no-check"], { cwd });
    expect(connected).toMatchObject({
      exit: 0,
      stderr: "",
      stdout: expect.stringContaining(`skillgate is in ~/${file}`),
    });
    const written = readFileSync(path, "utf8");
    expect(JSON.parse(written)).toEqual(content(argsFor(cwd)));
    const again = await skillgate(["connect", client, "--json"], { cwd });
    expect(JSON.parse(again.stdout)).toMatchObject({ client, file: `~/${file}`, changed: false });
    expect(readFileSync(path, "utf8")).toBe(written);
    expect(await skillgate(["disconnect", client], { cwd })).toMatchObject({ exit: 0 });
    expect(JSON.stringify(JSON.parse(readFileSync(path, "utf8")))).not.toContain("skillgate");
  },
);

test("writes the file of Cline that exists, and the one that Cline's variable names [V1]", async () => {
  const cwd = project();
  const home = join(dirname(cwd), "home");
  const file = join(home, ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "");
  await skillgate(["connect", "cline", "--no-check"], { cwd });
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(inServers(argsFor(cwd)));
  const other = join(home, "cline.json");
  const env = { CLINE_MCP_SETTINGS_PATH: other };
  writeFileSync(other, "{}");
  await skillgate(["connect", "cline", "--no-check"], { cwd, env });
  expect(JSON.parse(readFileSync(other, "utf8"))).toEqual(inServers(argsFor(cwd)));
});

test(
  "starts the entry once without a PATH, and serves the project from another folder [V1]",
  { tags: "rest" },
  async () => {
    const cwd = project({ "skills/math.js": MATH_SKILL });
    const { exit, stdout, stderr } = await skillgate(["connect", "cursor"], { cwd });
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(stdout).toBe(
      `Connected Cursor: skillgate is in ~/.cursor/mcp.json (checked); restart Cursor\nIt serves the project ${cwd}\n`,
    );
    const { mcpServers } = JSON.parse(readFileSync(join(dirname(cwd), "home/.cursor/mcp.json"), "utf8"));
    const { command, args } = mcpServers.skillgate;
    const client = new Client({ name: "elsewhere", version: "1" });
    const env = { ...environment(cwd), PATH: "" } as Record<string, string>;
    await client.connect(new StdioClientTransport({ command, args, cwd: dirname(cwd), env, stderr: "ignore" }));
    onTestFinished(() => client.close());
    const code = "device.MathSkill.add(2, 3)";
    expect((await client.callTool({ name: "run_code", arguments: { code } })).content).toEqual([
      { type: "text", text: "5" },
    ]);
  },
);

test("writes nothing if the entry does not start, and says why [V1]", async () => {
  const cwd = project();
  const { exit, stdout, stderr } = await skillgate(["connect", "cursor", "--skills", "gone"], { cwd });
  expect({ exit, stdout }).toEqual({ exit: 6, stdout: "" });
  expect(stderr).toContain(`Cannot connect: this command does not start: ${COMMAND} ${argsFor(cwd).join(" ")}`);
  expect(stderr).toContain('gone": the folder does not exist');
  expect(stderr).toContain("--no-check");
  expect(existsSync(join(dirname(cwd), "home/.cursor/mcp.json"))).toBe(false);
});

test("connects a client with a profile, whose methods it serves [V1, O9]", { tags: "rest" }, async () => {
  const cwd = project({
    "skills/math.js": MATH_SKILL,
    "settings.yaml":
      "profiles:\n  sums: { methods: [MathSkill.add], expose: tools, tools: { MathSkill.add: { name: sum } } }\n",
  });
  const wrong = await skillgate(["connect", "cursor", "--profile", "sum"], { cwd });
  expect(wrong).toMatchObject({ exit: 6, stderr: expect.stringContaining("Unknown profile: sum; did you mean sums?") });
  expect(await skillgate(["connect", "cursor", "--profile", "sums"], { cwd })).toMatchObject({ exit: 0, stderr: "" });
  const { mcpServers } = JSON.parse(readFileSync(join(dirname(cwd), "home/.cursor/mcp.json"), "utf8"));
  const { command, args } = mcpServers.skillgate;
  expect(args).toEqual([...argsFor(cwd), "--profile", "sums"]);
  for (let start = 0; start < 2; start++) {
    const client = new Client({ name: "elsewhere", version: "1" });
    const env = environment(cwd) as Record<string, string>;
    await client.connect(new StdioClientTransport({ command, args, cwd: dirname(cwd), env, stderr: "ignore" }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["MathSkill__sum"]);
    const called = await client.callTool({ name: "MathSkill__sum", arguments: { a: 2, b: 3 } });
    expect(called.content).toEqual([{ type: "text", text: "5" }]);
    await client.close();
  }
  const overHttp = await runProcess(["serve", "--http", "--port", "0", "--profile", "sums"], { cwd });
  expect(overHttp).toMatchObject({ exit: 2, stderr: expect.stringContaining("/mcp/NAME") });
});

test("serves the folder in which the client starts it with --no-folder, and in a folder that is not a project [V1]", async () => {
  const cwd = project();
  const outside = dirname(cwd);
  for (const [args, folder] of [
    [["--no-folder"], cwd],
    [[], outside],
    [["--scope", "project"], cwd],
  ] as const) {
    const { stdout } = await skillgate(["connect", "cursor", "--print", ...args], { cwd: folder });
    expect(JSON.parse(stdout).mcpServers.skillgate.args).toEqual([BIN, "serve", "--stdio"]);
  }
});

const SHARED = `{
  "mcpServers": {
    "files": { "command": "files", "args": ["."] }, // shared
    "notes": { "command": "notes" }
  }
}
`;

test("says that a client would see the servers of .mcp.json twice, and moves them with --move [V1]", async () => {
  const cwd = project({ ".mcp.json": SHARED, "mcp.json": '{ "mcpServers": { "own": { "command": "own" } } }' });
  const warned = await skillgate(["connect", "claude-code", "--no-check"], { cwd });
  expect(warned).toMatchObject({ exit: 0, stdout: expect.stringContaining("Connected Claude Code") });
  expect(warned.stderr).toBe(
    "Claude Code reads .mcp.json, too, and sees these servers twice: files, notes. " +
      "skillgate connect claude-code --move moves them to mcp.json, which only Skillgate reads\n",
  );
  const moved = await skillgate(["connect", "claude-code", "--move"], { cwd });
  expect(moved).toMatchObject({
    exit: 0,
    stderr: "",
    stdout: expect.stringContaining("Moved files, notes from .mcp.json to mcp.json\n"),
  });
  expect(JSON.parse(readFileSync(join(cwd, ".mcp.json"), "utf8"))).toEqual({ mcpServers: {} });
  expect(JSON.parse(readFileSync(join(cwd, "mcp.json"), "utf8"))).toEqual({
    mcpServers: { own: { command: "own" }, files: { command: "files", args: ["."] }, notes: { command: "notes" } },
  });
  const cursor = await skillgate(["connect", "cursor", "--no-check"], { cwd });
  expect(cursor.stderr).toBe("");
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
  await skillgate(["connect", "codex", "--no-check"], { cwd });
  const list = JSON.stringify(argsFor(cwd)).replaceAll(",", ", ");
  expect(readFileSync(path, "utf8")).toBe(
    `${CODEX}\n[mcp_servers.skillgate]\ncommand = ${JSON.stringify(COMMAND)}\nargs = ${list}\n`,
  );
  expect((await skillgate(["connect", "codex"], { cwd })).stdout).toBe(
    "Codex is already connected, in ~/.codex/config.toml\n",
  );
  await skillgate(["disconnect", "codex"], { cwd });
  expect(readFileSync(path, "utf8")).toBe(CODEX);
  expect((await skillgate(["disconnect", "codex"], { cwd })).stdout).toBe(
    "Codex is not connected: ~/.codex/config.toml has no skillgate\n",
  );
  writeFileSync(path, 'model = "gpt-5"\n');
  await skillgate(["connect", "codex", "--no-check"], { cwd });
  expect(await skillgate(["disconnect", "codex"], { cwd })).toMatchObject({ exit: 0 });
  expect(readFileSync(path, "utf8")).toBe('model = "gpt-5"\n');
});

test("keeps comments with connect, and keys that the user added to the entry [V1]", { tags: "rest" }, async () => {
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
  const list = JSON.stringify([BIN, "serve", "--stdio"]).replaceAll(",", ", ");
  expect(readFileSync(join(cwd, ".cursor/mcp.json"), "utf8")).toBe(
    text.replace('"command": "skillgate", "args": ["serve"]', `"command": ${JSON.stringify(COMMAND)}, "args": ${list}`),
  );
});

test("writes nothing with connect --print, and passes options on as absolute paths [V1]", async () => {
  const cwd = project({ "servers.json": "{}" });
  const { exit, stdout, stderr } = await skillgate(["connect", "zed", "--print", "--mcp-config", "servers.json"], {
    cwd,
  });
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "Add this to ~/.config/zed/settings.json\n" });
  expect(JSON.parse(stdout).context_servers.skillgate.args).toEqual([
    ...argsFor(cwd),
    "--mcp-config",
    join(cwd, "servers.json"),
  ]);
  expect(existsSync(join(dirname(cwd), "home", ".config"))).toBe(false);
});

test.each([
  [["connect", "cursr"], "Unknown client: cursr; did you mean cursor?"],
  [
    ["connect", "emacs"],
    "Unknown client: emacs; use claude-code, claude-desktop, cursor, vscode, codex, opencode, windsurf, gemini, zed, copilot, qwen, cline, continue, kilo or amp",
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
