import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";

import { createKeys } from "../../../src/keys/index.ts";
import { newClient, oldClient, post, serve, whenSlow } from "../serving.ts";

const initialize = (protocolVersion = "2025-11-25"): object => ({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion, capabilities: {}, clientInfo: { name: "raw", version: "1" } },
});

/** The member of an answer that has the error: endpoints without JSON-RPC answer with a problem. */
function errorMember(path: string): "error" | "fault" {
  return path === "/mcp" || path === "/rpc" ? "error" : "fault";
}

test.each(["/health", "/rpc", "/mcp", "/openapi.json", "/nothing"])(
  "%s rejects foreign hosts and foreign origins [V6]",
  async (path) => {
    const { url } = await serve();
    const evil = await raw(url, path, { host: "evil.example.com" });
    expect(evil).toMatchObject({
      status: 403,
      json: {
        [errorMember(path)]: {
          code: -32005,
          data: {
            reason: 'The host "evil.example.com" is not in server.allowedHosts',
          },
        },
      },
    });
    for (const origin of ["https://evil.example.com", "null", "http://localhost.evil.example.com", "app://localhost"]) {
      expect(await raw(url, path, { origin })).toMatchObject({
        status: 403,
        json: {
          [errorMember(path)]: {
            data: {
              reason: `The origin "${origin}" is not in server.allowedOrigins`,
            },
          },
        },
      });
    }
  },
);

test("lets hosts and origins from the settings call and read the answer [V6]", async () => {
  const { url } = await serve({ allowedHosts: ["skills.example.com"], allowedOrigins: ["https://app.example.com"] });
  const origin = "https://app.example.com";
  const answer = await raw(url, "/health", { host: "skills.example.com", origin });
  expect(answer.status).toBe(200);
  expect(answer.headers["access-control-allow-origin"]).toBe(origin);
  const preflight = await fetch(`${url}/mcp`, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "mcp-session-id" },
  });
  expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([204, "mcp-session-id"]);
});

test("takes the public address for its own, and names it to clients [V6]", async () => {
  const { url } = await serve({ publicUrl: "https://gate.example.com" });
  const sent = { host: "gate.example.com", origin: "https://gate.example.com" };
  expect((await raw(url, "/health", sent)).status).toBe(200);
  expect(await (await fetch(`${url}/openapi.json`)).json()).toMatchObject({
    servers: [{ url: "https://gate.example.com" }],
  });
  const plain = await serve();
  expect((await raw(plain.url, "/health", { origin: "" })).status).toBe(403);
});

test("accepts pages of another local port only with a token or with allowedOrigins [V6]", async () => {
  const page = "http://localhost:5173";
  const closed = await serve();
  expect(await raw(closed.url, "/health", { origin: page })).toMatchObject({
    status: 403,
    json: {
      fault: {
        data: {
          reason: `The origin "${page}" is not in server.allowedOrigins`,
        },
      },
    },
  });
  const own = new URL(closed.url);
  for (const origin of [own.origin, `http://localhost:${own.port}`])
    expect((await raw(closed.url, "/health", { origin })).status).toBe(200);
  expect((await raw(closed.url, "/health", { origin: `https://localhost` })).status).toBe(403);
  const { url: open } = await serve({ allowedOrigins: [page] });
  expect((await raw(open, "/health", { origin: page })).headers["access-control-allow-origin"]).toBe(page);
  const { url: withToken } = await serve({}, {}, () => true);
  expect((await raw(withToken, "/health", { origin: page })).headers["access-control-allow-origin"]).toBe(page);
});

test("answers only /health without a token [V6]", async () => {
  const { url } = await serve({}, {}, (token) => token === "right");
  for (const path of ["/mcp", "/openapi.json", "/metrics", "/tools/TestSkill.add", "/nothing"]) {
    const refused = await raw(url, path, {});
    expect([path, refused.status, (refused.json.fault ?? refused.json.error).code]).toEqual([path, 401, -32004]);
    expect(refused.headers["www-authenticate"]).toBe("Bearer");
  }
  for (const authorization of ["Bearer wrong", "Bearer", "Basic right", "right"])
    expect((await raw(url, "/metrics", { authorization })).status).toBe(401);
  expect((await raw(url, "/metrics", { authorization: "Bearer right" })).status).toBe(200);
  expect((await raw(url, "/health", {})).status).toBe(200);
  const client = await newClient(url, { authorization: "Bearer right" });
  expect((await client.listTools()).tools.length).toBeGreaterThan(3);
  await expect(oldClient(url, { authorization: "Bearer wrong" })).rejects.toThrow("A valid bearer token is missing");
});

