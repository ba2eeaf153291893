import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { type Config, loadConfig, normalizeEntry } from "../../src/config/index.ts";

/** What one file of a name comes to, and nothing else. */
async function load(name: string, text: string, env: Readonly<Record<string, string>> = {}): Promise<Config> {
  const cwd = mkdtempSync(join(tmpdir(), "skillgate-dialects-"));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  mkdirSync(dirname(join(cwd, name)), { recursive: true });
  writeFileSync(join(cwd, name), text);
  return loadConfig({ cwd, home: join(cwd, "home"), env, mcpConfigFile: name });
}

test("reads the file of VS Code with its inputs [M1]", async () => {
  const text = `{
    "inputs": [
      { "type": "promptString", "id": "key", "description": "API key", "password": true },
      { "type": "pickString", "id": "region", "description": "Region", "options": ["eu", "us"], "default": "eu" }
    ],
    "servers": {
      "a": { "type": "stdio", "command": "x", "args": ["--region", "\${input:region}"], "env": { "KEY": "\${input:key}" } },
      "b": { "type": "http", "url": "https://b.example/\${env:PART}", "headers": { "X-Key": "\${input:key}" } }
    }
  }`;
  const { servers } = await load("mcp.json", text, { PART: "mcp" });
  expect(servers).toMatchObject([
    { args: ["--region", "eu"], obstacle: "missing input key (set the environment variable INPUT_KEY)" },
    { url: "https://b.example/mcp", obstacle: "missing input key (set the environment variable INPUT_KEY)" },
  ]);
  const answered = await load("mcp.json", text, { PART: "mcp", INPUT_KEY: "k", INPUT_REGION: "us" });
  expect(answered.servers).toMatchObject([
    { args: ["--region", "us"], env: { KEY: "k" } },
    { headers: { "X-Key": "k" } },
  ]);
  expect(answered.servers[0]).not.toHaveProperty("obstacle");
});

test("asks the user once for each input that servers need, and never for disabled servers [M1]", async () => {
  const { servers, ask } = await load(
    "mcp.json",
    JSON.stringify({
      inputs: [{ id: "key", description: "API key", password: true }],
      servers: {
        a: { command: "x", env: { KEY: "${input:key}", OTHER: "${input:not declared}" } },
        b: { command: "x", env: { KEY: "${input:key}" } },
        c: { command: "x", env: { KEY: "${input:unasked}" }, disabled: true },
      },
    }),
  );
  expect(servers.every(({ obstacle }) => obstacle?.startsWith("missing input"))).toBe(true);
  const asked: unknown[] = [];
  const answered = await ask({
    input: async (input) => {
      asked.push(input);
      return input.id === "key" ? "secret" : undefined;
    },
    mayTrust: async () => false,
  });
  expect(asked).toEqual([
    { id: "key", description: "API key", isSecret: true, choices: [] },
    { id: "not declared", description: "not declared", isSecret: true, choices: [] },
  ]);
  expect(answered).toMatchObject([
    {
      env: { KEY: "secret" },
      obstacle: "missing input not declared (set the environment variable INPUT_NOT_DECLARED)",
    },
    { env: { KEY: "secret" } },
    { enabled: false },
  ]);
  expect(answered[1]).not.toHaveProperty("obstacle");
});

test("reads the TOML of Codex, with variables named without placeholders [M1]", async () => {
  const { servers, warnings } = await load(
    "config.toml",
    `model = "x"
[mcp_servers.docs]
command = "npx"
args = ["-y", "docs"]
env_vars = ["TOKEN", "ABSENT"]
env = { A = "1" }
tool_timeout_sec = 7
disabled_tools = ["rm"]

[mcp_servers."far away"]
url = "https://f.example/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { X = "1" }
env_http_headers = { Y = "TOKEN" }

[mcp_servers.off]
command = "x"
enabled = false

[mcp_servers.bad]
comand = "x"
`,
    { TOKEN: "t" },
  );
  expect(servers).toMatchObject([
    {
      name: "docs",
      source: "config.toml:2:1",
      command: "npx",
      args: ["-y", "docs"],
      env: { TOKEN: "t", A: "1" },
      timeoutMs: 7000,
      disabledTools: ["rm"],
    },
    { name: "far away", transport: "http", headers: { X: "1", Authorization: "Bearer t", Y: "t" } },
    { name: "off", enabled: false },
  ]);
  expect(warnings).toEqual([
    {
      source: "config.toml:20:1",
      error: "MCP server 'bad': command is required for stdio transport",
      fix: '"comand" is not known here, write "command"',
    },
  ]);
});

