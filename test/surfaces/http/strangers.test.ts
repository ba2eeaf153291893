import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";

import { MAX_UNAUTHENTICATED_SOCKETS } from "../../../src/surfaces/http/auth/unauthenticated.ts";
import { faultsOfProcess, post, serve } from "../serving.ts";

test.each([
  ["another path", "/other", ""],
  ["a foreign host", "/ws", "Host: evil.example.com\r\n"],
  ["a foreign origin", "/ws", "Host: localhost\r\nOrigin: https://evil.example.com\r\n"],
])("survives the reset of a rejected WebSocket upgrade of %s [V6]", async (_what, path, headers) => {
  const faults = faultsOfProcess();
  const { url } = await serve({}, {}, (token) => token === "right");
  const socket = connectTo(url);
  socket.write(upgradeOf(path, headers));
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 40[34] /);
  socket.resetAndDestroy();
  await once(socket, "close");
  // Once a second connection is answered and closed, the reset of the first has arrived.
  for (let n = 0; n < 3; n++)
    expect((await fetch(`${url}/health`, { headers: { connection: "close" } })).status).toBe(200);
  expect(faults).toEqual([]);
});

test("closes the connection of a rejected WebSocket upgrade even if the client keeps it open [V6]", async () => {
  const { url } = await serve();
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  socket.write(upgradeOf("/other", ""));
  const ended = once(socket, "end");
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 404 Not Found/);
  await ended;
  const failed = once(socket, "error");
  while (socket.writable && socket.write("x")) await new Promise(setImmediate);
  expect(await failed).toMatchObject([{ code: expect.stringMatching(/^(?:EPIPE|ECONNRESET)$/) }]);
});

const isRight = (token: string): boolean => token === "right";

const TOKEN = { auth: { type: "bearer", token: "right" } };

const health = (more: object = {}): string => JSON.stringify({ jsonrpc: "2.0", id: 1, method: "health", ...more });

test("reads at most 64 KB of a body without a token in the header [V6]", async () => {
  const { url } = await serve({}, {}, isRight);
  const padded = (bytes: number): string => health({ ...TOKEN, params: { padding: "x".repeat(bytes) } });
  expect((await post(`${url}/rpc`, padded(60_000))).json.result.status).toBe("healthy");
  expect(await post(`${url}/rpc`, padded(70_000))).toMatchObject({
    status: 413,
    json: {
      error: {
        data: {
          reason: "The body exceeds the limit of 65536 bytes",
          suggestions: [
            "Send the token in the Authorization header: a body that carries its own token has a lower limit",
          ],
        },
      },
    },
  });
  const known = await post(`${url}/rpc`, padded(70_000), { authorization: "Bearer right" });
  expect(known.json.result.status).toBe("healthy");
});

test("closes only WebSockets without a valid token after the time limit [V6]", async () => {
  const { url } = await serve({}, {}, isRight, { authenticationMs: 1_000 });
  const byHeader = await openSocket(url, { authorization: "Bearer right" });
  const byMessage = await openSocket(url);
  byMessage.send(health(TOKEN));
  await once(byMessage, "message");
  const stranger = await openSocket(url);
  stranger.send(health({ auth: { type: "bearer", token: "wrong" } }));
  const [code, reason] = (await once(stranger, "close")) as [number, Buffer];
  expect([code, reason.toString()]).toEqual([1008, "no valid token within 1 s"]);
  for (const socket of [byHeader, byMessage]) {
    socket.send(health(TOKEN));
    const [data] = (await once(socket, "message")) as [Buffer];
    expect(JSON.parse(data.toString()).result.status).toBe("healthy");
  }
});

test("reads at most 64 KB of a WebSocket message without a token in the header [V6]", async () => {
  const { url } = await serve({}, {}, isRight);
  const socket = await openSocket(url);
  const closed = once(socket, "close");
  socket.send(health({ ...TOKEN, params: { padding: "x".repeat(70_000) } }));
  expect((await closed)[0]).toBe(1009);
  const known = await openSocket(url, { authorization: "Bearer right" });
  known.send(health({ params: { padding: "x".repeat(70_000) } }));
  const [data] = (await once(known, "message")) as [Buffer];
  expect(JSON.parse(data.toString()).result.status).toBe("healthy");
});

test("keeps at most 128 WebSockets without a valid token open [V6]", async () => {
  const { url } = await serve({}, {}, isRight);
  const [first, ...others] = await Promise.all(
    Array.from({ length: MAX_UNAUTHENTICATED_SOCKETS }, () => openSocket(url)),
  );
  expect(others.length).toBe(127);
  await expect(openSocket(url)).rejects.toThrow("503");
  await openSocket(url, { authorization: "Bearer right" });
  first?.send(health(TOKEN));
  await once(first as WebSocket, "message");
  await openSocket(url); // the first one no longer counts
  await expect(openSocket(url)).rejects.toThrow("503");
});

test("disconnects a WebSocket without a token that reads no answers [V6]", { tags: "rest" }, async () => {
  const { url } = await serve({}, {}, isRight);
  const socket = await openSocket(url);
  const closed = once(socket, "close");
  socket.on("error", () => {}); // it writes after the server has closed
  socket.pause();
  const flood = (): void => {
    if (socket.readyState !== socket.OPEN) return;
    for (let n = 0; n < 1_000; n++) socket.send("{");
    setImmediate(flood);
  };
  flood();
  expect((await closed)[0]).toBe(1006);
  expect((await fetch(`${url}/health`)).status).toBe(200);
});

async function openSocket(url: string, headers: Readonly<Record<string, string>> = {}): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers });
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  return socket;
}

function connectTo(url: string): Socket {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  return socket;
}

function upgradeOf(path: string, headers: string): string {
  return `GET ${path} HTTP/1.1\r\n${headers === "" ? "Host: localhost\r\n" : headers}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`;
}
