import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";

import { getSenderAddress } from "../../../../src/surfaces/http/hooks/address.ts";
import { createHookLimits } from "../../../../src/surfaces/http/hooks/limits.ts";

type Limits = ReturnType<typeof createHookLimits>;

/** Counts the requests that are taken before one is refused, all of them verified or none. */
function count(limits: Limits, getAddress: (at: number) => string, isVerified: boolean, bytes = 1): number {
  let requests = 0;
  for (; limits.take(getAddress(requests), bytes) === undefined; requests++)
    limits.count(getAddress(requests), isVerified);
  return requests;
}

const ADDRESS = (): string => "192.0.2.1";

const MB = 1 << 20;

test("allows 4,000 deliveries of an address at once, then 40 a second", () => {
  let time = 0;
  const limits = createHookLimits(() => time);
  expect(count(limits, ADDRESS, true)).toBe(4_000);
  expect([limits.find("192.0.2.1"), limits.take("192.0.2.1", 1)]).toEqual([1, 1]);
  expect([limits.find("192.0.2.2"), limits.take("192.0.2.2", 1)]).toEqual([undefined, undefined]);
  time = 1_000;
  expect(count(limits, ADDRESS, true)).toBe(40);
  time = 1e9;
  expect(count(limits, ADDRESS, true)).toBe(4_000);
});

test("hashes 8 MB a second for an address with 200 failures, as 8,192 bytes at least for each request", () => {
  let time = 0;
  const limits = createHookLimits(() => time);
  expect(count(limits, ADDRESS, false)).toBe(200 + 1_024);
  expect(limits.find("192.0.2.1")).toBe(1);
  time = 1_000;
  // Two failures a second are forgiven.
  expect(count(limits, ADDRESS, false, MB)).toBe(2 + 8);
});

test.each([
  ["192.0.2.%", "192.0.3.1"],
  ["2001:db8:0:%::/64", "2001:db8:1:0::/64"],
])("hashes 8 MB a second for the wider network %s with 800 failures, and counts no other", (network, other) => {
  const limits = createHookLimits(() => 0);
  const getAddress = (at: number): string => network.replace("%", String(at % 250));
  expect(count(limits, getAddress, false, MB)).toBe(800 + 8);
  expect(limits.take(getAddress(251), MB)).toBe(1);
  expect(limits.take(other, MB)).toBeUndefined();
});

test("does not hold an address with deliveries for the failures of its network", () => {
  const limits = createHookLimits(() => 0);
  limits.count("192.0.2.251", true);
  count(limits, (at) => `192.0.2.${at % 250}`, false);
  expect(count(limits, () => "192.0.2.251", true)).toBe(3_999);
});

test("forgets the addresses that were not used for the longest time", () => {
  const limits = createHookLimits(() => 0);
  count(limits, ADDRESS, true);
  expect(limits.take("192.0.2.1", 1)).toBe(1);
  for (let at = 0; at < 20_000; at++) limits.count(`address ${at}`, true);
  expect(limits.take("192.0.2.1", 1)).toBeUndefined();
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
