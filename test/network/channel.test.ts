import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";

import { Channel, type ChannelMessage } from "../../src/network/channel.ts";
import { createAgreementKey, createSession, type Session } from "../../src/network/session.ts";

function createSessions(): readonly [client: Session, server: Session] {
  const [client, server] = [createAgreementKey(), createAgreementKey()];
  const common = { salt: randomBytes(32), transcript: [] };
  const sides = [
    createSession({ ...common, own: client, other: server.publicText, side: "client" }),
    createSession({ ...common, own: server, other: client.publicText, side: "server" }),
  ];
  return sides as unknown as readonly [Session, Session];
}

/** Seals the part of a message as a channel does. */
function sealPart(session: Session, head: object, body: string): Uint8Array {
  const text = Buffer.from(JSON.stringify({ kind: "result", id: "1", ...head }));
  const length = Buffer.alloc(2);
  length.writeUInt16BE(text.length);
  return session.seal(length, text, Buffer.from(body));
}

test("joins parts only in their order, and within bounds [O3, S13]", () => {
  const [client, server] = createSessions();
  const channel = new Channel({ session: server, getConnection: () => undefined, subject: "a", maxBytes: 10 });
  const receive = (head: object, body = "x"): ChannelMessage | string | undefined =>
    channel.receive(sealPart(client, head, body));
  expect(receive({ part: 1, count: 2 })).toBe("part");
  expect(receive({ part: 2, count: 2 }, "y")).toMatchObject({ kind: "result", id: "1", text: "xy" });
  expect(receive({ part: 2, count: 2 })).toBe("part");
  expect(receive({ part: 1, count: 3 })).toBe("part");
  expect(receive({ part: 3, count: 3 })).toBe("part");
  expect(receive({ part: 1, count: 2 }, "x".repeat(10))).toBe("part");
  expect(receive({ part: 2, count: 2 }, "x")).toBe("part");
});

test("drops what has no valid head, though its seal is valid [O3, S13]", () => {
  const [client, server] = createSessions();
  const channel = new Channel({ session: server, getConnection: () => undefined, subject: "a", maxBytes: 10 });
  expect(channel.receive(client.seal(Buffer.of(1)))).toBeUndefined();
  expect(channel.receive(client.seal(Buffer.from("\xff\xff{}", "latin1")))).toBeUndefined();
  expect(channel.receive(sealPart(client, { part: 1, count: 1, id: 7 }, "x"))).toBeUndefined();
  expect(channel.receive(sealPart(client, { part: 1, count: 1, trace: "x" }, "x"))).toBeUndefined();
});
