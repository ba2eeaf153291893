import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";

import { faultsOfProcess, serve } from "../serving.ts";

test.each([
  ["another path", "/other", ""],
  ["a foreign host", "/ws", "Host: evil.example.com\r\n"],
  ["a foreign origin", "/ws", "Host: localhost\r\nOrigin: https://evil.example.com\r\n"],
])("survives a refused WebSocket upgrade of %s whose connection is reset [V6]", async (_what, path, headers) => {
  const faults = faultsOfProcess();
  const { url } = await serve({}, {}, (token) => token === "right");
  const socket = connectTo(url);
  socket.write(upgradeOf(path, headers));
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 40[34] /);
  socket.resetAndDestroy();
  await once(socket, "close");
  // The reset of the first connection has arrived when a second one was answered and closed.
  for (let n = 0; n < 3; n++)
    expect((await fetch(`${url}/health`, { headers: { connection: "close" } })).status).toBe(200);
  expect(faults).toEqual([]);
});

test("closes a connection whose WebSocket upgrade it refused, though the client keeps it open [V6]", async () => {
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

function connectTo(url: string): Socket {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  return socket;
}

function upgradeOf(path: string, headers: string): string {
  return `GET ${path} HTTP/1.1\r\n${headers === "" ? "Host: localhost\r\n" : headers}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`;
}
