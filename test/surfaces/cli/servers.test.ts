import { resolve } from "node:path";

import { expect, test } from "vitest";

import { ended, FILESYSTEM_SERVER, MATH_SKILL, MCP_JSON, project, skillgate, start } from "./command.ts";

const SERVERS = JSON.stringify({
  mcpServers: {
    filesystem: { command: process.execPath, args: [FILESYSTEM_SERVER, "."] },
    down: { command: process.execPath, args: ["-e", "console.error('out of order'); process.exit(7)"] },
    off: { command: "x", disabled: true },
    secret: { command: "x", env: { TOKEN: "${NO_SUCH_VARIABLE}" } },
  },
});

test("lists each server with its status and its number of tools, and exits with 6 for a failed one [M10]", async () => {
  const cwd = project({ "mcp.json": SERVERS });
  const { exit, stdout, stderr } = await skillgate(["mcp", "list"], { cwd });
  expect({ exit, stderr }).toEqual({ exit: 6, stderr: "" });
  const rows = stdout.trimEnd().split("\n");
  expect(rows).toHaveLength(4);
  expect(rows).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^✓ filesystem {2}FilesystemMCP {2}stdio {2}connected {3}\d+ tools$/),
      expect.stringMatching(
        /^✗ down {8}DownMCP {8}stdio {2}error {7}Cannot start the MCP server: "down" exited with code 7/,
      ),
      expect.stringMatching(/^– off {9}OffMCP {9}stdio {2}disabled$/),
      expect.stringMatching(
        /^✗ secret {6}SecretMCP {6}stdio {2}error {7}missing environment variable NO_SUCH_VARIABLE$/,
      ),
    ]),
  );
});

test.each([["mcp list"], ["doctor"]])(
  "names with %s an address that two servers have [M10] [M7]",
  { tags: "rest" },
  async (command) => {
    const uri = "ui://get-time/mcp-app.html";
    const clock = JSON.stringify({ resources: [{ uri, name: "face" }] });
    const entry = (name: string) => ({ command: process.execPath, args: [DESCRIBED, `${name}.json`] });
    const cwd = project({
      ".mcp.json": JSON.stringify({ mcpServers: { vue: entry("vue"), react: entry("react") } }),
      "vue.json": clock,
      "react.json": clock,
    });
    const { exit, stdout, stderr } = await skillgate(command.split(" "), { cwd });
    expect(exit).toBe(0);
    expect(stdout + stderr).toContain(
      `${uri} is an address of the servers react and vue; clients get that of vue as ui://vue.skillgate/get-time/mcp-app.html`,
    );
  },
);

const DESCRIBED = resolve("test/fixtures/mcp/described-server.js");

/** One server that works, and one that never answers. */
const MUTE = JSON.stringify({
  mcpServers: {
    mute: { command: process.execPath, args: ["-e", "process.stdin.resume()"] },
    filesystem: { command: process.execPath, args: [FILESYSTEM_SERVER, "."] },
  },
});

test.each([
  [
    "mcp list",
    /^✓ filesystem .*tools\n– mute .* connecting {2}no answer within 5 s; wait .*: skillgate mcp test mute\n$/,
    6,
  ],
  ["doctor", /\n✓ MCP server filesystem: .*tools\n! MCP server mute: connecting: no answer within 5 s; wait .*\n$/, 0],
])(
  "prints with %s each server once it is connected, and waits 5 s for one that does not answer [M10]",
  { tags: "rest" },
  async (command, output, code) => {
    const cwd = project({ "mcp.json": MUTE });
    const child = start(command.split(" "), { cwd });
    const end = ended(child);
    const early = await new Promise<string>((resolve) => {
      let printed = "";
      child.stdout?.on("data", (chunk) => /✓ .*filesystem/.test((printed += String(chunk))) && resolve(printed));
    });
    expect(early).not.toContain("mute");
    expect(child.exitCode).toBeNull();
    const { exit, stdout } = await end;
    expect(exit).toBe(code);
    expect(stdout).toMatch(output);
  },
);

