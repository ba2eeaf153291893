import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";

import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { createKeys } from "../../../src/keys/index.ts";
import { createConnections } from "../../../src/surfaces/http/connection-limits.ts";
import type { WebPages } from "../../../src/surfaces/http/index.ts";
import { takeShare } from "../../support/repetitions.ts";
import { serve } from "../serving.ts";

const TEXT = "x".repeat(1 << 20);

const BigSkill = defineSkill({
  name: "BigSkill",
  description: "Answers at length",
  methods: {
    say: { description: "Say", readOnly: true, run: () => TEXT },
    stream: {
      description: "Report progress at length",
      readOnly: true,
      run: (_, { progress }) => {
        for (let n = 1; n <= 1_024; n++) progress(n, 1_024, TEXT.slice(0, 16 << 10)); // longer texts are cut
        return new Promise(() => {});
      },
    },
    wait: { description: "Never answer", readOnly: true, run: () => new Promise(() => {}) },
  },
});

const MB = 1 << 20;

/** Serves with limits, and returns the lines of the log in their order. */
async function serveWithLimits(limits: {
  readonly unreadBytes: number;
  readonly totalUnreadBytes: number;
  readonly connections: number;
  readonly requests?: number;
}): Promise<{ readonly url: string; readonly nextLine: () => Promise<string> }> {
  const lines: string[] = [];
  let wake = (): void => {};
  const log = (text: string): void => {
    lines.push(text);
    wake();
  };
  const { url } = await serve({}, { skills: [BigSkill] }, (token) => token === "owner", {
    connections: createConnections({ requests: 256, ...limits }, log),
    pages: PAGES,
  });
  return {
    url,
    async nextLine() {
      if (lines.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return lines.shift() ?? "";
    },
  };
}

/** Pipelines calls, by default with answers of 1 MB each, and reads none of them. */
function pipeline(url: string, calls: number, name = "BigSkill.say"): Socket {
  return post(
    url,
    Array.from({ length: calls }, () => ["/rpc", createCall(name)]),
  );
}

function createCall(name: string, _meta = {}): object {
  return { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, _meta } };
}

/** The path and the body of a request. */
type TestRequest = readonly [path: string, message: object];

/** Sends requests on one connection, and reads no answer. */
function post(url: string, requests: readonly TestRequest[], accept = "application/json"): Socket {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {}); // the server closes it
  onTestFinished(() => void socket.destroy());
  socket.pause();
  for (const [path, message] of requests) {
    const body = JSON.stringify(message);
    const lines = [
      `POST ${path} HTTP/1.1`,
      `Host: ${host}`,
      "Authorization: Bearer owner",
      "Content-Type: application/json",
      `Accept: ${accept}`,
      "MCP-Protocol-Version: 2026-07-28",
      "Mcp-Method: tools/call",
      "Mcp-Name: BigSkill__stream",
      `Content-Length: ${body.length}`,
    ];
    socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
  }
  return socket;
}

async function openWebSocket(url: string): Promise<WebSocket> {
  const client = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers: { authorization: "Bearer owner" } });
  onTestFinished(() => client.terminate());
  await once(client, "open");
  return client;
}

test("closes a connection that does not read the answers to pipelined requests", { tags: "rest" }, async () => {
  const { url, nextLine } = await serveWithLimits({ unreadBytes: 8 * MB, totalUnreadBytes: 1024 * MB, connections: 9 });
  pipeline(url, 30);
  expect(await nextLine()).toMatch(
    /^Closed a connection of owner: it has not read \d+\.\d MB; the limit of one connection is 8\.0 MB$/,
  );
});

test("closes a connection with too many pipelined requests that are not answered", { tags: "rest" }, async () => {
  const { url, nextLine } = await serveWithLimits({
    unreadBytes: 64 * MB,
    totalUnreadBytes: 256 * MB,
    connections: 9,
    requests: 4,
  });
  pipeline(url, 6, "BigSkill.wait");
  expect(await nextLine()).toContain("5 of its requests are not answered, and the limit of one connection is 4");
});

test("closes a WebSocket that does not read", async () => {
  const { url, nextLine } = await serveWithLimits({ unreadBytes: 8 * MB, totalUnreadBytes: 1024 * MB, connections: 9 });
  const client = await openWebSocket(url);
  client.pause();
  for (let id = 0; id < 30; id++)
    client.send(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "BigSkill.say" } }));
  expect(await nextLine()).toContain("the limit of one connection is 8.0 MB");
});

const EVENTS = "text/event-stream";

const META = {
  progressToken: 1,
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
};

/** Streams that one megabyte after the other is put into, whether it is read or not. */
const PAGES: WebPages = {
  prefix: "/pages",
  mount(app) {
    app.post("/pages", () => {
      const source = new ReadableStream<Uint8Array>({
        start(stream) {
          for (let n = 0; n < 30; n++) stream.enqueue(new Uint8Array(MB));
        },
      });
      return new Response(source);
    });
  },
  close() {},
};

