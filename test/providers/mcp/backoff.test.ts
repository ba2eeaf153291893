import { expect, test } from "vitest";

import { createBackoff, RESTART_POLICY } from "../../../src/providers/mcp/connections/backoff.ts";

test("restarts a server after 1 s, then twice as long each time, and stops after 5 restarts in 5 minutes [M4]", () => {
  let now = 0;
  const backoff = createBackoff(RESTART_POLICY, () => now);
  const next = (): number | undefined => {
    const delayMs = backoff.next();
    now += delayMs ?? 0;
    return delayMs;
  };
  expect([next(), next(), next(), next(), next(), next()]).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, undefined]);
});

test("resets the restarts of a server that ran for 5 minutes [M4]", () => {
  let now = 0;
  const backoff = createBackoff(RESTART_POLICY, () => now);
  expect([backoff.next(), backoff.next()]).toEqual([1_000, 2_000]);
  now += 300_000;
  expect(backoff.next()).toBe(1_000);
});

test("waits at most 60 s before a restart [M4]", () => {
  const backoff = createBackoff({ ...RESTART_POLICY, times: 9 }, () => 0);
  const delays = Array.from({ length: 9 }, () => backoff.next());
  expect(delays.slice(5)).toEqual([32_000, 60_000, 60_000, 60_000]);
});
