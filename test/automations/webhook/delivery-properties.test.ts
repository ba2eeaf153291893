import { expect, test } from "vitest";

import { type DeliveryHeaders, type VerifiedDelivery, verifyDelivery } from "../../../src/automations/webhook/index.ts";
import fc, { CHARACTER } from "../../support/fuzz.ts";
import { hmac, NOW, parse, SECONDS, SECRET, signers, WHSEC } from "./deliveries.ts";

const SERVICES = ["github", "stripe", "slack", "standard", "token"] as const;

const hooks = Object.fromEntries(SERVICES.map((name) => [name, parse(name)]));

function verify(
  service: string,
  { headers, body }: { headers: DeliveryHeaders; body: string | Uint8Array },
): VerifiedDelivery {
  const hook = hooks[service];
  if (hook === undefined) throw new TypeError(service);
  return verifyDelivery(hook, [SECRET, WHSEC], { headers, body: Buffer.from(body), now: NOW });
}

const bodies = fc.oneof(
  fc.json(),
  fc.string({ unit: CHARACTER }),
  fc.record({ id: fc.string(), event_id: fc.string(), type: fc.string() }).map((value) => JSON.stringify(value)),
);

/** Changes one byte of a text. */
const change = fc.record({ at: fc.nat(), by: fc.integer({ min: 1, max: 255 }) });

function changeByte(bytes: Uint8Array, { at, by }: { at: number; by: number }): Buffer {
  const copy = Buffer.from(bytes);
  copy[at % copy.length] = ((copy[at % copy.length] ?? 0) + by) % 256;
  return copy;
}

test.each(SERVICES.filter((name) => name !== "token"))("no changed byte of a body passes: %s", (service) => {
  fc.assert(
    fc.property(bodies, change, (body, by) => {
      const delivery = signers[service](body);
      expect(verify(service, delivery).kind).not.toBe("unverified");
      const bytes = Buffer.from(body);
      const changed = [
        Buffer.concat([bytes, Buffer.from(" ")]),
        Buffer.concat([Buffer.from(" "), bytes]),
        ...(bytes.length === 0 ? [] : [changeByte(bytes, by), bytes.subarray(1), bytes.subarray(0, -1)]),
      ];
      for (const other of changed)
        expect(verify(service, { headers: delivery.headers, body: other })).toMatchObject({ kind: "unverified" });
    }),
  );
});

test.each([
  ["stripe", "stripe-signature"],
  ["slack", "x-slack-request-timestamp"],
  ["slack", "x-slack-signature"],
  ["standard", "webhook-timestamp"],
  ["standard", "webhook-id"],
  ["standard", "webhook-signature"],
  ["github", "x-hub-signature-256"],
] as const)("no changed character of a signed header passes: %s, %s", (service, name) => {
  fc.assert(
    fc.property(bodies, fc.nat(), fc.string({ minLength: 1, maxLength: 1 }), (body, at, character) => {
      const delivery = signers[service](body);
      const header = String(delivery.headers[name]);
      const index = at % header.length;
      const changed = header.slice(0, index) + character + header.slice(index + 1);
      const result = verify(service, { ...delivery, headers: { ...delivery.headers, [name]: changed } });
      // Hexadecimal digits have no case, and the last bits of base64 no meaning.
      if (isSameSignature(header, changed)) expect(result).toEqual(verify(service, delivery));
      else expect(result).toMatchObject({ kind: "unverified" });
    }),
  );
});

function isSameSignature(one: string, other: string): boolean {
  const read = (text: string): readonly string[] =>
    text
      .trim()
      .split(/[\s,;]+/)
      .map((item) => (/^(?:sha256|v[01])=/.test(item) ? item.toLowerCase() : decodeBase64(item)));
  return read(one).join(",") === read(other).join(",");
}

function decodeBase64(item: string): string {
  return /^[\w+/-]{43}={0,2}$/.test(item) ? Buffer.from(item, "base64").toString("hex") : item;
}

test("no time and id but the signed ones pass where the pattern has no separators", { tags: "rest" }, () => {
  const schemes = ["{id}{timestamp}{body}", "{timestamp}{id}{body}", "{body}{timestamp}{id}", "{id}{body}{timestamp}"];
  const time = new Date(NOW).toISOString();
  const ids = fc.string({ unit: fc.constantFrom(...Array.from("0123456789Z:.-aT{[")), minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(
      fc.constantFrom(...schemes),
      fc.oneof(
        ids,
        ids.map((id) => `${id}${time}`),
      ),
      fc.json(),
      fc.array(fc.nat(), { minLength: 2, maxLength: 2 }),
      (signed, id, body, cuts) => {
        const hook = parse({ type: "hmac", header: "x-s", signed, idHeader: "x-id", timestampHeader: "x-time" });
        const text = signed
          .replace("{id}", () => id)
          .replace("{timestamp}", time)
          .replace("{body}", () => body);
        const [first = 0, second = 0] = cuts.map((cut) => cut % (text.length + 1)).toSorted((a, b) => a - b);
        const order = [...signed.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
        const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)];
        const moved = Object.fromEntries(order.map((name, at) => [name, pieces[at] ?? ""]));
        const result = verifyDelivery(hook, [SECRET], {
          headers: {
            "content-type": "text/plain",
            "x-s": hmac(text).toString("hex"),
            "x-id": moved["id"],
            "x-time": moved["timestamp"],
          },
          body: Buffer.from(moved["body"] ?? ""),
          now: NOW,
        });
        if (result.kind === "delivery") expect(moved).toEqual({ id, timestamp: time, body });
      },
    ),
    { numRuns: 3_000 },
  );
});

test("no request makes the verification throw", () => {
  const names = [
    "x-hub-signature-256",
    "stripe-signature",
    "x-slack-signature",
    "x-slack-request-timestamp",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
    "svix-signature",
    "authorization",
    "content-type",
    "content-encoding",
  ];
  const values = fc.oneof(
    fc.string({ unit: CHARACTER }),
    fc.array(fc.string(), { maxLength: 3 }),
    fc.constantFrom(`t=${SECONDS},v1=`, "sha256=", "v0=", "v1,", "Bearer", SECONDS),
  );
  const headers = fc.dictionary(fc.constantFrom(...names), values);
  fc.assert(
    fc.property(fc.constantFrom(...SERVICES), headers, fc.uint8Array(), (service, sent, body) => {
      expect(verify(service, { headers: sent, body }).kind).toBe("unverified");
    }),
  );
});