test.each([
  ["PUT", "/mcp", "GET, POST, DELETE"],
  ["GET", "/rpc", "POST"],
  ["GET", "/tools/TestSkill.add", "POST"],
  ["DELETE", "/health", "GET"],
])("rejects %s %s with the allowed methods [V6]", async (method, path, allow) => {
  const { url } = await serve();
  const response = await fetch(url + path, { method });
  expect([response.status, response.headers.get("allow")]).toEqual([405, allow]);
  const { fault, error = fault } = (await response.json()) as ReturnType<typeof JSON.parse>;
  const reason = `The method ${method} is not allowed here. Allowed: ${allow}`;
  expect(error).toMatchObject({ code: -32600, data: { reason } });
});

test("answers unreadable bodies with the exact error, then the next request [V6]", async () => {
  const { url } = await serve();
  const broken = await post(`${url}/mcp`, "{broken");
  expect(broken).toMatchObject({ status: 400, json: { id: null, error: { code: -32700, message: "Parse error" } } });
  const empty = await post(`${url}/mcp`, "");
  expect(empty).toMatchObject({ status: 400, json: { error: { code: -32700 } } });
  const words = await post(`${url}/mcp`, initialize(), { "content-type": "text/plain" });
  expect(words).toMatchObject({ status: 415, json: { error: { code: -32600 } } });
  const homeless = await post(`${url}/mcp`, { jsonrpc: "2.0", id: 3, method: "tools/list" });
  expect(homeless).toMatchObject({ status: 400, json: { id: 3, error: { code: -32600 } } });
  const forgotten = await post(`${url}/mcp`, initialize(), { "mcp-session-id": "forgotten" });
  expect(forgotten).toMatchObject({ status: 404, json: { id: 1, error: { data: { reason: "Session not found" } } } });
  expect((await post(`${url}/mcp`, initialize())).status).toBe(200);
});

test.each([
  ["/mcp", "{broken", {}, 400, -32700, "The body is not valid JSON", /JSON at position 1/],
  ["/rpc", "", {}, 400, -32700, "The body is empty", undefined],
  [
    "/tools/TestSkill.add",
    Buffer.from('{"a": "\xC3("}', "latin1"),
    {},
    400,
    -32700,
    "The body is not valid UTF-8",
    undefined,
  ],
  [
    "/rpc",
    "{}",
    { "content-type": "text/plain" },
    415,
    -32600,
    "The Content-Type of the body is not application/json",
    /^Send the header Content-Type: application\/json$/,
  ],
  [
    "/rpc",
    "{}",
    { "content-encoding": "gzip" },
    415,
    -32600,
    'The Content-Encoding of the body is not supported: "gzip"',
    /^Send the body without a Content-Encoding$/,
  ],
  [
    "/mcp",
    JSON.stringify(Array.from({ length: 101 }, (_, id) => ({ id }))),
    {},
    400,
    -32600,
    "A batch may have at most 100 messages, this one has 101",
    undefined,
  ],
  [
    "/mcp",
    '{"jsonrpc":"2.0","id":1,"method":"initialize"}',
    {},
    400,
    -32600,
    "Cannot start a session: the params of initialize must have protocolVersion, capabilities and clientInfo",
    undefined,
  ],
] as const)(
  "rejects at %s the body %s with %o, with the reason and a suggestion [V6]",
  async (path, body, headers, status, code, reason, helps) => {
    const { url } = await serve();
    const response = await fetch(url + path, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", ...headers },
    });
    expect(response.status).toBe(status);
    const suggestions = helps === undefined ? [] : [expect.stringMatching(helps)];
    const { fault, error = fault } = (await response.json()) as ReturnType<typeof JSON.parse>;
    expect(error).toMatchObject({ code, data: { reason, suggestions } });
  },
);

