import { once } from "node:events";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { request as sendRequest } from "node:http";
import { join, resolve } from "node:path";
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { WebSocket } from "ws";

import { findFreePort } from "../../../support/servers/free-port.ts";
import { MATH_SKILL, project } from "../../cli/command.ts";
import { newClient, oldClient, onToolsChanged, type Parsed, post } from "../../serving.ts";
import { startLate, TOKEN } from "./late-server.ts";

const BUILTIN = ["search_skills", "describe_function", "run_code"];
const CODE = { name: "run_code", arguments: { code: "1 + 1" } };
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};
const LIST = { jsonrpc: "2.0", id: 2, method: "tools/list" };

const names = ({ tools }: { readonly tools: readonly { readonly name: string }[] }): readonly string[] =>
  tools.map(({ name }) => name);

test.each([
  ["2025", oldClient],
  ["2026", newClient],
] as const)(
  "answers the first requests while the program starts, and calls when it has started (%s) [V1]",
  { tags: "rest" },
  async (_era, connect) => {
    const server = await startLate(project({ "skills/math.js": MATH_SKILL }));
    const client = await connect(server.url);
    expect(names(await client.listTools())).toEqual(BUILTIN);
    const called = client.callTool(CODE as never);
    server.go();
    expect(await called).toMatchObject({ content: [{ text: "2" }] });
    await expect.poll(async () => names(await client.listTools())).toContain("MathSkill__add");
  },
);

test("notifies a client whose list was sent before the methods were known [V1]", { tags: "rest" }, async () => {
  const server = await startLate(project({ "skills/math.js": MATH_SKILL }));
  const client = await oldClient(server.url);
  const isChanged = new Promise<void>((done) => onToolsChanged(client, done));
  expect(names(await client.listTools())).toEqual(BUILTIN);
  server.go();
  await isChanged;
  expect(names(await client.listTools())).toContain("MathSkill__add");
});

test("answers with the texts of the last start [V1]", { tags: "rest" }, async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL });
  const options = { flags: ["--no-auth", "--expose", "both"], port: await findFreePort() };
  const first = await startLate(cwd, options);
  const listed = (await oldClient(first.url)).listTools();
  first.go();
  expect(names(await listed)).toContain("MathSkill__add");
  first.child.kill("SIGTERM");
  await first.end;
  const second = await startLate(cwd, options);
  expect(names(await (await oldClient(second.url)).listTools())).toContain("MathSkill__add");
});

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

test("answers the first requests as the complete server does [V1]", async () => {
  const server = await startLate(project());
  const url = `${server.url}/mcp`;
  const ask = async (): Promise<readonly Parsed[]> => {
    const answers: Parsed[] = [];
    for (const protocolVersion of [...SUPPORTED_PROTOCOL_VERSIONS, "1999-01-01"]) {
      const opened = await post(url, { ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion } });
      const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
      answers.push(opened.json, (await post(url, LIST, session)).json);
    }
    for (const method of ["server/discover", "tools/list"]) {
      const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": method };
      answers.push((await post(url, { jsonrpc: "2.0", id: 3, method, params: { _meta: META } }, headers)).json);
    }
    return answers;
  };
  const early = await ask();
  server.go();
  await fetch(`${server.url}/health`);
  expect(early).toEqual(await ask());
});

const BEARER = { authorization: `Bearer ${TOKEN}` };

const MODERN = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
const WRONG_LEVEL = { ...LIST, params: { _meta: { ...META, "io.modelcontextprotocol/logLevel": "loud" } } };

const initialize = (change: object): string =>
  JSON.stringify({ ...INITIALIZE, params: { ...INITIALIZE.params, ...change } });

