import { symlink } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { call, connected, fixture, temporaryFolder } from "../../support/mcp/servers.ts";

const failure = (server: string): { readonly source: string; readonly error: string } => ({
  source: "fixture",
  error: server,
});

test("connects a valid server, with its tools, its instructions and its version [M3]", async () => {
  const provider = await connected([fixture()]);
  const [status] = provider.servers;
  expect(status).toMatchObject({
    name: "fixture",
    skill: "FixtureMCP",
    status: "connected",
    transport: "stdio",
    protocolVersion: "2025-11-25",
  });
  const [skill] = provider.skills;
  expect(skill).toMatchObject({
    name: "FixtureMCP",
    description: "Fixture",
    source: "fixture",
    kind: "mcp",
    server: "fixture",
    guidance: "Be kind to it",
  });
  expect(skill?.methods[0]).toEqual({
    name: "echo",
    description: "Does echo",
    input: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
    takesLongIntegers: true,
    metadata: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    toolFields: {
      title: "Echo",
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
  });
  expect(provider.problems).toEqual([]);
});

test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
  "uses the protocol version of a server of %s [M3]",
  async (version) => {
    const provider = await connected([fixture([version])]);
    expect(provider.servers[0]).toMatchObject({ status: "connected", protocolVersion: version });
    expect(await call(provider, "echo", { message: "hi" })).toBe("hi");
  },
);

test("connects to a server of 2026-07-28 without a handshake [M3]", async () => {
  const provider = await connected([fixture(["modern"])]);
  expect(provider.servers[0]).toMatchObject({ status: "connected", protocolVersion: "2026-07-28" });
  expect(await call(provider, "echo", { message: "hi" })).toBe("hi");
});

test("restarts a server that exits during version negotiation, with the older protocol [M3]", async () => {
  const provider = await connected([fixture(["exit-on-probe"])]);
  expect(provider.servers[0]).toMatchObject({ status: "connected", protocolVersion: "2025-11-25" });
});

test(
  "uses the older protocol for a server that does not answer the version negotiation [M3]",
  { tags: "rest" },
  async () => {
    const provider = await connected([fixture(["silent-on-probe"])], { connectTimeoutMs: 3_000 });
    expect(provider.servers[0]).toMatchObject({ status: "connected", protocolVersion: "2025-11-25" });
  },
);

test.each([
  [
    "exit-at-start",
    '"fixture" exited with code 1 before it was ready, stdout: "Usage: fixture --key KEY", stderr: "fixture: API_KEY is not set"',
  ],
  ["initialize-fails", '"fixture" refused the handshake: license expired'],
  ["initialize-is-odd", '"fixture" refused the handshake: the result is not an object'],
  ["1999-01-01", `"fixture" refused the handshake: Server's protocol version is not supported: 1999-01-01`],
  ["list-fails", '"fixture" did not list its tools: database is locked'],
  ["fetch-fails", '"fixture" did not list its tools: fetch failed'],
  ["list-is-odd", '"fixture" did not list its tools: the server answers tools/list without a list of tools'],
  ["die-on-list", '"fixture" exited with code 4 before it was ready'],
])("reports why a server that starts with %s is down [M3, X8]", { tags: "rest" }, async (way, values) => {
  const provider = await connected([fixture([way])]);
  const error = `Cannot start the MCP server: ${values} (SERVER_FAILED)`;
  expect(provider.servers[0]).toMatchObject({ status: "error", error, toolCount: 0 });
  expect(provider.problems).toEqual([failure(error)]);
  expect(provider.skills).toEqual([]);
});

test.each(["hang", "hang-on-list"])(
  "reports a server that does not answer (%s) as down after the time limit, with its output [X8]",
  { tags: "rest" },
  async (way) => {
    const provider = await connected([fixture([way, "banner"])], { connectTimeoutMs: 1_000 });
    const error =
      'Cannot start the MCP server: "fixture" did not answer within 1 s, stdout: "listening on stdio" (SERVER_FAILED)';
    expect(provider.servers[0]).toMatchObject({ status: "error", error });
  },
);

