import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

import { type Ended, FILESYSTEM_SERVER, MCP_JSON, type Place, project, skillgate } from "./command.ts";

const mcp = (args: readonly string[], place: Place): Promise<Ended> => skillgate(["mcp", ...args], place);
const read = (cwd: string, name: string): string => readFileSync(join(cwd, name), "utf8");
const getHome = (cwd: string): string => join(dirname(cwd), "home");

/** In the home folder of the user whose project it is. */
function writeAtHome(cwd: string, name: string, content: string): void {
  const path = join(getHome(cwd), name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

const SECRET = "sk-a-very-secret-key-1234567890";

const COMMENTED = `{
  // ours
  "mcpServers": {
    "files": { "command": "x", "args": ["."] } // read only
  }
}
`;

test("starts a server that mcp add has written without a question, and calls it [M10]", { tags: "rest" }, async () => {
  const cwd = project();
  const env = { SKILLGATE_TRUSTED_FOLDERS: "" };
  const added = await mcp(["add", "filesystem", "--", process.execPath, FILESYSTEM_SERVER, "."], { cwd, env });
  expect(added).toMatchObject({
    exit: 0,
    stdout: `Added filesystem to .mcp.json: ${process.execPath} ${FILESYSTEM_SERVER} .\n`,
    stderr: "Try it: skillgate mcp test filesystem\n",
  });
  const called = await skillgate(["call", "FilesystemMCP.list_allowed_directories"], { cwd, env });
  expect(called).toMatchObject({ exit: 0, stdout: expect.stringContaining(cwd) });
});

test("adds and removes a server in a file with a byte order mark and the line ends of Windows [M10]", async () => {
  const before = '\uFEFF{\r\n  "mcpServers": {}\r\n}\r\n';
  const cwd = project({ ".mcp.json": before });
  expect(await mcp(["add", "files", "--", "npx"], { cwd })).toMatchObject({ exit: 0 });
  expect(read(cwd, ".mcp.json")).toMatch(/^\uFEFF\{\r\n {2}"mcpServers": \{\r?\n/);
  expect(await mcp(["add", "files", "--", "npx"], { cwd })).toMatchObject({ exit: 2 });
  expect(await mcp(["remove", "files", "--yes"], { cwd })).toMatchObject({ exit: 0 });
  expect(read(cwd, ".mcp.json")).toMatch(/^\uFEFF/);
});

test("quotes a name with a space in the command that it suggests", async () => {
  const { stderr } = await mcp(["add", "my files", "--", "npx", "-y", "p"], { cwd: project() });
  expect(stderr).toBe("Try it: skillgate mcp test 'my files'\n");
});

test("keeps comments and order with mcp add, and accepts common options [M10]", async () => {
  const cwd = project({ ".mcp.json": COMMENTED });
  const flags = ["-e", "A=1", "B=two words", "more", "-s", "project", "--timeout", "5", "--text", "text"];
  const args = ["add", ...flags, "--", "npx", "-y", "p"];
  const { exit, stdout, stderr } = await mcp(args, { cwd });
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: "Added more to .mcp.json: npx -y p\n" });
  expect(stderr).toBe(
    [
      "Note: A is stored in .mcp.json as plain text; use ${VARIABLE} to take it from the environment",
      "Note: B is stored in .mcp.json as plain text; use ${VARIABLE} to take it from the environment",
      "Try it: skillgate mcp test more\n",
    ].join("\n"),
  );
  expect(read(cwd, ".mcp.json")).toBe(`{
  // ours
  "mcpServers": {
    "files": { "command": "x", "args": ["."] }, // read only
    "more": {
      "command": "npx",
      "args": ["-y", "p"],
      "env": {
        "A": "1",
        "B": "two words"
      },
      "timeout": 5,
      "text": "text"
    }
  }
}
`);
});

test.each([
  [["far", "https://far.example/mcp"], { type: "http", url: "https://far.example/mcp" }],
  [
    ["--transport", "sse", "far", "https://far.example/sse", "-H", "X-A: b: c"],
    { type: "sse", url: "https://far.example/sse", headers: { "X-A": "b: c" } },
  ],
  [
    ["far", "-t", "http", "https://far.example/mcp", "--header", "Authorization: Bearer ${TOKEN}"],
    { type: "http", url: "https://far.example/mcp", headers: { Authorization: "Bearer ${TOKEN}" } },
  ],
  [["plain", "npx"], { command: "npx", args: [] }],
  [
    ["far", "https://far.example/mcp", "--client-id", "id", "--callback-port", "8080"],
    { type: "http", url: "https://far.example/mcp", oauth: { clientId: "id", callbackPort: 8080 } },
  ],
])("mcp add %j [M10]", async (words, entry) => {
  const cwd = project();
  expect(await mcp(["add", ...words], { cwd })).toMatchObject({ exit: 0 });
  expect(Object.values(JSON.parse(read(cwd, ".mcp.json")).mcpServers)).toEqual([entry]);
});

test("writes each scope to its file, and files of the user for the user alone [M10]", async () => {
  const cwd = project();
  for (const scope of ["user", "local"]) await mcp(["add", "-s", scope, `of-${scope}`, "x"], { cwd });
  const user = join(getHome(cwd), ".config", "mcp", "mcp.json");
  expect(JSON.parse(readFileSync(user, "utf8"))).toEqual({ mcpServers: { "of-user": { command: "x", args: [] } } });
  expect(statSync(user).mode & 0o777).toBe(0o600);
  const local = JSON.parse((await mcp(["get", "of-local", "--json"], { cwd })).stdout);
  expect(local).toMatchObject({ scope: "local", approved: true, entry: { command: "x" } });
  expect(local.file).toMatch(/^~\/\.config\/skillgate\/projects\/project-[0-9a-f]{12}\.json$/);
});

test.each([
  [["add", "files", "y"], 2, "MCP server files already exists in .mcp.json:4; change it with skillgate mcp edit files"],
  [["add", "a", "x", "-s", "projct"], 2, "Unknown scope: projct; did you mean project?"],
  [["add", "a"], 2, "Missing required argument 'commandOrUrl'; see skillgate mcp add --help"],
  [["add", "a", "x", "-e", "NOVALUE"], 2, 'Cannot read the variable "NOVALUE": write -e KEY=value'],
  [["add", "a", "https://h.example", "-H", "nothing"], 2, 'Cannot read the header "nothing": write -H "Name: value"'],
  [
    ["add", "a", "https://h.example", "-e", "A=1"],
    2,
    'Cannot give environment variables to a remote server: use -H "Name: value"',
  ],
  [
    ["add", "a", "x", "-t", "carrier-pigeon"],
    2,
    `MCP server 'a': transport "carrier-pigeon" is not known, use stdio, http or sse`,
  ],
  [
    ["add", "a", "skillgate", "serve"],
    2,
    "Cannot add Skillgate to itself; to add it to another client, run: skillgate connect <client>",
  ],
  [["add", "a", "npx", "-y", "p"], 2, "Unknown option: -y; if it is for the command, write -- before the command"],
  [
    ["add-json", "a", "{ no"],
    2,
    `Cannot read the entry as a JSON object, at character 3; write '{ "command": "npx", "args": ["…"] }'`,
  ],
  [["add-json", "a", "{}"], 2, "MCP server 'a': command is required for stdio transport"],
  [["get", "file"], 5, "MCP server not found: file; did you mean files?"],
  [["get", "nosuch"], 5, "MCP server not found: nosuch; use files"],
  [["remove", "files"], 4, "Cannot remove files from .mcp.json: there is no terminal to confirm it at"],
  [["remove", "flies", "-y"], 5, "MCP server not found: flies; did you mean files?"],
  [["enable", "fles"], 5, "MCP server not found: fles; did you mean files?"],
  [
    ["edit", "files"],
    2,
    "No change given; for example: skillgate mcp edit files -e KEY=value; the server is at .mcp.json:4",
  ],
  [["edit", "files", "--remove-env", "A"], 2, "Cannot remove A: it is not in env"],
  [["import", "cursr"], 2, "Unknown client: cursr; did you mean cursor?"],
  [["login", "files"], 2, "Cannot log in to files: it is a local process; set its keys with env"],
  [["tool"], 2, "Unknown command: tool; did you mean tools?"],
])("reports the mistake in mcp %j, and changes nothing [M10]", async (args, exit, says) => {
  const cwd = project({ ".mcp.json": COMMENTED });
  const ended = await mcp(args, { cwd });
  expect({ exit: ended.exit, stdout: ended.stdout, says: ended.stderr.split("\n")[0] }).toEqual({
    exit,
    stdout: "",
    says,
  });
  expect(read(cwd, ".mcp.json")).toBe(COMMENTED);
});

test("accepts an entry, a file, or a complete configuration in mcp add-json [M10]", async () => {
  const cwd = project({ "entry.json": '{ "url": "https://h.example" }' });
  const wrapped = JSON.stringify({ mcpServers: { other: { command: "npx", args: ["-y", "p"] } } });
  await mcp(["add-json", "a", '{"command":"x"}'], { cwd });
  await mcp(["add-json", "b", "@entry.json"], { cwd });
  await mcp(["add-json", "c", wrapped], { cwd });
  expect(JSON.parse(read(cwd, ".mcp.json")).mcpServers).toEqual({
    a: { command: "x" },
    b: { url: "https://h.example" },
    c: { command: "npx", args: ["-y", "p"] },
  });
});

test("shows no secret in the output of any command [P9]", { tags: "rest" }, async () => {
  const servers = {
    a: {
      command: process.execPath,
      args: ["-e", `console.error(process.env.KEY, "${SECRET}"); process.exit(1)`, "--api-key", SECRET],
      env: { KEY: SECRET },
    },
    b: { url: `http://127.0.0.1:1/?token=${SECRET}`, headers: { Authorization: `Bearer ${SECRET}` } },
    c: { command: "x", env: { KEY: { nested: SECRET } } },
  };
  const cwd = project({ "mcp.json": JSON.stringify({ mcpServers: servers }) });
  const commands = [
    ["list"],
    ["test"],
    ["get", "a"],
    ["get", "b"],
    ["get", "c"],
    ["tools"],
    ["logs", "a"],
    ["login", "b"],
  ];
  const all = commands.flatMap((command) => [
    ["mcp", ...command],
    ["mcp", ...command, "--json"],
  ]);
  for (const { stdout, stderr } of await Promise.all([["doctor"], ...all].map((args) => skillgate(args, { cwd })))) {
    expect(stdout + stderr).not.toContain(SECRET);
    expect(stdout + stderr).toMatch(/\S/);
  }
  const added = await mcp(["add", "d", "-e", `K=${SECRET}`, "--json", "--", "x", `--token=${SECRET}`], { cwd });
  expect(JSON.parse(added.stdout)).toEqual({
    added: {
      name: "d",
      file: "mcp.json",
      scope: "project",
      entry: { command: "x", args: ["--token=***"], env: { K: "***" } },
    },
  });
});

test("shows with mcp get where a server is declared, and its problem [M10]", async () => {
  const cwd = project({
    ".mcp.json": '{\n  "mcpServers": {\n    "a b": { "comand": "x", "env": { "K": "v" } }\n  }\n}',
  });
  const { exit, stdout } = await mcp(["get", "a b"], { cwd });
  expect({ exit, stdout }).toEqual({
    exit: 0,
    stdout: `a b
  file:          .mcp.json:3:5 (project)
  skill:         ABMCP
  transport:     none
  enabled:       no
  comand:        x
  env:           K=***
  problem:       MCP server 'a b': command is required for stdio transport
  fix:           "comand" is not known here, write "command"
`,
  });
});

test("changes only the named entry with mcp disable, enable, edit and remove [M10]", async () => {
  const cwd = project({ ".mcp.json": COMMENTED });
  expect((await mcp(["disable", "files"], { cwd })).stdout).toBe("files is disabled in .mcp.json\n");
  expect(read(cwd, ".mcp.json")).toBe(COMMENTED.replace('["."] }', '["."], "enabled": false }'));
  expect(JSON.parse((await mcp(["list", "--json"], { cwd })).stdout).servers).toMatchObject([
    { name: "files", status: "disabled" },
  ]);
  expect((await mcp(["enable", "files"], { cwd })).stdout).toBe("files is enabled in .mcp.json\n");
  const edit = ["edit", "files", "-e", "TOKEN=${TOKEN}", "--description", "Files", "--", "npx", "-y", "p"];
  expect((await mcp(edit, { cwd })).stdout).toBe("Changed files in .mcp.json: npx -y p\n");
  expect(read(cwd, ".mcp.json")).toBe(
    COMMENTED.replace(
      '{ "command": "x", "args": ["."] }',
      '{ "command": "npx", "args": ["-y", "p"], "enabled": true, "description": "Files", "env": { "TOKEN": "${TOKEN}" } }',
    ),
  );
  expect(await mcp(["remove", "files", "--yes", "--json"], { cwd })).toMatchObject({
    exit: 0,
    stdout: '{"removed":{"name":"files","file":".mcp.json"}}\n',
  });
  expect(read(cwd, ".mcp.json")).toBe(
    '{\n  // ours\n  "mcpServers": {} // read only\n}\n'.replace(" // read only", ""),
  );
});

test("changes servers in settings.yaml, too [M10]", async () => {
  const settings =
    "# mine\nmcp:\n  servers:\n    - name: a # first\n      command: x\n    - name: b\n      command: y\n";
  const cwd = project({ "settings.yaml": settings });
  await mcp(["disable", "a"], { cwd });
  await mcp(["remove", "b", "-y"], { cwd });
  expect(read(cwd, "settings.yaml")).toBe(
    "# mine\nmcp:\n  servers:\n    - name: a # first\n      command: x\n      enabled: false\n",
  );
});

test("leaves a file that does not parse unchanged, and reports the position of the error [M10]", async () => {
  const cwd = project({ ".mcp.json": '{ "mcpServers": { "a": ' });
  const { exit, stderr } = await mcp(["add", "b", "x"], { cwd });
  expect(exit).toBe(2);
  expect(stderr).toContain(
    "Cannot read the configuration: .mcp.json line 1, column 24: value expected (CONFIG_INVALID)\n",
  );
  expect(read(cwd, ".mcp.json")).toBe('{ "mcpServers": { "a": ');
});

test("shows with mcp tools the purpose of each tool [M10]", { tags: "rest" }, async () => {
  const cwd = project({ ".mcp.json": MCP_JSON });
  const [text, json] = await Promise.all([mcp(["tools", "filesystem"], { cwd }), mcp(["tools", "--json"], { cwd })]);
  expect(text.stdout).toMatch(/^✓ filesystem \(FilesystemMCP\): \d+ tools\n {2}FilesystemMCP\.read_file +\S.*\n/);
  const [server] = JSON.parse(json.stdout).servers;
  expect(server).toMatchObject({ name: "filesystem", skill: "FilesystemMCP", status: "connected" });
  expect(server.tools).toContainEqual({
    tool: "read_text_file",
    path: "FilesystemMCP.read_text_file",
    description: expect.stringContaining("Read the complete contents of a file"),
  });
});

test("shows with mcp logs what a server prints on stderr [M9]", { tags: "rest" }, async () => {
  const cwd = project({ ".mcp.json": MCP_JSON });
  const { exit, stdout } = await mcp(["logs", "filesystem"], { cwd });
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringContaining("Secure MCP Filesystem Server") });
});