/** Requests that the complete server refuses, with the status of the refusal. */
const REFUSED: readonly (readonly [
  what: string,
  status: number,
  path: string,
  headers: Record<string, string>,
  body: string,
])[] = [
  ["no token", 401, "/mcp", {}, JSON.stringify(INITIALIZE)],
  ["a wrong token", 401, "/mcp", { authorization: "Bearer wrong" }, JSON.stringify(INITIALIZE)],
  ["an unknown key", 401, "/mcp", { authorization: "Bearer sg_abcdefgh_x" }, JSON.stringify(INITIALIZE)],
  ["a foreign host", 403, "/mcp", { ...BEARER, host: "evil.example" }, JSON.stringify(INITIALIZE)],
  ["a foreign origin", 403, "/mcp", { ...BEARER, origin: "https://evil.example" }, JSON.stringify(INITIALIZE)],
  ["an unknown profile", 404, "/mcp/unknown", BEARER, JSON.stringify(INITIALIZE)],
  ["an unknown exposure", 400, "/mcp?expose=nothing", BEARER, JSON.stringify(INITIALIZE)],
  ["an unknown session", 404, "/mcp", { ...BEARER, "mcp-session-id": "x" }, JSON.stringify(LIST)],
  ["a large body", 413, "/mcp", BEARER, JSON.stringify({ ...INITIALIZE, more: "x".repeat(3_000) })],
  ["another type", 415, "/mcp", { ...BEARER, "content-type": "text/plain" }, JSON.stringify(INITIALIZE)],
  ["other accepted types", 406, "/mcp", { ...BEARER, accept: "application/json" }, JSON.stringify(INITIALIZE)],
  ["no JSON", 400, "/mcp", BEARER, "{"],
  ["a batch", 400, "/mcp", BEARER, JSON.stringify([INITIALIZE, INITIALIZE])],
  ["a number out of range", 400, "/mcp", BEARER, JSON.stringify(INITIALIZE).replace('"id":1', '"id":1,"x":1e999')],
  ["no session", 400, "/mcp", BEARER, JSON.stringify(LIST)],
  ["a wrong capability", 400, "/mcp", BEARER, initialize({ capabilities: { roots: 5 } })],
  ["a wrong switch", 400, "/mcp", BEARER, initialize({ capabilities: { roots: { listChanged: "yes" } } })],
  ["a wrong title", 400, "/mcp", BEARER, initialize({ clientInfo: { name: "raw", version: "1", title: 7 } })],
  ["a wrong log level", 400, "/mcp", { ...BEARER, ...MODERN }, JSON.stringify(WRONG_LEVEL)],
  ["wrong icons", 400, "/mcp", BEARER, initialize({ clientInfo: { name: "raw", version: "1", icons: 7 } })],
  ["a wrong _meta", 400, "/mcp", BEARER, initialize({ _meta: { progressToken: {} } })],
  ["an unknown path", 404, "/unknown", BEARER, JSON.stringify(INITIALIZE)],
];

test("answers nothing early that the complete server refuses [V1] [V6]", { tags: "rest" }, async () => {
  const cwd = project({ "settings.yaml": "server:\n  bodyBytes: 2000\n" });
  const server = await startLate(cwd, { flags: [] });
  const early = new Map<string, number>();
  const answers = REFUSED.map(async ([what, , ...wanted]) => {
    const status = await send(server.url, ...wanted);
    early.set(what, status);
    return [what, status];
  });
  expect((await post(`${server.url}/mcp`, INITIALIZE, BEARER)).status).toBe(200);
  expect([...early]).toEqual([]);
  server.go();
  expect(await Promise.all(answers)).toEqual(REFUSED.map(([what, status]) => [what, status]));
});

test.each(["_meta", "capabilities", "unknown"])(
  "starts although a client sends deep %s [V1] [V6]",
  { tags: "rest" },
  async (name) => {
    const server = await startLate(project());
    const extensions = `{"extensions":{"deep":${'{"a":'.repeat(9_000)}1${"}".repeat(9_000)}}}`;
    const deep = initialize({ [name]: 1 }).replace(`"${name}":1`, `"${name}":${extensions}`);
    const refused = send(server.url, "/mcp", {}, deep);
    const answered = post(`${server.url}/mcp`, INITIALIZE);
    expect((await answered).status).toBe(200);
    server.go();
    await refused;
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
  },
);

/** Sends a request with any headers; returns the status of the answer. */
async function send(url: string, path: string, headers: Record<string, string>, body: string): Promise<number> {
  const usual = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const request = sendRequest(url + path, { method: "POST", headers: { ...usual, ...headers } });
  request.end(body);
  const [response] = (await once(request, "response")) as [{ statusCode: number; resume(): void }];
  response.resume();
  return response.statusCode;
}

