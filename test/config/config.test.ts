import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { type Config, type ConfigOptions, loadConfig } from "../../src/config/index.ts";
import { SECTIONS } from "../../src/config/settings.ts";

let folder: string;
let cwd: string;
let home: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "skillgate-config-"));
  cwd = join(folder, "project");
  home = join(folder, "home");
  await mkdir(cwd);
});
afterEach(() => rm(folder, { recursive: true }));

async function write(path: string, content: unknown): Promise<void> {
  const file = path.startsWith("~/") ? join(home, path.slice(2)) : join(cwd, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content, null, 2));
}

/** In a folder whose files need no approval. */
const load = ({ env, ...options }: Partial<ConfigOptions> = {}): Promise<Config> =>
  loadConfig({ cwd, home, env: { SKILLGATE_TRUSTED_FOLDERS: folder, ...env }, ...options });

const names = ({ servers }: Config): readonly string[] => servers.map(({ name }) => name);

/** A server's entry that says which file it is from. */
const from = (file: string): object => ({ command: file });

test("loads an empty configuration without warnings if no file exists [M1]", async () => {
  expect(await load()).toMatchObject({ servers: [], declared: [], settings: {}, warnings: [] });
});

test("merges the servers of all files; an earlier file overrides a later one [M1]", async () => {
  await write("settings.yaml", "mcp:\n  servers:\n    - name: a\n      command: settings\n");
  await write("mcp.json", { mcpServers: { a: from("mcp"), b: from("mcp") } });
  await write(".mcp.json", { mcpServers: { b: from("dot"), c: from("dot") } });
  await write("~/.config/mcp/mcp.json", { mcpServers: { c: from("user"), d: from("user") } });
  const { servers, warnings } = await load();
  expect(servers.map((server) => [server.name, server.transport === "stdio" && server.command, server.source])).toEqual(
    [
      ["a", "settings", "settings.yaml:3:7"],
      ["b", "mcp", "mcp.json:6:5"],
      ["c", "dot", ".mcp.json:6:5"],
      ["d", "user", "~/.config/mcp/mcp.json:6:5"],
    ],
  );
  expect(warnings).toEqual([]);
});

test("reads an explicitly named file as well, and prefers it [M1]", async () => {
  await write("settings.yaml", "mcp: { servers: [{ name: a, command: settings }] }");
  await write("extra.json", { mcpServers: { a: from("extra") } });
  await write(".mcp.json", { mcpServers: { b: from("dot") } });
  const config = await load({ mcpConfigFile: "extra.json" });
  expect(names(config)).toEqual(["a", "b"]);
  expect(config.servers[0]).toMatchObject({ command: "extra", source: "extra.json:3:5" });
});

test("reads explicitly named settings instead of the default ones [M1]", async () => {
  await write("settings.yaml", "mcp: { servers: [{ name: usual, command: x }] }");
  await write("other/mine.yaml", "mcp: { servers: [{ name: mine, command: x }] }\nskills: { dir: own }\n");
  const config = await load({ settingsFile: "other/mine.yaml" });
  expect(names(config)).toEqual(["mine"]);
  expect(config.skillsDir).toBe(join(cwd, "other/own"));
});

test.each([
  ["mcpConfigFile", "none.json", undefined, "none.json: it does not exist"],
  ["mcpConfigFile", "bad.json", "{", "bad.json line 1, column 2: close brace expected"],
  ["settingsFile", "none.yaml", undefined, "none.yaml: it does not exist"],
  [
    "settingsFile",
    "bad.yaml",
    "a: [",
    "bad.yaml line 1, column 5: Flow sequence in block collection must be sufficiently indented and end with a ]",
  ],
])(
  "rejects an explicitly named file (%s %s) that is missing or malformed [M1]",
  async (option, file, content, values) => {
    if (content !== undefined) await write(file, content);
    const message = `Cannot read the configuration: ${values} (CONFIG_INVALID)`;
    await expect(load({ [option]: file })).rejects.toMatchObject({
      name: "SkillgateError",
      code: "CONFIG_INVALID",
      message,
    });
  },
);

