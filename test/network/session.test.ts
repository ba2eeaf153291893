import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";

import {
  createAgreementKey,
  createSession,
  type Session,
  type SealedSessionOptions,
} from "../../src/network/session.ts";

/** Creates both sides of a session. `changes` are those of the client. */
function createPair(changes: Partial<SealedSessionOptions> = {}): readonly [Session | undefined, Session | undefined] {
  const [client, server] = [createAgreementKey(), createAgreementKey()];
  const common = { salt: randomBytes(32), transcript: ["announcement", "hello"] };
  return [
    createSession({ ...common, own: client, other: server.publicText, side: "client", ...changes }),
    createSession({ ...common, own: server, other: client.publicText, side: "server" }),
  ];
}

const seal = (session: Session | undefined, text: string): Buffer => session?.seal(Buffer.from(text)) ?? Buffer.of();
const open = (session: Session | undefined, frame: Uint8Array): string | undefined => session?.open(frame).toString();

test("opens each frame of the other side once, in any order within the window [P7]", () => {
  const [client, server] = createPair();
  const frames = Array.from({ length: 300 }, (_, at) => seal(client, `message ${at}`));
  const order = [2, 0, 1, 299, 298, 44];
  expect(order.map((at) => open(server, frames[at] ?? Buffer.of()))).toEqual(order.map((at) => `message ${at}`));
  expect([2, 299, 43, 3].map((at) => open(server, frames[at] ?? Buffer.of()))).toEqual(Array(4).fill("replayed"));
  expect(open(client, seal(server, "answer"))).toBe("answer");
});

test("opens no frame with another bit, of its own side, or of another session [P7]", () => {
  const [client, server] = createPair();
  const frame = seal(client, "pay");
  for (const at of frame.keys()) {
    const changed = Buffer.from(frame);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(open(server, changed)).toBe("not_authentic");
  }
  expect(open(client, frame)).toBe("not_authentic");
  expect(open(createPair()[1], frame)).toBe("not_authentic");
  expect(open(server, Buffer.of())).toBe("not_authentic");
  expect(open(server, frame)).toBe("pay");
});

test.each([{ transcript: ["announcement", "another hello"] }, { salt: randomBytes(32) }])(
  "binds a session to the statements and to the random bytes of the server: %j [P7]",
  (changes) => {
    const [client, server] = createPair(changes);
    expect(open(server, seal(client, "pay"))).toBe("not_authentic");
  },
);

test("accepts no key that is too short, or a point of low order [P7]", () => {
  for (const other of ["", "AAAA", Buffer.alloc(32).toString("base64url")])
    expect(createPair({ other })[0]).toBeUndefined();
});