test("passes WebSockets and other requests to the complete server [V2] [V6]", { tags: "rest" }, async () => {
  const server = await startLate(project());
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/ws`);
  const health = fetch(`${server.url}/health`);
  const { json } = await post(`${server.url}/mcp`, INITIALIZE);
  expect(json).toMatchObject({ result: { serverInfo: { name: "skillgate" } } });
  server.go();
  await once(socket, "open");
  socket.close();
  expect(await (await health).json()).toMatchObject({ status: "healthy" });
});

test("bounds the number of requests that wait [V6]", { tags: "rest" }, async () => {
  const server = await startLate(project(), { flags: [] });
  const statuses: number[] = [];
  let countRefusals = (): void => {};
  const refusals = new Promise<void>((resolve) => (countRefusals = () => void (statuses.length === 12 && resolve())));
  const requests = Array.from({ length: 140 }, async () => {
    const { status } = await fetch(`${server.url}/health`);
    statuses.push(status);
    countRefusals();
  });
  await refusals;
  expect(new Set(statuses)).toEqual(new Set([503]));
  server.go();
  await Promise.all(requests);
  expect(statuses.filter((status) => status === 200)).toHaveLength(128);
});

test("refuses the requests that wait if the start fails [V6]", { tags: "rest" }, async () => {
  const cwd = project();
  const server = await startLate(cwd);
  const called = post(`${server.url}/rpc`, { jsonrpc: "2.0", id: 1, method: "list_tools" });
  expect((await post(`${server.url}/mcp`, INITIALIZE)).status).toBe(200);
  writeFileSync(join(cwd, "settings.yaml"), "server:\n  port: many\n");
  server.go();
  const { status, json, headers } = await called;
  expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
  expect(json).toMatchObject({ error: { data: { reason: "The server ends before its start is complete" } } });
  const { exit, stdout, stderr } = await server.end;
  expect([exit, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("server.port must be a whole number from 0 to 65535");
});

test("listens again if the settings have changed during the start [V6]", { tags: "rest" }, async () => {
  const cwd = project();
  const server = await startLate(cwd);
  const called = fetch(`${server.url}/health`);
  expect((await post(`${server.url}/mcp`, INITIALIZE)).status).toBe(200);
  writeFileSync(join(cwd, "settings.yaml"), "server:\n  expose: code\n");
  server.go();
  expect((await called).status).toBe(503);
  const url = `${server.url}/mcp`;
  await expect.poll(() => post(url, INITIALIZE).catch(() => ({ status: 0 }))).toMatchObject({ status: 200 });
});

test("ends with a signal during the start [V6]", { tags: "rest" }, async () => {
  const server = await startLate(project());
  const waiting = fetch(`${server.url}/health`).then(({ status }) => status);
  expect((await post(`${server.url}/mcp`, INITIALIZE)).status).toBe(200);
  server.child.kill("SIGTERM");
  server.go();
  expect(await server.end).toMatchObject({ exit: 143, stdout: "" });
  expect(await waiting).toBe(503);
});

test(
  "starts no known server over HTTP before a call of it, if servers start when needed [V1] [M3]",
  { tags: "rest" },
  async () => {
    const cwd = project({ "settings.yaml": 'mcp:\n  start: "when needed"\n' });
    const mark = join(cwd, "mark");
    const script = `require("node:fs").writeFileSync(${JSON.stringify(mark)}, ""); import(${JSON.stringify(resolve("test/fixtures/mcp/server.js"))});`;
    const mcpServers = { marked: { command: process.execPath, args: ["-e", script] } };
    const describe = { name: "describe_function", arguments: { path: "MarkedMCP.echo" } };
    const call = { name: "run_code", arguments: { code: 'await device.MarkedMCP.echo({ message: "hello" })' } };
    for (const isStarted of [true, false]) {
      const server = await startLate(cwd, { mcpServers });
      server.go();
      const client = await oldClient(server.url);
      await client.listTools();
      expect(JSON.stringify(await client.callTool(describe))).toContain("MarkedMCP.echo");
      expect(existsSync(mark)).toBe(isStarted);
      expect(JSON.stringify(await client.callTool(call))).toContain("hello");
      expect(existsSync(mark)).toBe(true);
      rmSync(mark);
      server.child.kill("SIGTERM");
      await server.end;
    }
  },
);