const STREAMS: readonly (readonly [string, readonly TestRequest[], string])[] = [
  ["/rpc", [["/rpc", createCall("BigSkill.stream")]], EVENTS],
  ["/tools", [["/tools/BigSkill.stream", {}]], EVENTS],
  ["/mcp", [["/mcp?expose=tools", createCall("BigSkill__stream", META)]], `${EVENTS}, application/json`],
  ["a page", [["/pages", {}]], "*/*"],
  [
    "behind a request",
    [
      ["/rpc", createCall("BigSkill.wait")],
      ["/rpc", createCall("BigSkill.stream")],
    ],
    EVENTS,
  ],
];

test.each(takeShare(STREAMS.length, STREAMS))(
  "closes a connection that does not read a stream: %s",
  { tags: "repeated" },
  async (_, requests, accept) => {
    const { url, nextLine } = await serveWithLimits({
      unreadBytes: 8 * MB,
      totalUnreadBytes: 1024 * MB,
      connections: 9,
    });
    post(url, requests, accept);
    expect(await nextLine()).toContain("the limit of one connection is 8.0 MB");
  },
);

test(
  "closes the connection that has read least when all of them together have too much unread",
  { tags: "rest" },
  async () => {
    const { url, nextLine } = await serveWithLimits({
      unreadBytes: 64 * MB,
      totalUnreadBytes: 16 * MB,
      connections: 9,
    });
    for (let n = 0; n < 3; n++) pipeline(url, 12);
    expect(await nextLine()).toContain("the limit of all connections is 16.0 MB");
  },
);

test("closes a WebSocket of a caller that has its share of connections, with the reason", async () => {
  const { url } = await serveWithLimits({ unreadBytes: 64 * MB, totalUnreadBytes: 256 * MB, connections: 2 });
  const first = await openWebSocket(url);
  await openWebSocket(url);
  const third = await openWebSocket(url);
  const [code, reason] = (await once(third, "close")) as [number, Buffer];
  expect([code, reason.toString()]).toEqual([1013, "owner has 2 connections already"]);
  const headers = { authorization: "Bearer owner" };
  const refused = await fetch(`${url}/metrics`, { headers });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  first.close();
  await once(first, "close");
  await expect.poll(async () => (await fetch(`${url}/metrics`, { headers })).status).toBe(200);
});

/** Opens a request with a body that does not end. `finish` writes its end, and returns the first line of the answer. */
async function openUpload(url: string, token: string, bytes: number): Promise<{ finish: () => Promise<string> }> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  const head = `POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
  socket.write(`${head}Content-Length: ${bytes + 1}\r\n\r\n${" ".repeat(bytes)}`);
  return {
    async finish() {
      socket.write("1");
      const [data]: readonly unknown[] = await once(socket, "data");
      return String(data).split("\r\n")[0] ?? "";
    },
  };
}

test("gives large bodies of one caller that have not arrived a share of the memory, and others the rest", async () => {
  const { url, runtime } = await serve({ bodyBytes: LARGE_BYTES }, {}, (token) => token === "owner");
  const { text: key } = await createKeys(await runtime.database()).create({ name: "many", permissions: ["see:*"] });
  const owner = await openUpload(url, "owner", LARGE_BYTES - 1);
  const many = [];
  for (let n = 0; n <= BODIES_OF_CALLER; n++) many.push(await openUpload(url, key, LARGE_BYTES - 1));
  for (let n = 0; n < 3; n++) await fetch(`${url}/health`); // the server has read what was written before
  const answers = [await many[0]?.finish(), await many.at(-1)?.finish(), await owner.finish()];
  expect(answers).toEqual(["HTTP/1.1 503 Service Unavailable", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK"]);
});

test("closes the WebSocket with the oldest of too many large messages of one caller that have not arrived", async () => {
  const { url, runtime } = await serve({ bodyBytes: LARGE_BYTES }, {}, (token) => token === "owner");
  const { text: key } = await createKeys(await runtime.database()).create({ name: "many", permissions: ["see:*"] });
  const openMessage = async (token: string): Promise<WebSocket> => {
    const client = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers: { authorization: `Bearer ${token}` } });
    onTestFinished(() => client.terminate());
    await once(client, "open");
    await new Promise((resolve) => client.send(" ".repeat(LARGE_BYTES - 1), { fin: false }, resolve));
    return client;
  };
  const owner = await openMessage("owner");
  const oldest = await openMessage(key);
  const closed = once(oldest, "close");
  for (let n = 1; n <= BODIES_OF_CALLER; n++) await openMessage(key);
  const [code, reason]: readonly unknown[] = await closed;
  expect([code, String(reason)]).toEqual([1013, "Too many large requests of this caller, or of all, arrive at once"]);
  owner.send("1");
  const [answer]: readonly unknown[] = await once(owner, "message");
  expect(JSON.parse(String(answer))).toMatchObject({ error: {} });
});

/** The largest body of these tests, and the number of them that a caller may have before they have arrived. */
const [LARGE_BYTES, BODIES_OF_CALLER] = [72 << 10, 32];