test("says that a server which does not answer in time may still be downloaded [X8]", async () => {
  const command = join(await temporaryFolder(), "npx");
  await symlink(process.execPath, command);
  const provider = await connected([fixture(["hang"], { command })], { connectTimeoutMs: 1_000 });
  const hint = "if npx still downloads it, run its command once in a terminal or raise timeouts.connectMs";
  const error = `Cannot start the MCP server: "fixture" did not answer within 1 s, ${hint} (SERVER_FAILED)`;
  expect(provider.servers[0]).toMatchObject({ status: "error", error });
});

test.each(["banner", "partial", "byte-order-mark", "loud"])(
  "connects a server that prints %s first [M9]",
  async (way) => {
    const provider = await connected([fixture([way])]);
    expect(provider.servers[0]).toMatchObject({ status: "connected" });
    expect(await call(provider, "echo", { message: "hi" })).toBe("hi");
  },
);

test("stores the end of each server's stderr, without colours and control characters [M9]", async () => {
  const provider = await connected([fixture(["loud"])]);
  await call(provider, "complain");
  const tail = (): string => provider.servers[0]?.stderrTail ?? "";
  // It comes by another way than the answer, and may come after it.
  await expect.poll(tail).toMatch(/^x{79}\n[^]*x{79}\nit is late$/);
  expect(tail().length).toBeLessThanOrEqual(16 << 10);
});

test("omits invalid tools with the reason, and offers the others [M3]", async () => {
  const provider = await connected([fixture(["bad-tools"])]);
  const [skill] = provider.skills;
  expect(
    skill?.methods.map(({ name, wireName, description, input, output }) => [
      name,
      wireName,
      description,
      input,
      output,
    ]),
  ).toEqual([
    ["good", undefined, "Does good", { type: "object" }, undefined],
    ["no_schema", undefined, "Does no_schema", { type: "object" }, undefined],
    ["untyped_schema", undefined, "Does untyped_schema", { type: "object", properties: { a: {} } }, undefined],
    ["no_description", undefined, "Titled", { type: "object" }, undefined],
    ["nothing_said", undefined, "MCP tool: nothing_said", { type: "object" }, undefined],
    ["odd_output", undefined, "Does odd_output", { type: "object" }, undefined],
    ["odd_annotations", undefined, "Does odd_annotations", { type: "object" }, undefined],
    ["then_", "then", "Does then", { type: "object" }, undefined],
    ["__proto___", "__proto__", "Does __proto__", { type: "object" }, undefined],
  ]);
  expect(provider.servers[0]?.quarantined).toEqual([
    { tool: "#2", reason: "it is not an object" },
    { tool: "#3", reason: "it is not an object" },
    { tool: "#4", reason: "it has no name" },
    { tool: "list_schema", reason: "its inputSchema is not an object" },
    { tool: "text_schema", reason: 'its inputSchema has the type "string" where "object" is wanted' },
    { tool: "good", reason: "another tool has this name" },
  ]);
  expect(provider.problems[3]).toEqual(failure('the tool "list_schema" is left out, its inputSchema is not an object'));
  expect(await call(provider, "__proto__")).toBe("called __proto__");
});

test("omits only the invalid tools of a server of 2026-07-28 [M3]", async () => {
  const provider = await connected([fixture(["modern", "bad-tools"])]);
  expect(provider.servers[0]).toMatchObject({ protocolVersion: "2026-07-28", toolCount: 9 });
});

test("makes tools callable whose names are not valid in JavaScript [N2]", async () => {
  const provider = await connected([fixture(["odd-names"])]);
  const names = provider.servers[0]?.tools.map(({ name, method }) => [name, method]);
  expect(names).toEqual([
    ["constructor", "constructor_"],
    ["toString", "toString_"],
    ["class", "class"],
    ["browser:click", "browser_click"],
    ["größe", "größe"],
    ["日本", "日本"],
    ["1st", "_1st"],
    ["x".repeat(140), "x".repeat(128)],
  ]);
  for (const [name = ""] of names ?? []) expect(await call(provider, name)).toBe(`called ${name}`);
});