test.each([
  [
    '{\n  "mcpServers": {\n    "a": { "command": "x" }\n    "b": { "command": "y" }\n  }\n}',
    "line 4, column 5: comma expected",
  ],
  ['{ "mcpServers": {', "line 1, column 18: close brace expected"],
  ['{\r\n  "mcpServers": [\r\n}', "line 3, column 1: value expected"],
  ["hello", "line 1, column 1: invalid symbol"],
  ["[1]", "line 1, column 1: an object is expected"],
  ['{ "mcpServers": [] }', 'line 1, column 3: the servers must be an object, write "mcpServers": { "name": { … } }'],
  [
    '{ "mcp": { "servers": "a" } }',
    'line 1, column 12: the servers must be an object, write "servers": { "name": { … } }',
  ],
  [`${'{"a":'.repeat(40_000)}1`, ": it nests too deeply"],
])("reports a malformed file with its line and the mistake, and loads the rest (%#) [M1]", async (content, wrong) => {
  await write("mcp.json", content);
  await write(".mcp.json", { mcpServers: { b: from("dot") } });
  const { servers, warnings } = await load();
  expect(servers).toHaveLength(1);
  const separator = wrong.startsWith(":") ? "" : " ";
  expect(warnings).toEqual([
    { source: "mcp.json", error: `Cannot read the configuration: mcp.json${separator}${wrong} (CONFIG_INVALID)` },
  ]);
});

test.each([
  [
    "mcp:\n  servers: [\n  x",
    "line 3, column 3: Flow sequence in block collection must be sufficiently indented and end with a ]",
  ],
  ["mcp: 1\nmcp: 2", 'line 2, column 1: the key "mcp" appears twice'],
  ["a: !!js/function x", "line 1, column 4: Unresolved tag: tag:yaml.org,2002:js/function"],
  ["- 1", "line 1, column 1: sections are expected"],
  ["a: 1\n---\nb: 1", "line 2, column 1: Source contains multiple documents; please use YAML.parseAllDocuments()"],
  [
    `a: &a [x,x,x,x,x,x,x,x,x]\n${["b", "c", "d", "e"].map((name, i) => `${name}: &${name} [${`*${"abcd"[i]},`.repeat(9)}]`).join("\n")}`,
    ": Excessive alias count indicates a resource exhaustion attack",
  ],
])("reports malformed settings with the line and the mistake, and loads the rest (%#) [M1]", async (content, wrong) => {
  await write("settings.yaml", content);
  await write(".mcp.json", { mcpServers: { b: from("dot") } });
  const { servers, settings, warnings } = await load();
  expect(servers).toHaveLength(1);
  expect(settings).toEqual({});
  const separator = wrong.startsWith(":") ? "" : " ";
  expect(warnings).toEqual([
    {
      source: "settings.yaml",
      error: `Cannot read the configuration: settings.yaml${separator}${wrong} (CONFIG_INVALID)`,
      isForAllRuns: true,
    },
  ]);
});

test("warns of a file that is too large, a folder, or unreadable [M1]", async () => {
  await write("settings.yaml", `# ${"x".repeat(1 << 20)}`);
  await mkdir(join(cwd, "mcp.json"));
  const { warnings } = await load();
  expect(warnings.map(({ error }) => error)).toEqual([
    "Cannot read the configuration: settings.yaml: it is larger than 256 KiB (CONFIG_INVALID)",
    "Cannot read the configuration: mcp.json: it is a folder (CONFIG_INVALID)",
  ]);
});

test.each(["settings.yaml", ".mcp.json", ".env"])("warns of %s in UTF-16 or Latin-1 [M1]", async (file) => {
  for (const [encoding, text] of [
    ["utf16le", "\uFEFFa: 1"],
    ["latin1", "# f\u00FCr\n"],
  ] as const) {
    await writeFile(join(cwd, file), text, encoding);
    const { warnings } = await load();
    expect(warnings.map(({ error }) => error)).toEqual([
      `Cannot read the configuration: ${file}: it is not UTF-8 text; save it as UTF-8 (CONFIG_INVALID)`,
    ]);
  }
});