test("ignores a byte order mark before the JSON [V6]", async () => {
  const { url } = await serve();
  expect((await post(`${url}/tools/TestSkill.add`, '\uFEFF{"a":1,"b":2}')).json.data).toEqual({ sum: 3 });
});

test("closes the connection on request also after a streamed answer [V6]", async () => {
  const { url } = await serve();
  const body = JSON.stringify(initialize());
  const answer = exchange(url, formatRequest(body, "Connection: close\r\n"));
  expect(await answer).toMatch(/\r\nConnection: close\r\n[^]*"protocolVersion":"2025-11-25"/);
});

test("answers in HTTP/1.1 when a client offers an upgrade to HTTP/2, as Java does [V1]", async () => {
  const { url } = await serve();
  const offer = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\n";
  const first = formatRequest(JSON.stringify(initialize()), offer);
  const last = formatRequest('{"jsonrpc":"2.0","id":2,"method":"tools/list"}', "Connection: close\r\n");
  const answers = await exchange(url, first + last);
  expect(answers).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*"protocolVersion":"2025-11-25"[^]*HTTP\/1\.1 400 Bad Request/);
  const evil = formatRequest("{}", `${offer}Origin: https://evil.example.com\r\n`) + last;
  expect(await exchange(url, evil)).toMatch(/^HTTP\/1\.1 403 Forbidden/);
});

test("rejects a request with two Host headers [V6]", async () => {
  const { url } = await serve();
  const answer = await exchange(url, formatRequest("{}", "Host: evil.example.com\r\nConnection: close\r\n"));
  expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden[^]*"reason":"The request has more than one Host header"/);
});

test("answers a plain request to /ws with the reason [V4]", async () => {
  const { url } = await serve();
  const response = await fetch(`${url}/ws`);
  expect([response.status, response.headers.get("upgrade")]).toEqual([426, "websocket"]);
  expect(await response.json()).toMatchObject({
    fault: { data: { reason: "The endpoint /ws accepts only WebSocket connections" } },
  });
});

test("rejects a body of 100 MB, and answers the next request [V6]", { tags: "rest" }, async () => {
  const { url } = await serve();
  const body = "x".repeat(100 << 20);
  for (const path of ["/mcp", "/rpc", "/tools/TestSkill.add"]) {
    expect(await post(url + path, body)).toMatchObject({
      status: 413,
      json: { [errorMember(path)]: { code: -32600, data: { reason: "The body exceeds the limit of 4194304 bytes" } } },
    });
  }
  expect((await post(`${url}/tools/TestSkill.add`, { a: 1, b: 2 })).json.data).toEqual({ sum: 3 });
});

test("rejects headers over the size limit [V6]", async () => {
  const { url } = await serve();
  expect((await raw(url, "/health", { padding: "x".repeat(20_000) })).status).toBe(431);
  expect((await raw(url, "/health", {})).status).toBe(200);
});