test("reads the lists of commands, the placeholders and the milliseconds of opencode [M1]", async () => {
  const { servers } = await load(
    "opencode.jsonc",
    `{ "$schema": "x", "mcp": {
      "a": { "type": "local", "command": ["npx", "-y", "p"], "environment": { "T": "{env:T}" }, "timeout": 5000 },
      "b": { "type": "remote", "url": "https://b.example", "headers": { "A": "Bearer {env:T}" }, "enabled": false },
      "timeout": 30
    } }`,
    { T: "t" },
  );
  expect(servers).toMatchObject([
    { name: "a", command: "npx", args: ["-y", "p"], env: { T: "t" }, timeoutMs: 5000 },
    { name: "b", transport: "http", headers: { A: "Bearer t" }, enabled: false },
  ]);
});

test("reads a Zed command in one object, and a file that consists of servers alone [M1]", async () => {
  const zed = await load(
    "settings.json",
    '{ "context_servers": { "a": { "source": "custom", "command": { "path": "x", "args": ["1"], "env": { "K": "v" } } } } }',
  );
  expect(zed.servers).toMatchObject([{ command: "x", args: ["1"], env: { K: "v" } }]);
  const bare = await load("bare.json", '{ "a": { "command": "x" }, "b": { "url": "https://b.example" } }');
  expect(bare.servers).toMatchObject([{ name: "a" }, { name: "b", transport: "http" }]);
});

test("reads an env file, and keeps a server from starting if the file is missing [M2]", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "skillgate-dialects-"));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  writeFileSync(join(cwd, "keys.env"), "A=1\nB=2\n");
  writeFileSync(
    join(cwd, "x.json"),
    JSON.stringify({
      servers: {
        a: { command: "x", envFile: "${workspaceFolder}/keys.env", env: { B: "3" } },
        b: { command: "x", envFile: "none.env" },
        c: { command: "x", envFile: "/dev/null" },
      },
    }),
  );
  const { servers } = await loadConfig({ cwd, home: cwd, env: {}, mcpConfigFile: "x.json" });
  expect(servers).toMatchObject([
    { env: { A: "1", B: "3" } },
    { obstacle: "missing file none.env" },
    { obstacle: "missing file /dev/null" },
  ]);
});

test("a mistake is reported with its line, its column and a fix [M1]", async () => {
  const { servers, warnings } = await load(
    "mcp.json",
    `{
  "mcpServers": {
    "a": {
      "command": "x",
      "env": { "N": { } }
    },
    "b": { "command": "x", "enabled": "yes" },
    "c": { "command": "x" },
    "c": { "command": "y" },
    "d": { "url": "example.com" }
  }
}`,
  );
  expect(servers.map(({ name }) => name)).toEqual(["c"]);
  expect(warnings).toEqual([
    {
      source: "mcp.json:9:5",
      error: 'Cannot read the configuration: mcp.json: "c" appears twice (CONFIG_INVALID)',
      fix: "remove one of them, the first counts",
    },
    {
      source: "mcp.json:5:7",
      error: "MCP server 'a': env.N must be text",
      fix: 'write it in quotes, as in "env": { "NAME": "value" }',
    },
    {
      source: "mcp.json:7:28",
      error: "MCP server 'b': enabled must be true or false",
      fix: 'write "enabled": true, without quotes',
    },
    { source: "mcp.json:10:12", error: "MCP server 'd': url must begin with http:// or https://" },
  ]);
});