test("turns get-user, get_user and getUser of one server into three methods [N2]", async () => {
  const provider = await connected([fixture()]);
  const methods = provider.servers[0]?.tools.filter(({ name }) => name.startsWith("get"));
  expect(methods?.map(({ name, method }) => [name, method])).toEqual([
    ["get-user", "get_user_2"],
    ["get_user", "get_user"],
    ["getUser", "getUser"],
  ]);
  expect(await call(provider, "get-user")).toBe("get-user");
});

test.each([
  ["endless", 100, "tools/list has no end, its first 100 tools are used"],
  ["endless-same", 1, "tools/list has no end, its first 2 tools are used"],
  ["page-fails", 1, "tools/list ended after 1 tools: bad cursor"],
])("uses the valid part of a list of tools that is %s [M3]", async (way, toolCount, error) => {
  const provider = await connected([fixture([way])]);
  expect(provider.servers[0]).toMatchObject({ status: "connected", toolCount });
  expect(provider.problems[0]).toEqual(failure(error));
});

test("connects a server without tools [M3]", async () => {
  const provider = await connected([fixture(["no-tools"])]);
  expect(provider.servers[0]).toMatchObject({ status: "connected", toolCount: 0 });
  expect(provider.problems).toEqual([]);
});

test("omits tools that the configuration disables, and keeps the names of the others [M1]", async () => {
  const provider = await connected([fixture([], { disabledTools: ["get_user", "echo"] })]);
  const names = provider.skills[0]?.methods.map((method) => method.name) ?? [];
  expect(names).not.toContain("echo");
  expect(names.filter((name) => name.startsWith("get"))).toEqual(["get_user_2", "getUser"]);
  await expect(call(provider, "echo")).rejects.toMatchObject({
    code: "METHOD_UNKNOWN",
    message: "Tool not found: fixture.echo",
  });
});

test("offers only the tools that the configuration enables, and reports the others [M1]", async () => {
  const entry = { enabledTools: ["echo", "get*", "f*_s*ly"], disabledTools: ["get-user"], alwaysAllow: ["pid"] };
  const provider = await connected([fixture([], entry)]);
  const [status] = provider.servers;
  expect(status?.tools.map(({ name }) => name)).toEqual(["echo", "fail_silently", "get_user", "getUser"]);
  expect(status?.disabledTools).toEqual(expect.arrayContaining(["get-user", "pid"]));
  await expect(call(provider, "pid")).rejects.toMatchObject({ message: "Tool not found: fixture.pid" });
});

test("starts no server whose entry restricts its tools in an unknown way [M1]", async () => {
  const provider = await connected([fixture([], { allowedTools: ["echo"] })]);
  expect(provider.servers[0]).toMatchObject({
    status: "error",
    toolCount: 0,
    error: expect.stringContaining("allowedTools"),
  });
  expect(provider.skills).toEqual([]);
});

test("names the cause in the stderr output of a server that does not start [X8]", async () => {
  const provider = await connected([fixture(["module-missing"])]);
  expect(provider.servers[0]?.error).toMatch(
    /^Cannot start the MCP server: "fixture" exited with code 1 before it was ready, stderr: "Error \[ERR_MODULE_NOT_FOUND\]: Cannot find module '[^']+no-such-module\.js' [^\n]+" \(SERVER_FAILED\)$/,
  );
});

test("names the cause in the stdout output of a server that does not start [X8]", async () => {
  const code = 'console.log("Error: no key\\n    at main (x.js:1)"); process.exit(1)';
  const provider = await connected([fixture([], { args: ["-e", code] })]);
  expect(provider.servers[0]?.error).toBe(
    'Cannot start the MCP server: "fixture" exited with code 1 before it was ready, stdout: "Error: no key" (SERVER_FAILED)',
  );
});

test("reports text on the stdout of a server at its first line [M9]", async () => {
  const logged: string[] = [];
  await connected([fixture(["banner"])], { log: (...entry) => logged.push(entry.join(" ")) });
  expect(logged.filter((entry) => entry.includes("stdout"))).toEqual([
    'fixture warn prints text on stdout, which is for messages only: "Fixture 1.0"',
  ]);
});
