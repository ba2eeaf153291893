import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";

import { getSenderAddress } from "../../../../src/surfaces/http/hooks/address.ts";
import { createHookLimits } from "../../../../src/surfaces/http/hooks/limits.ts";

function count(limits: ReturnType<typeof createHookLimits>, address = "192.0.2.1"): number {
  let requests = 0;
  while (limits.take(address) === undefined) requests++;
  return requests;
}

test("allows 4,000 requests of an address at once, then 40 a second", () => {
  let time = 0;
  const limits = createHookLimits(() => time);
  expect(count(limits)).toBe(4_000);
  expect(limits.take("192.0.2.1")).toBe(1);
  expect(limits.take("192.0.2.2")).toBeUndefined();
  time = 1_000;
  expect(count(limits)).toBe(40);
  time = 1e9;
  expect(count(limits)).toBe(4_000);
});

test("counts a request that is refused as 20", () => {
  const limits = createHookLimits(() => 0);
  let refused = 0;
  for (; limits.take("192.0.2.1") === undefined; refused++) limits.refuse("192.0.2.1");
  expect(refused).toBe(200);
});

test.each([
  ["192.0.2.%", "192.0.3.1"],
  ["2001:db8:0:%::/64", "2001:db8:1:0::/64"],
])("refuses the wider network %s after 800 refused requests, and no other", (network, other) => {
  const limits = createHookLimits(() => 0);
  let refused = 0;
  const nextAddress = (): string => network.replace("%", String(refused % 250));
  for (; limits.take(nextAddress()) === undefined; refused++) limits.refuse(nextAddress());
  expect(refused).toBe(800);
  expect(limits.take(network.replace("%", "251"))).toBe(1);
  // A service elsewhere is not held back by strangers.
  expect(limits.take(other)).toBeUndefined();
});

test("forgets the addresses that were not used for the longest time", () => {
  const limits = createHookLimits(() => 0);
  count(limits);
  expect(limits.take("192.0.2.1")).toBe(1);
  for (let at = 0; at < 20_000; at++) limits.take(`address ${at}`);
  expect(limits.take("192.0.2.1")).toBeUndefined();
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8:0:1:2:3:4:5", "2001:db8:0:1::/64"],
  ["2001:db8::5", "2001:db8:0:0::/64"],
  ["2001:0DB8::", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
])("counts %s as %s", (remoteAddress, address) => {
  expect(getSenderAddress(createRequest(remoteAddress), false)).toBe(address);
});

test("takes the address that the nearest proxy appends, where there is a proxy", () => {
  const request = createRequest("10.0.0.1", ["203.0.113.9", "198.51.100.7, 192.0.2.1"]);
  expect(getSenderAddress(request, true)).toBe("192.0.2.1");
  expect(getSenderAddress(request, false)).toBe("10.0.0.1");
  expect(getSenderAddress(createRequest("10.0.0.1", ["192.0.2.1, unknown"]), true)).toBe("10.0.0.1");
  expect(getSenderAddress(createRequest("10.0.0.1"), true)).toBe("10.0.0.1");
});

function createRequest(remoteAddress: string, forwarded?: readonly string[]): IncomingMessage {
  const headersDistinct = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  return { socket: { remoteAddress }, headersDistinct } as unknown as IncomingMessage;
}