test("ignores its own entry in a file that it shares with other clients [M1]", async () => {
  const { servers, warnings } = await load(
    "mcp.json",
    JSON.stringify({
      mcpServers: {
        a: { command: "skillgate", args: ["serve", "--stdio"] },
        b: { command: "npx", args: ["-y", "skillgate@0.1.0", "serve"] },
        c: { command: "/usr/bin/node", args: ["/opt/skillgate/dist/src/bin.js", "serve", "--stdio"] },
        e: { command: { path: "skillgate", args: ["serve", "--stdio"] } },
        d: { command: "npx", args: ["-y", "skillgate-tools", "serve"] },
      },
    }),
  );
  expect(servers.map(({ name }) => name)).toEqual(["d"]);
  expect(warnings).toEqual([]);
});

test("reports an entry that starts Skillgate in another folder [M1]", async () => {
  const { servers, warnings } = await load(
    "mcp.json",
    '{ "mcpServers": { "other": { "command": "skillgate", "args": ["serve"], "cwd": "other" }, "own": { "command": "skillgate", "args": ["serve"], "cwd": "." }, "here": { "command": "npx", "args": ["-y", "skillgate@1.2.3", "serve", "--folder", "."] } } }',
  );
  expect(servers).toEqual([]);
  expect(warnings).toEqual([
    {
      source: "mcp.json:1:19",
      error:
        "MCP server 'other' is left out: it starts Skillgate in another folder; declare the servers of that folder here",
    },
  ]);
});

test("reads the time limits of Gemini in milliseconds, those of other files in seconds [M1]", async () => {
  const text = '{ "mcpServers": { "a": { "command": "x", "timeout": 60000 } } }';
  const gemini = await load(".gemini/settings.json", text);
  expect(gemini.servers).toMatchObject([{ timeoutMs: 60_000 }]);
  expect(gemini.warnings).toEqual([]);
  const plain = await load("mcp.json", text);
  expect(plain.servers).toMatchObject([{ timeoutMs: 60_000_000 }]);
  expect(plain.warnings).toEqual([
    {
      source: "mcp.json:1:42",
      error: "MCP server 'a': timeout is in seconds; 60000 s are more than an hour",
      fix: 'write "timeout": 60 if 60000 milliseconds are meant',
    },
  ]);
});

test.each([
  [
    { type: "local", command: ["npx", "p"], environment: { T: "{env:T}" }, timeout: 5000, enabled: true },
    "opencode",
    { command: "npx", args: ["p"], env: { T: "${T}" }, timeout: 5 },
  ],
  [
    { command: "x", env_vars: ["A"], tool_timeout_sec: 3 },
    "codex",
    { command: "x", args: [], env: { A: "${A}" }, timeout: 3 },
  ],
  [
    { url: "https://u", bearer_token_env_var: "B", env_http_headers: { H: "V" } },
    "codex",
    { type: "http", url: "https://u", headers: { H: "${V}", Authorization: "Bearer ${B}" } },
  ],
  [{ url: "https://u", headers: { X: "$K" } }, "gemini", { type: "sse", url: "https://u", headers: { X: "${K}" } }],
  [
    { httpUrl: "https://u", timeout: 60000, excludeTools: ["rm"] },
    "gemini",
    { type: "http", url: "https://u", timeout: 60, disabledTools: ["rm"] },
  ],
  [
    { serverUrl: "https://u", text: { list: "text" } },
    "windsurf",
    { type: "http", url: "https://u", text: { list: "text" } },
  ],
  [{ command: { path: "x", args: ["1"], env: { K: "v" } } }, "zed", { command: "x", args: ["1"], env: { K: "v" } }],
  [{ command: "x", disabled: true, autoApprove: ["y"] }, "cursor", { command: "x", args: [], enabled: false }],
  [{ source: "extension", settings: {} }, "zed", undefined],
])("converts %j of %s to an entry of ours [M10]", (entry, client, ours) => {
  expect(normalizeEntry(entry, client)).toEqual(ours);
});

