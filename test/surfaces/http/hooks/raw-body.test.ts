import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";

import {
  createBodyReader,
  RAW_BODY_LIMITS,
  type RawBody,
  type RawBodyLimits,
} from "../../../../src/surfaces/http/hooks/raw-body.ts";

interface BodyServer {
  /** Sends the head of a request, which states the length of its body in bytes. */
  readonly open: (length: number) => Promise<Socket>;
  /** The bodies as they were read. */
  readonly next: () => Promise<RawBody>;
}

async function serveBodies(limits: Partial<RawBodyLimits> = {}): Promise<BodyServer> {
  const readBody = createBodyReader({ ...RAW_BODY_LIMITS, ...limits });
  const bodies: RawBody[] = [];
  const server = createServer((incoming: IncomingMessage, outgoing) => {
    void readBody(incoming).then((body) => {
      bodies.push(body);
      server.emit("body");
      outgoing.end(body.kind);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    async open(length) {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {}); // the server may close it
      onTestFinished(() => void socket.destroy());
      await once(socket, "connect");
      const arrived = once(server, "request");
      socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`);
      await arrived;
      return socket;
    },
    async next() {
      if (bodies.length === 0) await once(server, "body");
      const body = bodies.shift();
      if (body === undefined) throw new TypeError("No body was read");
      return body;
    },
  };
}

test("reads the bytes as they are", async () => {
  const { open, next } = await serveBodies();
  (await open(3)).write(Buffer.from([0, 255, 10]));
  expect(await next()).toMatchObject({ kind: "bytes", bytes: Buffer.from([0, 255, 10]) });
  await open(0);
  expect(await next()).toMatchObject({ kind: "bytes", bytes: Buffer.alloc(0) });
});

test("ends the wait for a slow body", async () => {
  const { open, next } = await serveBodies({ milliseconds: 30 });
  (await open(3)).write("a");
  expect(await next()).toEqual({ kind: "late" });
});

test("reads a body that is too large to its end, up to a limit", async () => {
  const { open, next } = await serveBodies({ bytes: 10, discardedBytes: 100 });
  (await open(100)).write("x".repeat(100));
  expect(await next()).toEqual({ kind: "large" });
  (await open(1_000)).write("x".repeat(101));
  expect(await next()).toEqual({ kind: "large" });
});

test("limits the memory of all bodies, until they are handled", async () => {
  const { open, next } = await serveBodies({ totalBytes: 10 });
  (await open(8)).write("x".repeat(8));
  const first = await next();
  (await open(3)).write("xxx");
  expect(await next()).toEqual({ kind: "busy" });
  if (first.kind === "bytes") first.release();
  (await open(3)).write("xxx");
  expect(await next()).toMatchObject({ kind: "bytes" });
});

test("frees the memory of a body whose connection is lost", async () => {
  const { open, next } = await serveBodies({ totalBytes: 10 });
  const socket = await open(20);
  socket.write("x".repeat(8));
  socket.resetAndDestroy();
  expect(await next()).toEqual({ kind: "gone" });
  (await open(10)).write("x".repeat(10));
  expect(await next()).toMatchObject({ kind: "bytes" });
});
