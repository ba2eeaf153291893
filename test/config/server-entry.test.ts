import { resolve } from "node:path";

import { expect, test } from "vitest";

import { toServerConfig } from "../../src/config/index.ts";

const scope = { cwd: "/project", env: { TOKEN: "t" } };
const parse = (entry: unknown): ReturnType<typeof toServerConfig> => toServerConfig("x", entry, scope);

test("reads a server that is a process [M1]", () => {
  const entry = {
    command: "npx",
    args: ["-y", 7],
    env: { A: "1", B: 2, C: true, D: null },
    cwd: "sub",
    description: "Says things",
    disabledTools: ["rm"],
    skillName: "Things",
    timeout: 1.5,
    autoApprove: ["what other programs know"],
  };
  expect(parse(entry)).toEqual({
    name: "x",
    source: "mcpServers",
    transport: "stdio",
    command: "npx",
    args: ["-y", "7"],
    env: { A: "1", B: "2", C: "true" },
    cwd: resolve("/project/sub"),
    enabled: true,
    description: "Says things",
    disabledTools: ["rm"],
    skillName: "Things",
    timeoutMs: 1_500,
    declared: entry,
  });
});

test("reads a server with a URL [M1]", () => {
  const entry = { url: "https://example.com/mcp", headers: { Authorization: "Bearer ${TOKEN}" } };
  expect(parse(entry)).toEqual({
    name: "x",
    source: "mcpServers",
    transport: "http",
    url: "https://example.com/mcp",
    headers: { Authorization: "Bearer t" },
    enabled: true,
    disabledTools: [],
    declared: entry,
  });
});

test("fills no value into the description, which models read [M1]", () => {
  const description = "Searches ${TOKEN} ${cmd:cat key}";
  expect(parse({ command: "c", description }).description).toBe(description);
});

test.each([
  [
    { command: ["npx", "-y", "p"], environment: { A: "1" }, type: "local" },
    { transport: "stdio", command: "npx", args: ["-y", "p"], env: { A: "1" } },
  ],
  [{ serverUrl: "http://h/" }, { transport: "http", url: "http://h/" }],
  [{ httpUrl: "http://h/" }, { transport: "http", url: "http://h/" }],
  [{ type: "streamable-http", url: "http://h/" }, { transport: "http" }],
  [{ type: "streamableHttp", url: "http://h/" }, { transport: "http" }],
  [{ transport: "streamable_http", url: "http://h/" }, { transport: "http" }],
  [{ type: "remote", url: "http://h/" }, { transport: "http" }],
  [{ type: "SSE", url: "http://h/" }, { transport: "sse" }],
  [{ transport: "sse", type: "http", url: "http://h/" }, { transport: "sse" }],
  [
    { command: "c", url: "http://h/" },
    { transport: "stdio", command: "c" },
  ],
])("accepts %j [M1]", (entry, expected) => {
  expect(parse(entry)).toMatchObject(expected);
});

test.each([
  ["text", { default: "text", tools: {} }],
  [{ read_file: "text" }, { default: "json", tools: { read_file: "text" } }],
  [
    { "*": "text", list: "json" },
    { default: "text", tools: { list: "json" } },
  ],
])("reads which texts of a server stay texts from text: %j [M5]", (text, expected) => {
  expect(parse({ command: "c", text })).toMatchObject({ text: expected });
});

test.each([
  [{}, true],
  [{ enabled: false }, false],
  [{ disabled: true }, false],
  [{ disabled: false }, true],
  [{ enabled: true, disabled: true }, true],
  [{ enabled: false, disabled: false }, false],
])("reads %j with enabled %s [M1]", (entry, enabled) => {
  expect(parse({ command: "c", ...entry }).enabled).toBe(enabled);
});

test.each([
  ["a text", "its entry must be an object"],
  [{ command: " " }, "command is required for stdio transport"],
  [{ type: "http" }, "url is required for http transport"],
  [{ type: "http", command: "c" }, "url is required for http transport"],
  [{ type: "ws", url: "ws://h" }, 'transport "ws" is not known, use stdio, http or sse'],
  [{ url: "ftp://h/" }, "url must begin with http:// or https://"],
  [{ url: "example.com" }, "url must begin with http:// or https://"],
  [{ url: "http://h/", headers: { "a b": "c" } }, 'header "a b" is not a valid header'],
  [{ url: "http://h/", headers: { a: "new\nline" } }, 'header "a" is not a valid header'],
  [{ url: "http://h/", headers: ["a"] }, "headers must be an object of texts"],
  [{ command: {} }, "command must be text"],
  [{ command: "c", args: [{}] }, "args must be text"],
  [{ command: "c", env: { A: {} } }, "env.A must be text"],
  [{ command: "c", env: "A=1" }, "env must be an object of texts"],
  [{ command: "c", timeout: 0 }, "timeout must be a number above 0"],
  [{ command: "c", timeout: "30" }, "timeout must be a number above 0"],
  [{ command: "c", text: "yaml" }, 'text must be json or text: "yaml"'],
  [{ command: "c", text: { "*": "json", list: 7 } }, 'text of "list" must be json or text: 7'],
  [{ command: "c", enabled: "yes" }, "enabled must be true or false"],
  [{ command: "c", skillName: "not a name" }, 'skillName "not a name" cannot be the name of a skill'],
  [{ command: "c", skillName: "__proto__" }, 'skillName "__proto__" cannot be the name of a skill'],
])("refuses %j with the reason [M1]", (entry, what) => {
  const message = `MCP server 'x': ${what}`;
  expect(() => parse(entry)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID", message }));
});

test("refuses a server without a name [M1]", () => {
  expect(() => toServerConfig(" ", { command: "c" })).toThrow(
    expect.objectContaining({ message: "MCP server name is required" }),
  );
});