test("closes only the connection whose body arrives too late [V6]", { tags: "rest" }, async () => {
  const { url } = await serve({ requestSeconds: 1 });
  const { port } = new URL(url);
  const socket = connect(Number(port), "127.0.0.1");
  socket.write(
    `POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
  );
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 Request Timeout/);
  expect((await raw(url, "/health", {})).status).toBe(200);
});

test.each(["2025-06-18", "2025-03-26", "2024-11-05"])("supports protocol version %s [V1]", async (version) => {
  const { url } = await serve();
  expect((await post(`${url}/mcp`, initialize(version))).json.result.protocolVersion).toBe(version);
});

test("answers an unknown protocol version with supported ones [V1]", async () => {
  const { url } = await serve();
  expect((await post(`${url}/mcp`, initialize("1999-01-01"))).json.result.protocolVersion).toBe("2025-11-25");
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2999-01-01",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const request = { jsonrpc: "2.0", id: 4, method: "tools/list", params: { _meta: meta } };
  expect(await post(`${url}/mcp`, request, { "mcp-protocol-version": "2999-01-01" })).toMatchObject({
    status: 400,
    json: { id: 4, error: { code: -32022, data: { supported: ["2026-07-28"], requested: "2999-01-01" } } },
  });
});

test.each(["/mcp", "/rpc", "/tools/TestSkill.slow"])(
  "stops the call of a dropped connection to %s [V6]",
  async (path) => {
    const { url } = await serve({ expose: "tools" });
    const began = whenSlow("began");
    const aborted = whenSlow("aborted");
    const call = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: path === "/mcp" ? "TestSkill__slow" : "TestSkill.slow", arguments: {} },
    };
    const session = path === "/mcp" ? (await post(url + path, initialize())).headers.get("mcp-session-id") : null;
    const controller = new AbortController();
    const dropped = fetch(url + path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(session !== null && { "mcp-session-id": session }),
      },
      body: JSON.stringify(path.startsWith("/tools") ? {} : call),
      signal: controller.signal,
    }).then((response) => response.text());
    await began;
    controller.abort();
    await expect(dropped).rejects.toThrow("aborted");
    await aborted;
    expect((await raw(url, "/health", {})).status).toBe(200);
  },
);

test("disconnects a client that sends many requests and reads no answers [V6]", { tags: "rest" }, async () => {
  const { url, close } = await serve({ requestSeconds: 1, drainSeconds: 60 });
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  const body = '{"size": 30000000}';
  socket.write(formatRequest(body, "").replace("/mcp", "/tools/TestSkill.large"));
  await once(socket, "readable"); // the answer has begun
  expect((await raw(url, "/health", {})).status).toBe(200);
  await close(); // waits for all answers in progress
});

test("ends the session idle for longest when the session limit is reached [V6]", async () => {
  const { url } = await serve({ sessions: 2 });
  const open = async (): Promise<string> =>
    (await post(`${url}/mcp`, initialize())).headers.get("mcp-session-id") ?? "";
  const [first, second, third] = [await open(), await open(), await open()];
  const ping = async (session: string): Promise<number> =>
    (await post(`${url}/mcp`, { jsonrpc: "2.0", id: 2, method: "ping" }, { "mcp-session-id": session })).status;
  expect([await ping(first), await ping(second), await ping(third)]).toEqual([404, 200, 200]);
});

test("ends no session of a caller for one that has more [V6]", async () => {
  const token = "the-token-of-the-server";
  const { url, runtime } = await serve({ sessions: 3 }, {}, (text) => text === token);
  const { text: key } = await createKeys(await runtime.database()).create({ name: "few", permissions: ["call:*"] });
  const open = async (credential: string): Promise<Record<string, string>> => {
    const headers = { authorization: `Bearer ${credential}` };
    const { headers: answer } = await post(`${url}/mcp`, initialize(), headers);
    return { ...headers, "mcp-session-id": answer.get("mcp-session-id") ?? "" };
  };
  const ping = async (headers: Record<string, string>): Promise<number> =>
    (await post(`${url}/mcp`, { jsonrpc: "2.0", id: 2, method: "ping" }, headers)).status;
  const own = await open(token);
  const others = [await open(key), await open(key), await open(key)];
  expect([await ping(own), await ping(others[0] ?? {}), await ping(others[2] ?? {})]).toEqual([200, 404, 200]);
});

test("ends a session in use of a caller with more than half of them for one of another caller [V6]", async () => {
  const token = "the-token-of-the-server";
  const { url, runtime } = await serve({ sessions: 4 }, {}, (text) => text === token);
  const { text: key } = await createKeys(await runtime.database()).create({ name: "many", permissions: ["call:*"] });
  const open = async (credential: string): Promise<number> => {
    const headers = { authorization: `Bearer ${credential}` };
    const { status, headers: answer } = await post(`${url}/mcp`, initialize(), headers);
    const session = { ...headers, "mcp-session-id": answer.get("mcp-session-id") ?? "", accept: "text/event-stream" };
    if (status === 200) await fetch(`${url}/mcp`, { headers: session }); // a stream that stays open
    return status;
  };
  const many = [await open(key), await open(key), await open(key), await open(key), await open(key)];
  const own = [await open(token), await open(token), await open(token)];
  expect([many, own]).toEqual([
    [200, 200, 200, 200, 503],
    [200, 200, 503],
  ]);
});

test("expires idle sessions [V6]", { tags: "rest" }, async () => {
  const { url } = await serve({ sessionIdleSeconds: 1 });
  const opened = await post(`${url}/mcp`, initialize());
  const session = opened.headers.get("mcp-session-id") ?? "";
  await expect
    .poll(async () => (await (await fetch(`${url}/metrics`)).text()).includes("skillgate_sessions 0"), {
      timeout: 9_000,
    })
    .toBe(true);
  const ping = await post(`${url}/mcp`, { jsonrpc: "2.0", id: 2, method: "ping" }, { "mcp-session-id": session });
  expect(ping.status).toBe(404);
});

test("ends a session on request of its own client only [V6]", async () => {
  const { url } = await serve();
  const session = (await post(`${url}/mcp`, initialize())).headers.get("mcp-session-id") ?? "";
  const headers = { "mcp-session-id": session };
  expect((await fetch(`${url}/mcp`, { method: "DELETE", headers })).status).toBe(200);
  expect((await post(`${url}/mcp`, { jsonrpc: "2.0", id: 2, method: "ping" }, headers)).status).toBe(404);
});

test("answers requests in progress when the server closes [V6]", async () => {
  const { url, close } = await serve({ drainSeconds: 5 });
  const client = await oldClient(url);
  const began = whenSlow("began");
  const code = `await Promise.race([device.TestSkill.slow(), new Promise((resolve) => setTimeout(resolve, 300))]); "answered"`;
  const running = client.callTool({ name: "run_code", arguments: { code } });
  await began;
  const closed = close();
  expect((await running).structuredContent).toMatchObject({ value: "answered" });
  await closed;
  await expect(fetch(`${url}/health`)).rejects.toThrow("fetch failed");
});

test("answers requests that exceed the drain time with the reason when the server closes [V6]", async () => {
  const { url, close } = await serve({ drainSeconds: 0 });
  const opened = await post(`${url}/mcp`, initialize());
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  const began = whenSlow("began");
  const params = { name: "TestSkill__slow", arguments: {} };
  const running = post(`${url}/mcp`, { jsonrpc: "2.0", id: 2, method: "tools/call", params }, session);
  await began;
  const closed = close();
  expect((await running).json).toMatchObject({
    error: { data: { reason: "The run was cancelled: the server ends (CANCELLED)" } },
  });
  await closed;
});

test("serves 64 clients at once [V1]", { tags: "rest" }, async () => {
  const { url } = await serve({ expose: "tools" }, { workers: 2 });
  const clients = await Promise.all(
    Array.from({ length: 64 }, (_, index) => (index % 2 === 0 ? oldClient(url) : newClient(url))),
  );
  const sums = await Promise.all(
    clients.map(async (client, a) => {
      const result = await client.callTool({ name: "TestSkill__add", arguments: { a, b: 1 } });
      return result.structuredContent;
    }),
  );
  expect(sums).toEqual(clients.map((_, a) => ({ sum: a + 1 })));
});

function formatRequest(body: string, headers: string): string {
  return `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;
}

/** Reads a connection until the server closes it. */
async function exchange(url: string, packet: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.write(packet);
  const closed = once(socket, "end");
  const keptOpen = AbortSignal.timeout(3_000);
  const [answer] = await Promise.all([
    text(socket),
    Promise.race([closed, once(keptOpen, "abort").then(() => Promise.reject(new Error("kept open")))]),
  ]);
  return answer;
}

/** Sends a request with exactly these headers, including those that fetch forbids. */
async function raw(url: string, path: string, headers: Readonly<Record<string, string>>) {
  const { hostname, port } = new URL(url);
  const sent = request({ hostname, port, path, headers, method: path === "/rpc" ? "POST" : "GET" }).end();
  const [response] = await once(sent, "response");
  const body = await text(response);
  const json = body.startsWith("{") ? JSON.parse(body) : undefined;
  return { status: response.statusCode as number, headers: response.headers as Record<string, string>, json };
}