test("imports the servers of other clients, each into the right file [M10]", async () => {
  const cwd = project({
    ".mcp.json": COMMENTED,
    ".vscode/mcp.json": '{ "servers": { "shared": { "type": "stdio", "command": "s" } } }',
  });
  writeAtHome(
    cwd,
    ".cursor/mcp.json",
    '{ "mcpServers": { "files": { "command": "y" }, "a": { "command": "x", "env": { "K": "v" } } } }',
  );
  writeAtHome(
    cwd,
    ".codex/config.toml",
    '[mcp_servers.docs]\ncommand = "npx"\nargs = ["d"]\n[mcp_servers.skillgate]\ncommand = "skillgate"\nargs = ["serve"]\n',
  );
  writeAtHome(cwd, ".gemini/settings.json", "{ broken");
  writeAtHome(
    cwd,
    ".claude.json",
    JSON.stringify({
      mcpServers: { c: { type: "http", url: "https://c.example" } },
      projects: { [cwd]: { mcpServers: { own: { command: "o" } } } },
    }),
  );
  const dry = await mcp(["import", "--dry-run"], { cwd });
  expect(dry).toEqual({
    exit: 0,
    stdout: `Would import c from Claude Code (~/.claude.json) to ~/.config/mcp/mcp.json
Would import own from Claude Code (~/.claude.json) to ~/.config/mcp/mcp.json
Skipped files from Cursor (~/.cursor/mcp.json): .mcp.json already has a server of this name
Would import a from Cursor (~/.cursor/mcp.json) to ~/.config/mcp/mcp.json
Would import shared from VS Code (.vscode/mcp.json) to .mcp.json
Would import docs from Codex (~/.codex/config.toml) to ~/.config/mcp/mcp.json
Skipped skillgate from Codex (~/.codex/config.toml): it is Skillgate itself
`,
    stderr:
      "Cannot read the configuration: ~/.gemini/settings.json line 1, column 3: invalid symbol (CONFIG_INVALID)\n",
  });
  const { exit, stdout } = await mcp(["import", "cursor", "claude", "vscode", "--json"], { cwd });
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    imported: [
      { name: "a", entry: { env: { K: "***" } }, client: "cursor" },
      { name: "c" },
      { name: "own" },
      { name: "shared", file: ".mcp.json" },
    ],
    skipped: [{ name: "files", why: ".mcp.json already has a server of this name" }],
  });
  const user = JSON.parse(readFileSync(join(getHome(cwd), ".config", "mcp", "mcp.json"), "utf8"));
  expect(user.mcpServers).toEqual({
    c: { type: "http", url: "https://c.example" },
    own: { command: "o", args: [] },
    a: { command: "x", args: [], env: { K: "v" } },
  });
  expect(read(cwd, ".mcp.json")).toContain("// read only");
});

