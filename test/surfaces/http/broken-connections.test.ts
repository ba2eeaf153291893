import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";

import { faultsOfProcess, post, serve, whenSlow } from "../serving.ts";

const HOST = "Host: localhost\r\n";

const JSON_POST = `POST /rpc HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n`;

test.each([
  ["a chunk without a size", `${JSON_POST}Transfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n0\r\n\r\n`],
  ["a chunk of an immense size", `${JSON_POST}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}`],
  ["chunks that end early", `${JSON_POST}Transfer-Encoding: chunked\r\n\r\n5\r\n{}\r\n0\r\n\r\n`],
  ["two lengths", `${JSON_POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
  ["a length and chunks", `${JSON_POST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ["a flood of headers", `GET /health HTTP/1.1\r\n${HOST}${"a: b\r\n".repeat(50_000)}\r\n`],
  ["a header without an end", `GET /health HTTP/1.1\r\n${HOST}a: ${"x".repeat(1 << 20)}`],
  ["a NUL in a header", `GET /health HTTP/1.1\r\n${HOST}a: \0\r\n\r\n`],
  ["no host", "GET /health HTTP/1.1\r\n\r\n"],
  ["an invalid host", "GET /health HTTP/1.1\r\nHost: [\r\n\r\n"],
  ["an invalid target", `GET http://[ HTTP/1.1\r\n${HOST}\r\n`],
  ["a target of slashes", `GET // HTTP/1.1\r\n${HOST}\r\n`],
  ["a target with broken escapes", `GET /tools/%ff%zz HTTP/1.1\r\n${HOST}\r\n`],
  ["a tool whose name has broken escapes", `POST /tools/%E0%A4%A HTTP/1.1\r\n${HOST}Content-Length: 0\r\n\r\n`],
  ["a target that is a star", `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`],
  ["a tunnel", `CONNECT localhost:1 HTTP/1.1\r\n${HOST}\r\n`],
  ["an odd expectation", `${JSON_POST}Expect: nothing\r\nContent-Length: 2\r\n\r\n{}`],
  ["an upgrade to nothing", `GET /ws HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: \r\n\r\n`],
  ["a WebSocket without a key", `GET /ws HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`],
  [
    "an upgrade in the middle of a body",
    `${JSON_POST}Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\n{`,
  ],
  ["HTTP of another age", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["TLS", Buffer.from("16030100a5010000a10303", "hex")],
] as const)("answers the next request after %s and a reset [V6]", async (_what, packet) => {
  const faults = faultsOfProcess();
  const { url } = await serve();
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {}); // the server may reset it first
  const isAnswered = Promise.race([once(socket, "data"), once(socket, "close")]);
  await new Promise((resolve) => socket.write(packet, resolve));
  // An incomplete request gets no answer; the next request shows that the server has read it.
  await Promise.race([isAnswered, fetch(`${url}/health`)]);
  if (!socket.destroyed) socket.resetAndDestroy();
  expect((await post(`${url}/tools/TestSkill.add`, { a: 20, b: 22 })).json.data).toEqual({ sum: 42 });
  expect(faults).toEqual([]);
});

test.each(["/rpc", "/tools/TestSkill.slow"])(
  "answers the next request after a reset in the middle of a stream at %s [V6]",
  async (path) => {
    const faults = faultsOfProcess();
    const { url } = await serve();
    const [began, aborted] = [whenSlow("began"), whenSlow("aborted")];
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "TestSkill.slow", arguments: {} } };
    const body = path === "/rpc" ? JSON.stringify(call) : "{}";
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    socket.write(
      `POST ${path} HTTP/1.1\r\n${HOST}Accept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await Promise.all([began, once(socket, "data")]);
    socket.resetAndDestroy();
    await aborted;
    expect((await post(`${url}/tools/TestSkill.add`, { a: 20, b: 22 })).json.data).toEqual({ sum: 42 });
    expect(faults).toEqual([]);
  },
);

test("closes an idle connection [V6]", async () => {
  const { url } = await serve({ requestSeconds: 1 });
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.resume();
  await once(socket, "close");
});
