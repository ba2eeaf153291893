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
  readonly open: (length: number, sender?: string) => Promise<Socket>;
  /** The bodies as they were read. */
  readonly next: () => Promise<RawBody>;
}

/** `sender` is a header of requests here: all come from one address. */
async function serveBodies(limits: Partial<RawBodyLimits> = {}): Promise<BodyServer> {
  const readBody = createBodyReader({ ...RAW_BODY_LIMITS, ...limits });
  const bodies: RawBody[] = [];
  const server = createServer((incoming: IncomingMessage, outgoing) => {
    void readBody(incoming, String(incoming.headers["sender"])).then((body) => {
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
    async open(length, sender = "a") {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {}); // the server may close it
      onTestFinished(() => void socket.destroy());
      await once(socket, "connect");
      const arrived = once(server, "request");
      socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nSender: ${sender}\r\nContent-Length: ${length}\r\n\r\n`);
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

test("refuses a body that arrives too slowly, and one that takes too long", async () => {
  const slow = await serveBodies({ lookMs: 10, bytesPerLook: 2 });
  (await slow.open(3)).write("a");
  expect(await slow.next()).toEqual({ kind: "late" });
  const long = await serveBodies({ lookMs: 10, looks: 3, bytesPerLook: 0 });
  (await long.open(3)).write("ab");
  expect(await long.next()).toEqual({ kind: "late" });
});

test("reads a body that is too large to its end, up to a limit", async () => {
  const { open, next } = await serveBodies({ bytes: 10, discardedBytes: 100 });
  (await open(100)).write("x".repeat(100));
  expect(await next()).toEqual({ kind: "large" });
  (await open(1_000)).write("x".repeat(101));
  expect(await next()).toEqual({ kind: "large" });
});

/** Bodies of more than 4 bytes are large. */
const MEMORY = { smallBytes: 4, totalSmallBytes: 16, totalLargeBytes: 40 };

test("limits the memory of all bodies that have arrived, until they are handled", async () => {
  const { open, next } = await serveBodies(MEMORY);
  const bodies: RawBody[] = [];
  for (let at = 0; at < 4; at++) {
    (await open(10)).write("x".repeat(10));
    bodies.push(await next());
  }
  expect(bodies).toMatchObject(Array.from({ length: 4 }, () => ({ kind: "bytes" })));
  (await open(10)).write("x".repeat(10));
  expect(await next()).toEqual({ kind: "busy" });
  const [first] = bodies;
  if (first?.kind === "bytes") first.release();
  (await open(10)).write("x".repeat(10));
  expect(await next()).toMatchObject({ kind: "bytes" });
});

test("lets large bodies fill no memory of small ones", async () => {
  const { open, next } = await serveBodies(MEMORY);
  for (let at = 0; at < 4; at++) {
    (await open(10)).write("x".repeat(10));
    await next();
  }
  (await open(4)).write("x".repeat(4));
  expect(await next()).toMatchObject({ kind: "bytes" });
});

test("lets small bodies use the memory of large ones after their own, up to the limit of both", async () => {
  const { open, next } = await serveBodies(MEMORY);
  const kinds: string[] = [];
  for (let at = 0; at < 15; at++) {
    (await open(4)).write("x".repeat(4));
    kinds.push((await next()).kind);
  }
  expect(kinds).toEqual([...Array.from({ length: 14 }, () => "bytes"), "busy"]);
});

test("lets bodies that arrive take the memory of those that do not", async () => {
  const { open, next } = await serveBodies(MEMORY);
  const fill = async (sender: string): Promise<void> => {
    const socket = await open(20, sender);
    await new Promise((resolve) => socket.write("x".repeat(10), resolve));
  };
  for (const sender of ["a", "b", "c", "d"]) await fill(sender);
  // The bytes of the others may arrive later than these.
  const late: RawBody[] = [];
  for (let at = 0; at < 5; at++) {
    (await open(10, "e")).write("x".repeat(10));
    for (let body = await next(); ; body = await next()) {
      if (body.kind === "bytes") {
        body.release();
        break;
      }
      late.push(body);
    }
  }
  expect(late.length).toBeGreaterThan(0);
  expect(late.every(({ kind }) => kind === "late")).toBe(true);
});

test("gives a quarter of the memory to the bodies of one sender that have not arrived", async () => {
  const { open, next } = await serveBodies({ ...MEMORY, totalLargeBytes: 80 });
  const other = await open(10, "b");
  other.write("x".repeat(6));
  for (let at = 0; at < 20; at++) {
    (await open(30, "a")).write("x".repeat(20));
    if (at > 0) expect(await next()).toEqual({ kind: "late" });
  }
  other.write("x".repeat(4));
  expect(await next()).toMatchObject({ kind: "bytes", bytes: Buffer.from("x".repeat(10)) });
});

test("frees the memory of a body whose connection is lost", async () => {
  const { open, next } = await serveBodies({ ...MEMORY, totalLargeBytes: 10 });
  const socket = await open(20);
  socket.write("x".repeat(8));
  socket.resetAndDestroy();
  expect(await next()).toEqual({ kind: "gone" });
  (await open(10)).write("x".repeat(10));
  expect(await next()).toMatchObject({ kind: "bytes" });
});

test("takes little more memory than the bytes of a body, however they arrive", async () => {
  const { open, next } = await serveBodies();
  const socket = await open(300_000);
  for (let at = 0; at < 3; at++) socket.write(Buffer.alloc(100_000, at));
  const body = await next();
  const bytes = body.kind === "bytes" ? body.bytes : Buffer.alloc(0);
  expect(bytes.equals(Buffer.concat([0, 1, 2].map((at) => Buffer.alloc(100_000, at))))).toBe(true);
  expect(bytes.buffer.byteLength).toBeLessThanOrEqual(600_000);
});