test("does not approve servers in project files by importing them [M8]", async () => {
  const cwd = project({ ".vscode/mcp.json": '{ "servers": { "a": { "command": "x" } } }' });
  writeAtHome(cwd, ".cursor/mcp.json", '{ "mcpServers": { "b": { "command": "y" } } }');
  const place = { cwd, env: { SKILLGATE_TRUSTED_FOLDERS: "" } };
  const { stdout } = await mcp(["import", "-s", "project"], place);
  expect(stdout).toBe(
    "Imported b from Cursor (~/.cursor/mcp.json) to .mcp.json\nImported a from VS Code (.vscode/mcp.json) to .mcp.json\n",
  );
  const [a, b] = await Promise.all(["a", "b"].map((name) => mcp(["get", name, "--json"], place)));
  expect(JSON.parse(a?.stdout ?? "")).toMatchObject({ approved: false });
  expect(JSON.parse(b?.stdout ?? "")).toMatchObject({ approved: true });
});

test("names the values that an imported server needs, and what to write for them [M10]", async () => {
  const entry = {
    command: "npx",
    args: ["--region", "${input:region}"],
    env: { GITHUB_TOKEN: "${input:github-token}", PLAIN: "v" },
  };
  const cwd = project({ ".vscode/mcp.json": JSON.stringify({ servers: { github: entry } }) });
  expect((await mcp(["import", "vscode", "--dry-run"], { cwd })).stdout)
    .toBe(`Would import github from VS Code (.vscode/mcp.json) to .mcp.json
    args.1 needs a value in place of \${input:region}: write \${env:INPUT_REGION} or a command, as in \${cmd:pass show region}. Until then each start asks for it at a terminal, and elsewhere reads INPUT_REGION
    env.GITHUB_TOKEN needs a value in place of \${input:github-token}: write \${env:GITHUB_TOKEN} or a command, as in \${cmd:pass show github-token}. Until then each start asks for it at a terminal, and elsewhere reads INPUT_GITHUB_TOKEN
`);
  const { stdout } = await mcp(["import", "vscode", "--json"], { cwd });
  expect(JSON.parse(stdout)).toMatchObject({
    imported: [
      {
        name: "github",
        inputs: [
          { id: "region", field: "args.1", variable: "INPUT_REGION" },
          { id: "github-token", field: "env.GITHUB_TOKEN", variable: "INPUT_GITHUB_TOKEN" },
        ],
      },
    ],
  });
});

