import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

import { toServerConfig } from "../../../src/config/index.ts";
import type { McpProvider, McpProviderOptions, ServerConfig } from "../../../src/providers/mcp/index.ts";
import {
  eventServer,
  jsonServer,
  modernServer,
  plainServer,
  serve,
  sessionServer,
} from "../../support/mcp/http-servers.ts";
import { connected, createContext, until } from "../../support/mcp/servers.ts";

const remote = (url: string, entry: object = {}): ServerConfig => toServerConfig("web", { url, ...entry });

const call = (provider: McpProvider, tool: string, input: Readonly<Record<string, unknown>> = {}): Promise<unknown> =>
  provider.call("web", tool, input, createContext());

test("calls a server of 2026-07-28 over Streamable HTTP [M3]", async () => {
  const server = await modernServer();
  const provider = await connected([remote(server.url)]);
  expect(provider.servers[0]).toMatchObject({
    status: "connected",
    transport: "http",
    protocolVersion: "2026-07-28",
    toolCount: 1,
  });
  expect(await call(provider, "echo", { message: "hi" })).toBe("hi");
});

test("calls a server with a session over Streamable HTTP, and ends the session [M3]", async () => {
  const server = await sessionServer();
  const provider = await connected([remote(server.url, { headers: { Authorization: "Bearer s3cret" } })]);
  expect(provider.servers[0]).toMatchObject({ status: "connected", protocolVersion: "2025-11-25", toolCount: 4 });
  expect(await call(provider, "echo", { message: "hi" })).toBe("hi");
  await provider.close();
  expect(new Set(server.requests)).toEqual(
    new Set(["POST / Bearer s3cret", "GET / Bearer s3cret", "DELETE / Bearer s3cret"]),
  );
});

test.each(["sse", undefined])("calls a server over server-sent events (type %s) [M3]", async (type) => {
  const server = await eventServer();
  const provider = await connected([remote(server.url, { type })]);
  expect(provider.servers[0]).toMatchObject({ status: "connected", protocolVersion: "2025-11-25", toolCount: 4 });
  expect(await call(provider, "echo", { message: "hi" })).toBe("hi");
});

test.each([404, 400])(
  "renews a session that the server has forgotten (HTTP %i), and repeats a read-only call [M4]",
  { tags: "rest" },
  async (status) => {
    const server = await sessionServer(status);
    const provider = await connected([remote(server.url)]);
    server.forget();
    expect(await call(provider, "echo", { message: "hi" })).toBe("hi");
    expect(server.calls).toEqual(["hi"]);
  },
);

test("does not repeat a call that may change something in the new session [M4]", async () => {
  const server = await sessionServer();
  const provider = await connected([remote(server.url)]);
  server.forget();
  await expect(call(provider, "pay")).rejects.toMatchObject({
    code: "SERVER_GONE",
    message:
      'Cannot reach the server of this skill: "web" lost the session; a new one is open, call again (SERVER_GONE)',
  });
  expect(server.calls).toEqual([]);
  expect(await call(provider, "pay")).toBe("paid");
});

/** A server that is down, as a provider finds it, and a function that starts it. */
async function downServer(restart: McpProviderOptions["restart"] & object) {
  const server = await plainServer(200, "");
  await server.close();
  const provider = await connected([remote(server.url)], { restart });
  return { provider, comeUp: () => modernServer(Number(new URL(server.url).port)) };
}

test("connects to a server that comes up after the start [M4]", async () => {
  const { provider, comeUp } = await downServer({ firstDelayMs: 10, longestDelayMs: 20 });
  expect(provider.servers[0]).toMatchObject({ status: "error" });
  await comeUp();
  await until(provider, () => provider.servers[0]?.status === "connected");
  expect(await call(provider, "echo", { message: "hi" })).toBe("hi");
});