test("accepts comments, trailing commas, a byte order mark and an empty file [M1]", async () => {
  await write("mcp.json", '\uFEFF{ // mine\n "mcpServers": { "a": { "command": "x", }, }, }');
  await write(".mcp.json", " \n");
  const config = await load();
  expect(names(config)).toEqual(["a"]);
  expect(config.warnings).toEqual([]);
});

test("reads the formats of other programs [M1]", async () => {
  await write("mcp.json", { servers: { vscode: { type: "stdio", command: "x" } }, inputs: [] });
  await write(".mcp.json", {
    mcp: { servers: { editor: { command: "x" } } },
    context_servers: { zed: { command: "x" } },
  });
  await write("settings.yaml", "mcpServers:\n  map: { command: x }\nmcp:\n  servers:\n    second: { command: x }\n");
  expect(names(await load())).toEqual(["second", "map", "vscode", "editor", "zed"]);
});

test("reports a file without servers, and suggests the intended key [M1]", async () => {
  await write("mcp.json", { mcpServer: { a: from("x") } });
  await write(".mcp.json", {});
  expect((await load()).warnings).toEqual([
    {
      source: "mcp.json:2:3",
      error: 'Cannot read the configuration: mcp.json: it has no "mcpServers", only "mcpServer" (CONFIG_INVALID)',
      fix: 'write "mcpServers": { "name": { … } }',
    },
  ]);
});

test("skips an invalid entry with its line and the reason, and loads the others [M1]", async () => {
  await write(".mcp.json", {
    mcpServers: {
      "": from("x"),
      empty: {},
      far: { type: "http" },
      events: { type: "sse" },
      text: "x",
      odd: { command: "x", type: "carrier-pigeon" },
      good: from("x"),
    },
  });
  await write("settings.yaml", "mcp:\n  servers:\n    - command: x\n    - name: good2\n      command: x\n");
  const config = await load();
  expect(names(config)).toEqual(["good2", "good"]);
  expect(config.warnings).toEqual([
    { source: "settings.yaml:3:7", error: "MCP server name is required", fix: 'write "name": { … }' },
    { source: ".mcp.json:3:5", error: "MCP server name is required", fix: 'write "name": { … }' },
    {
      source: ".mcp.json:6:5",
      error: "MCP server 'empty': command is required for stdio transport",
      fix: 'write "command": "npx", "args": ["-y", "package"], or "url": "https://…"',
    },
    {
      source: ".mcp.json:7:5",
      error: "MCP server 'far': url is required for http transport",
      fix: 'write "url": "https://…"',
    },
    {
      source: ".mcp.json:10:5",
      error: "MCP server 'events': url is required for sse transport",
      fix: 'write "url": "https://…"',
    },
    {
      source: ".mcp.json:13:5",
      error: "MCP server 'text': its entry must be an object",
      fix: 'write { "command": "npx", "args": ["-y", "package"] }',
    },
    {
      source: ".mcp.json:16:7",
      error: `MCP server 'odd': transport "carrier-pigeon" is not known, use stdio, http or sse`,
    },
  ]);
});

test("disables all servers with mcp.enabled false [M1]", async () => {
  await write("settings.yaml", "mcp: { enabled: false, servers: [{ name: a, command: x, enabled: true }] }");
  await write(".mcp.json", { mcpServers: { b: from("dot") } });
  expect((await load()).servers.map(({ name, enabled }) => [name, enabled])).toEqual([
    ["a", false],
    ["b", false],
  ]);
});