test("shows how many tools of a server are left out [M10]", { tags: "rest" }, async () => {
  const entry = { command: process.execPath, args: [FILESYSTEM_SERVER, "."], enabledTools: ["read_text_file"] };
  const cwd = project({ "mcp.json": JSON.stringify({ mcpServers: { filesystem: entry } }) });
  const { stdout } = await skillgate(["mcp", "list"], { cwd });
  expect(stdout).toMatch(/connected {3}1 tool, \d+ left out\n$/);
});

test("prints servers and problems with mcp list --json [M10]", { tags: "rest" }, async () => {
  const cwd = project({ "mcp.json": SERVERS });
  const { exit, stdout, stderr } = await skillgate(["mcp", "list", "--json"], { cwd });
  expect({ exit, stderr }).toEqual({ exit: 6, stderr: "" });
  const { servers, problems } = JSON.parse(stdout);
  expect(servers.map(({ name, status }: { name: string; status: string }) => [name, status])).toEqual([
    ["filesystem", "connected"],
    ["down", "error"],
    ["off", "disabled"],
    ["secret", "error"],
  ]);
  expect(problems.map(({ source }: { source: string }) => source)).toEqual(["down", "secret"]);
});

test(
  "warns with mcp list of a malformed file, and shows the servers of the others [M1]",
  { tags: "rest" },
  async () => {
    const cwd = project({ "mcp.json": "{ no json", ".mcp.json": MCP_JSON });
    const { exit, stdout, stderr } = await skillgate(["mcp", "list"], { cwd });
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^✓ filesystem/);
    expect(stderr).toMatch(/^Warning: .*mcp\.json line 1, column \d+: .*\n$/);
  },
);

test("fails with mcp list if no server is known because a file cannot be read [M10]", async () => {
  const cwd = project({ ".mcp.json": '{ "mcpServers": { "a": { "command": "node" } ' });
  const { exit, stdout, stderr } = await skillgate(["mcp", "list"], { cwd });
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
  expect(stderr).toMatch(/^Warning: Cannot read the configuration: \.mcp\.json line 1, column \d+: .*\n$/);
  const broken = project({ "skills/broken.js": "export class {" });
  const other = await skillgate(["mcp", "list"], { cwd: broken });
  expect(other).toMatchObject({ exit: 0, stdout: "No MCP servers are configured\n" });
});

test("reports with mcp list and mcp test that there are no servers [M10]", async () => {
  const cwd = project();
  const [list, tested] = await Promise.all([skillgate(["mcp", "list"], { cwd }), skillgate(["mcp", "test"], { cwd })]);
  expect(list).toEqual({ exit: 0, stdout: "No MCP servers are configured\n", stderr: "" });
  expect(tested).toEqual({ exit: 0, stdout: "No MCP servers to test\n", stderr: "" });
});

test("starts a server with mcp test and lists its tools [M10]", { tags: "rest" }, async () => {
  const cwd = project({ "mcp.json": SERVERS });
  const { exit, stdout, stderr } = await skillgate(["mcp", "test", "filesystem"], { cwd });
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
  expect(stdout).toMatch(/^✓ filesystem: connected as FilesystemMCP, \d+ tools, protocol \d{4}-\d{2}-\d{2}\n/);
  expect(stdout).toContain("  FilesystemMCP.read_text_file\n");
  expect(stdout).not.toContain("down");
});

test("exits with 6 from mcp test of a server that fails, and shows its output [M10]", { tags: "rest" }, async () => {
  const cwd = project({ "mcp.json": SERVERS });
  const [one, all, json] = await Promise.all([
    skillgate(["mcp", "test", "down"], { cwd }),
    skillgate(["mcp", "test"], { cwd }),
    skillgate(["mcp", "test", "down", "--json"], { cwd }),
  ]);
  expect(one.exit).toBe(6);
  expect(one.stdout).toMatch(
    /^✗ down: error\n {4}Cannot start the MCP server: "down" exited with code 7.*\n {4}out of order\n$/,
  );
  expect(all.exit).toBe(6);
  expect(all.stdout).not.toContain("off");
  expect(json.exit).toBe(6);
  expect(JSON.parse(json.stdout)).toMatchObject({ servers: [{ name: "down", status: "error", toolCount: 0 }] });
});