test.each([429, 502, 503, 504])("tries a server again that answers HTTP %i at the start [M4]", async (status) => {
  const server = await plainServer(status, "starting");
  const provider = await connected([remote(server.url)], { restart: { firstDelayMs: 10 } });
  const error = `Cannot start the MCP server: "web" answered HTTP ${status}: starting (SERVER_FAILED)`;
  expect(provider.servers[0]).toMatchObject({ status: "error", error });
  await until(provider, () => provider.servers[0]?.status === "connecting");
  await until(provider, () => provider.servers[0]?.status === "error");
});

test("connects at once for a text that names the skill of a server which was down, and for no other text [M4]", async () => {
  const { provider, comeUp } = await downServer({ firstDelayMs: 1 });
  await comeUp();
  expect(provider.reach("await device.OtherMCP.echo()")).toBeUndefined();
  // A background try may have begun.
  await provider.reach("await device.WebMCP.echo()");
  await until(provider, () => provider.servers[0]?.status === "connected");
  expect(provider.reach("await device.WebMCP.echo()")).toBeUndefined();
});

test("connects at once for a call to a server that was lost, without waiting for the delay [M4]", async () => {
  const server = await modernServer();
  const provider = await connected([remote(server.url)], { restart: { firstDelayMs: 3_600_000 } });
  await server.close();
  await expect(call(provider, "echo", { message: "hi" })).rejects.toMatchObject({ code: "SERVER_GONE" });
  await modernServer(Number(new URL(server.url).port));
  expect(await call(provider, "echo", { message: "hi" })).toBe("hi");
});

test("fails the calls of an unreachable server, and tries it again [M4]", async () => {
  const server = await sessionServer();
  const provider = await connected([remote(server.url)], { restart: { firstDelayMs: 10, times: 1 } });
  await server.close();
  // The first call may still find a connection that is about to close.
  const error = expect.stringMatching(/^cannot be reached \((?:ECONNREFUSED|ECONNRESET|UND_ERR_SOCKET)\)$/) as string;
  await expect(call(provider, "echo", { message: "hi" })).rejects.toMatchObject({
    code: "SERVER_GONE",
    facts: { error, tool: "echo", server: "web" },
  });
  expect(provider.servers[0]).toMatchObject({ status: "disconnected", error });
  await until(provider, () => provider.servers[0]?.status === "connecting");
  await until(provider, () => provider.servers[0]?.status === "disconnected");
});

test.each([
  [401, "", "asks for authorization (HTTP 401), log in with: skillgate mcp login web"],
  [403, "", "denies access (HTTP 403)"],
  [500, "out of memory", "answered HTTP 500: out of memory"],
  [404, "no such page", "answered HTTP 404: no such page"],
])("reports a server that answers HTTP %i as down [X8]", async (status, body, words) => {
  const server = await plainServer(status, body);
  const provider = await connected([remote(server.url)]);
  const error = `Cannot start the MCP server: "web" ${words} (SERVER_FAILED)`;
  expect(provider.servers[0]).toMatchObject({ status: "error", error });
});

test("names the address that refuses connections in the error [X8]", async () => {
  const server = await plainServer(200, "");
  await server.close();
  const provider = await connected([remote(server.url)]);
  const { host } = new URL(server.url);
  const error = `Cannot start the MCP server: "web" cannot be reached: connect ECONNREFUSED ${host} (SERVER_FAILED)`;
  expect(provider.servers[0]).toMatchObject({ status: "error", error });
});

test("connects once more after a reset of the connection, and reports a second reset [M4]", async () => {
  const server = await jsonServer(1);
  const provider = await connected([remote(server.url)]);
  expect(await call(provider, "echo", { message: "hi" })).toBe("hi");
  const silent = await jsonServer(Infinity);
  const { servers } = await connected([remote(silent.url)]);
  expect(servers[0]).toMatchObject({
    status: "error",
    error: 'Cannot start the MCP server: "web" cannot be reached: read ECONNRESET (SERVER_FAILED)',
  });
  expect(silent.requests).toHaveLength(2);
});

