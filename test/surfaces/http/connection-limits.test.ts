import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";

import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { serve } from "../serving.ts";

const TEXT = "x".repeat(1 << 20);

const BigSkill = defineSkill({
  name: "BigSkill",
  description: "Answers at length",
  methods: {
    say: { description: "Say", readOnly: true, run: () => TEXT },
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
    limits: { requests: 256, ...limits },
    log,
  });
  return {
    url,
    async nextLine() {
      if (lines.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return lines.shift() ?? "";
    },
  };
}

/** Pipelines calls whose answers have 1 MB each, and reads none of them. */
function pipeline(url: string, calls: number, name = "BigSkill.say"): Socket {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {}); // the server closes it
  onTestFinished(() => void socket.destroy());
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } });
  const head = `POST /rpc HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer owner\r\nContent-Type: application/json\r\n`;
  socket.pause();
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`.repeat(calls));
  return socket;
}

async function openWebSocket(url: string): Promise<WebSocket> {
  const client = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers: { authorization: "Bearer owner" } });
  onTestFinished(() => client.terminate());
  await once(client, "open");
  return client;
}

test("closes a connection that does not read the answers to pipelined requests", async () => {
  const { url, nextLine } = await serveWithLimits({ unreadBytes: 8 * MB, totalUnreadBytes: 1024 * MB, connections: 9 });
  pipeline(url, 30);
  expect(await nextLine()).toMatch(
    /^Closed a connection of owner: it has not read \d+\.\d MB; the limit of one connection is 8\.0 MB$/,
  );
});

test("closes a connection with too many pipelined requests that are not answered", async () => {
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

test("closes the connection that has read least when all of them together have too much unread", async () => {
  const { url, nextLine } = await serveWithLimits({ unreadBytes: 64 * MB, totalUnreadBytes: 16 * MB, connections: 9 });
  for (let n = 0; n < 3; n++) pipeline(url, 12);
  expect(await nextLine()).toContain("the limit of all connections is 16.0 MB");
});

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