test("imports a file of any client, too [M10]", async () => {
  const cwd = project({
    "their/config.toml": '[mcp_servers.docs]\ncommand = "npx"\nenv_vars = ["TOKEN"]\n',
    "their/bad.json": "{",
    "their/restricted.json":
      '{ "mcpServers": { "a": { "command": "x", "enabledTools": ["t"] }, "b": { "command": "x", "allowedTools": ["t"] } } }',
  });
  const { exit, stdout } = await mcp(["import", "their/config.toml"], { cwd });
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: "Imported docs from their/config.toml to .mcp.json\n" });
  expect(JSON.parse(read(cwd, ".mcp.json"))).toEqual({
    mcpServers: { docs: { command: "npx", args: [], env: { TOKEN: "${TOKEN}" } } },
  });
  const restricted = await mcp(["import", "their/restricted.json", "--json"], { cwd });
  expect(JSON.parse(restricted.stdout)).toMatchObject({
    imported: [{ name: "a", entry: { enabledTools: ["t"] } }],
    skipped: [{ name: "b", why: expect.stringContaining('"allowedTools" restricts what it offers') }],
  });
  expect(await mcp(["import", "their/bad.json"], { cwd })).toEqual({
    exit: 0,
    stdout: "Nothing to import\n",
    stderr: "Cannot read the configuration: their/bad.json line 1, column 2: close brace expected (CONFIG_INVALID)\n",
  });
});

test("starts no other server for a command about one server [M10]", { tags: "rest" }, async () => {
  const servers = {
    filesystem: { command: process.execPath, args: [FILESYSTEM_SERVER, "."] },
    other: { command: process.execPath, args: ["-e", "require('fs').writeFileSync('started', '')"] },
  };
  const cwd = project({ ".mcp.json": JSON.stringify({ mcpServers: servers }) });
  for (const command of ["test", "tools", "logs"])
    expect(await mcp([command, "filesystem"], { cwd })).toMatchObject({ exit: 0 });
  expect(existsSync(join(cwd, "started"))).toBe(false);
  const bad = project({ ".mcp.json": '{ "mcpServers": { "a": { "url": "nowhere" } } }' });
  expect(await mcp(["test", "a"], { cwd: bad })).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining(".mcp.json:1:26: MCP server 'a': url must begin with http:// or https://\n"),
  });
});