test("exits with 5 from mcp test of an unknown server [M10]", async () => {
  const cwd = project({ "mcp.json": SERVERS });
  const { exit, stdout } = await skillgate(["mcp", "test", "filesytem", "--json"], { cwd });
  expect(exit).toBe(5);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { message: "MCP server not found: filesytem; did you mean filesystem?", suggestions: ["filesystem"] },
  });
});

test("lists the loaded skills, and warns of the others [L4]", { tags: "rest" }, async () => {
  const cwd = project({
    ".mcp.json": MCP_JSON,
    "skills/math.js": MATH_SKILL,
    "skills/broken.js": "export class BrokenSkill {",
  });
  const [text, json] = await Promise.all([
    skillgate(["skills", "list"], { cwd }),
    skillgate(["skills", "list", "--json"], { cwd }),
  ]);
  expect(text.exit).toBe(1);
  expect(text.stdout).toMatch(
    /^MathSkill {6}\S+ +7 methods {3}Does sums\.\nFilesystemMCP {2}filesystem +\d+ methods {2}.*\n$/,
  );
  expect(text.stderr).toMatch(/^Warning: .*broken\.js/);
  expect({ exit: json.exit, stderr: json.stderr }).toEqual({ exit: 1, stderr: "" });
  expect(JSON.parse(json.stdout)).toMatchObject({
    skills: [
      { name: "MathSkill", kind: "file", methods: ["add", "repeat", "echo", "fail", "wait", "late", "pay"] },
      { name: "FilesystemMCP", kind: "mcp", server: "filesystem" },
    ],
    problems: [{ source: expect.stringContaining("broken.js") }],
  });
});

test.each([
  [["search", "read a file"], "FilesystemMCP.read_text_file"],
  [["describe", "FilesystemMCP.read_text_file"], "FilesystemMCP.read_text_file"],
  [["skills", "list"], "FilesystemMCP"],
  [["skills", "show", "FilesystemMCP"], "FilesystemMCP"],
  [["types", "FilesystemMCP"], "FilesystemMCP"],
])(
  "%j does not wait for the end of the time limit of a silent server, and names it [M10]",
  { tags: "rest" },
  async (args, text) => {
    const cwd = project({ "mcp.json": MUTE, "settings.yaml": "timeouts:\n  connectMs: 600000\n" });
    const { exit, stdout, stderr } = await skillgate(args, { cwd });
    expect({ exit, stderr }).toEqual({
      exit: 0,
      stderr: 'Warning: MCP server "mute": no answer within 5 s; wait for it with: skillgate mcp test mute\n',
    });
    expect(stdout).toContain(text);
  },
);

test("says of a method of a silent server that the server has not answered [M10]", { tags: "rest" }, async () => {
  const cwd = project({ "mcp.json": MUTE, "settings.yaml": "timeouts:\n  connectMs: 600000\n" });
  const { exit, stderr } = await skillgate(["describe", "MuteMCP.anything"], { cwd });
  expect(exit).toBe(6);
  expect(stderr).toContain('"mute": no answer within 5 s');
});

test("lists a skill whose import takes longer than that [M10]", { tags: "rest" }, async () => {
  const slow = "await new Promise((resolve) => setTimeout(resolve, 6_000));\nexport function late() {}\n";
  const cwd = project({ "skills/slow.js": slow });
  const { exit, stdout } = await skillgate(["skills", "list"], { cwd });
  expect(exit).toBe(0);
  expect(stdout).toContain("SlowSkill");
});