test("reads variables from the environment, then from .env, and expands them only once [M2]", async () => {
  await write(".env", 'TOKEN=from-file\nOTHER="${TOKEN}"\n# comment\nexport THIRD=3\n');
  await write(".mcp.json", {
    mcpServers: {
      a: {
        command: "${BIN:-node}",
        args: ["${TOKEN}", "${OTHER}", "${env:THIRD}", "${NONE:-}", "$TOKEN ${}"],
        env: { KEY: "pre-${TOKEN}-post" },
      },
    },
  });
  const { servers } = await load({ env: { TOKEN: "from-env" } });
  expect(servers[0]).toMatchObject({
    command: "node",
    args: ["from-env", "${TOKEN}", "3", "", "$TOKEN ${}"],
    env: { KEY: "pre-from-env-post" },
    declared: { command: "${BIN:-node}", env: { KEY: "pre-${TOKEN}-post" } },
  });
  expect(servers[0]).not.toHaveProperty("obstacle");
});

test("keeps only the server with a missing variable from starting [M2]", async () => {
  await write(".mcp.json", {
    mcpServers: {
      a: { url: "https://${HOST}/mcp", headers: { Authorization: "Bearer ${TOKEN}" } },
      b: { command: "x", env: { TOKEN: "${TOKEN}" } },
      c: { command: "x", args: ["${input:key}"] },
      d: { command: "x", cwd: "${workspaceFolder}/sub", args: ["${userHome}"] },
    },
  });
  const { servers, warnings } = await load();
  expect(servers.map((server) => server.obstacle)).toEqual([
    "missing environment variable HOST, environment variable TOKEN",
    "missing environment variable TOKEN",
    "missing input key (set the environment variable INPUT_KEY)",
    undefined,
  ]);
  expect(servers[3]).toMatchObject({ cwd: join(cwd, "sub"), args: [home] });
  expect(warnings).toEqual([]);
});

test("does not treat names of Object.prototype as variables [M2]", async () => {
  await write(".mcp.json", { mcpServers: { a: { command: "${constructor:-node}", args: ["${__proto__}"] } } });
  const { servers } = await load();
  expect(servers[0]).toMatchObject({
    command: "node",
    args: ["${__proto__}"],
    obstacle: "missing environment variable __proto__",
  });
});

test("treats names of Object.prototype as ordinary names of servers and variables [M1]", async () => {
  await write(
    ".mcp.json",
    '{"mcpServers": {"__proto__": {"command": "x", "env": {"__proto__": "1"}}, "constructor": {"command": "y"}}}',
  );
  const config = await load();
  expect(names(config)).toEqual(["__proto__", "constructor"]);
  expect(Object.entries(config.servers[0]?.transport === "stdio" ? config.servers[0].env : {})).toEqual([
    ["__proto__", "1"],
  ]);
  expect(Object.prototype).not.toHaveProperty("command");
});

test("reads limits from the settings; warns of an invalid one and keeps its default [X8]", async () => {
  await write("settings.yaml", "limits:\n  cpuMs: 100\n  wallMs: -1\n  memoryByte: 5\n  calls: many\n");
  const { limits, warnings } = await load();
  expect(limits).toEqual({ cpuMs: 100 });
  expect(warnings.map(({ error }) => error)).toEqual([
    "Cannot read the configuration: settings.yaml line 3, column 3: limits.wallMs must be a whole number from 1, not -1 (CONFIG_INVALID)",
    "Cannot read the configuration: settings.yaml line 4, column 3: limits has the unknown setting memoryByte; did you mean memoryBytes? (CONFIG_INVALID)",
    'Cannot read the configuration: settings.yaml line 5, column 3: limits.calls must be a whole number from 1, not "many" (CONFIG_INVALID)',
  ]);
});