test("reads login options under the names that several clients use [M7]", async () => {
  const oauth = { client_id: "id", clientSecret: "${SECRET}", scopes: ["a", "b"], callbackPort: 8080 };
  const { servers, warnings } = await load(
    "mcp.json",
    JSON.stringify({
      mcpServers: {
        a: { url: "https://a.example", oauth },
        b: { url: "https://b.example", oauth: false },
        c: { url: "https://c.example", oauth: { grant: "password" } },
        d: { url: "https://d.example", oauth: "yes" },
      },
    }),
    { SECRET: "s" },
  );
  expect(servers).toMatchObject([
    { oauth: { clientId: "id", clientSecret: "s", scope: "a b", callbackPort: 8080 } },
    { oauth: false },
  ]);
  expect(warnings.map(({ error }) => error)).toEqual([
    `MCP server 'c': grant "password" is not known, use authorization_code, client_credentials or jwt_bearer`,
    "MCP server 'd': oauth must be an object or false",
  ]);
});

test("reads the login at an identity provider, and reports what it lacks [M7]", async () => {
  const identityProvider = {
    issuer: "https://idp.example",
    clientId: "i",
    clientSecret: "${SECRET}",
    idToken: "${cmd:t}",
  };
  const oauth = { clientId: "id", identityProvider };
  const entries = {
    a: oauth,
    b: { clientId: "id", grant: "jwt_bearer", assertion: "j", dpop: true },
    c: { identityProvider },
    d: { ...oauth, grant: "client_credentials" },
    e: { ...oauth, identityProvider: { clientId: "i" } },
    f: { ...oauth, identityProvider: "https://idp.example" },
    g: { clientId: "id", grant: "jwt_bearer" },
    h: { ...oauth, assertion: "j" },
    i: { ...oauth, dpop: "yes" },
    j: { ...oauth, scope: "${cmd:t}" },
  };
  const mcpServers = Object.fromEntries(
    Object.entries(entries).map(([name, login]) => [name, { url: "https://a.example", oauth: login }]),
  );
  const { servers, warnings } = await load("mcp.json", JSON.stringify({ mcpServers }), { SECRET: "s" });
  expect(servers).toMatchObject([
    {
      oauth: {
        clientId: "id",
        grant: "jwt_bearer",
        identityProvider: { issuer: "https://idp.example", clientSecret: "s" },
      },
    },
    { oauth: { clientId: "id", grant: "jwt_bearer", assertion: "j", dpop: true } },
  ]);
  expect(warnings.map(({ error }) => error)).toEqual([
    "MCP server 'c': oauth.clientId is required for the grant jwt_bearer",
    "MCP server 'd': oauth.identityProvider cannot be used with the grant client_credentials",
    "MCP server 'e': identityProvider.issuer is required",
    "MCP server 'f': identityProvider must be an object",
    "MCP server 'g': the grant jwt_bearer needs an assertion or an identityProvider",
    "MCP server 'h': the grant jwt_bearer needs an assertion or an identityProvider, not both",
    "MCP server 'i': dpop must be true or false",
    "MCP server 'j': scope cannot have ${cmd:…}",
  ]);
});

test("reports a probable mistake in an entry, and starts its server [M1]", async () => {
  const { servers, warnings } = await load(
    "mcp.json",
    `{ "mcpServers": {
  "a": { "command": "npx -y some-server" },
  "b": { "command": "/opt/My Programs/server" }
} }`,
  );
  expect(servers.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(warnings).toEqual([
    {
      source: "mcp.json:2:10",
      error: "MCP server 'a': command must be the name of one program; its arguments belong in args",
      fix: 'write "command": "npx", "args": ["-y", "some-server"]',
    },
  ]);
});