test("does not mistake a web page for a server [X8]", async () => {
  const server = await plainServer(200, "<html>");
  const provider = await connected([remote(server.url)]);
  expect(provider.servers[0]?.error).toBe(
    'Cannot start the MCP server: "web" refused the handshake: Unexpected content type: text/plain (SERVER_FAILED)',
  );
});

test.each([
  ["an answer", sessionServer, {}, "ended the connection before it answered"],
  ["a stream of events", eventServer, { type: "sse" }, "closed the connection"],
])("fails the call at once if %s breaks off, and reconnects [M4]", async (_what, serve, entry, error) => {
  const server = await serve();
  const log = (_name: string, _level: string, text: string): void => {
    if (text === "on my way") server.breakOff();
  };
  const provider = await connected([remote(server.url, entry)], { restart: { firstDelayMs: 10 }, log });
  await expect(call(provider, "never")).rejects.toMatchObject({
    code: "SERVER_GONE",
    facts: { error, tool: "never", server: "web" },
  });
  await until(provider, () => provider.servers[0]?.status === "connected");
  expect(await call(provider, "echo", { message: "back" })).toBe("back");
});

test.each([
  ["events", sessionServer],
  ["one message", jsonServer],
])("fails only the call of an answer over the limit, as %s [M9]", async (_kind, start) => {
  const server = await start();
  const provider = await connected([remote(server.url)], { maxMessageBytes: 64 << 10 });
  const message =
    'Call result size limit exceeded: "huge" of "web": the answer has more than 65536 bytes (ANSWER_LIMIT)';
  const others = [1, 2].map((n) => call(provider, "echo", { message: String(n) }));
  await expect(call(provider, "huge")).rejects.toMatchObject({ code: "ANSWER_LIMIT", message });
  expect(await Promise.all(others)).toEqual(["1", "2"]);
  expect(await call(provider, "echo", { message: "still here" })).toBe("still here");
  expect(provider.servers[0]).toMatchObject({ status: "connected" });
  expect(server.requests.filter((request) => request.startsWith("DELETE"))).toEqual([]);
});

test.each([
  ["says nothing", (): void => {}],
  [
    "has begun a stream",
    (response: ServerResponse): void => {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    },
  ],
])("closes the connection of a cancelled call after notifying the server, which %s [X2]", async (_what, begin) => {
  const { server, called, happened, over } = await deafServer(begin);
  const provider = await connected([remote(server.url)]);
  const cancel = new AbortController();
  const calling = provider.call("web", "never", {}, createContext({ signal: cancel.signal }));
  await called;
  cancel.abort(new Error("enough"));
  await expect(calling).rejects.toThrow("enough");
  await over;
  expect(happened).toEqual(["told", "closed"]);
  expect(provider.servers[0]).toMatchObject({ status: "connected" });
});

/** Of 2025-11-25; its only tool never answers, whatever it is told. */
async function deafServer(begin: (response: ServerResponse) => void) {
  const happened: string[] = [];
  let [isCalled, isOver] = [(): void => {}, (): void => {}];
  const called = new Promise<void>((resolve) => (isCalled = resolve));
  const over = new Promise<void>((resolve) => (isOver = resolve));
  const answers: Readonly<Record<string, unknown>> = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "deaf", version: "1" },
    },
    "tools/list": { tools: [{ name: "never", inputSchema: { type: "object" } }] },
  };
  const server = await serve(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method } = JSON.parse(await text(request)) as { id?: unknown; method: string };
    if (method === "notifications/cancelled") happened.push("told");
    if (id === undefined) return void response.writeHead(202).end();
    if (method === "tools/call") {
      response.once("close", () => {
        happened.push("closed");
        isOver();
      });
      begin(response);
      return isCalled();
    }
    const result = answers[method];
    const outcome = result === undefined ? { error: { code: -32601, message: "Method not found" } } : { result };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }));
  });
  return { server, called, happened, over };
}