test("reads timeouts from the settings; warns of an invalid one and keeps its default [X8]", async () => {
  await write(
    "settings.yaml",
    "timeouts:\n  validationMs: 100\n  discoveryMs: 0\n  lockMs: -1\n  connectMs: soon\n  lookMs: 5\nlimits: many\n",
  );
  const wrong = "Cannot read the configuration: settings.yaml line";
  const { timeouts, limits, warnings } = await load();
  expect([timeouts, limits]).toEqual([{ validationMs: 100 }, undefined]);
  expect(warnings.map(({ error }) => error)).toEqual([
    `${wrong} 3, column 3: timeouts.discoveryMs must be a whole number from 1, not 0 (CONFIG_INVALID)`,
    `${wrong} 4, column 3: timeouts.lockMs must be a whole number from 1, not -1 (CONFIG_INVALID)`,
    `${wrong} 5, column 3: timeouts.connectMs must be a whole number from 1, not "soon" (CONFIG_INVALID)`,
    `${wrong} 6, column 3: timeouts has the unknown setting lookMs; did you mean lockMs? (CONFIG_INVALID)`,
    `${wrong} 7, column 1: limits must be a section, as in limits: { cpuMs: 1000 } (CONFIG_INVALID)`,
  ]);
  await write("settings.yaml", "timeouts: { lockMs: .nan }\n");
  expect((await load()).warnings).toHaveLength(1);
});

test("passes sections on unchanged, and warns of an unknown one with the nearest name [L9]", async () => {
  await write(
    "settings.yaml",
    "skills:\n  dir: own\n  WeatherSkill: { unit: C }\nskils: {}\nmcp: { servrs: [], start: now }\n",
  );
  const { settings, skillsDir, warnings } = await load();
  expect(settings).toMatchObject({ skills: { dir: "own", WeatherSkill: { unit: "C" } }, skils: {} });
  expect(skillsDir).toBe(join(cwd, "own"));
  expect(warnings).toEqual([
    {
      source: "settings.yaml",
      error:
        "Cannot read the configuration: settings.yaml line 4, column 1: unknown section skils; did you mean skills? (CONFIG_INVALID)",
      isForAllRuns: true,
    },
    {
      source: "settings.yaml",
      error:
        "Cannot read the configuration: settings.yaml line 5, column 8: unknown setting servrs; did you mean servers? (CONFIG_INVALID)",
      isForAllRuns: true,
    },
  ]);
});

test.skipIf(process.getuid?.() === 0)("warns of a file that the user has no permission to read [M1]", async () => {
  await write("mcp.json", {});
  await chmod(join(cwd, "mcp.json"), 0);
  expect((await load()).warnings).toEqual([
    {
      source: "mcp.json",
      error: "Cannot read the configuration: mcp.json: this user may not read it (CONFIG_INVALID)",
    },
  ]);
});

test.each([
  ["mcp: 5\n", "line 1, column 1: mcp must be a section, as in mcp: { servers: [] }"],
  [
    "mcp:\n  servers: filesystem\n",
    "line 2, column 3: mcp.servers must be a list of servers, as in [{ name: files, command: npx }], or a section with their names",
  ],
  ["skills: 1\n", "line 1, column 1: skills must be a section, as in skills: { dir: skills }"],
  ["server: on\n", "line 1, column 1: server must be a section, as in server: { port: 3333 }"],
  ["store: here\n", "line 1, column 1: store must be a section, as in store: { dir: folder }"],
  ["policy: {}\n", "line 1, column 1: unknown section policy; write policies/tools.yaml"],
  [
    "telemetry: {}\n",
    "line 1, column 1: unknown section telemetry; set OTEL_EXPORTER_OTLP_ENDPOINT and other variables of OpenTelemetry",
  ],
  [
    "limits: {}\nclusters: []\n",
    `line 2, column 1: unknown section clusters; use ${SECTIONS.slice(0, -1).join(", ")} or agent`,
  ],
])("reports an unused section with its position: %j [M1]", async (content, wrong) => {
  await write("settings.yaml", content);
  expect((await load()).warnings).toEqual([
    {
      source: "settings.yaml",
      error: `Cannot read the configuration: settings.yaml ${wrong} (CONFIG_INVALID)`,
      isForAllRuns: true,
    },
  ]);
});
