import { expect, test } from "vitest";

import { createBackoff, RESTART_POLICY } from "../../../src/providers/mcp/connections/backoff.ts";

test("M4: restarts wait from 1 s, each twice as long, and end after 5 in 5 minutes", () => {
  let now = 0;
  const backoff = createBackoff(RESTART_POLICY, () => now);
  const next = (): number | undefined => {
    const delayMs = backoff.next();
    now += delayMs ?? 0;
    return delayMs;
  };
  expect([next(), next(), next(), next(), next(), next()]).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, undefined]);
});

test("M4: a server that ran for 5 minutes starts over with its restarts", () => {
  let now = 0;
  const backoff = createBackoff(RESTART_POLICY, () => now);
  expect([backoff.next(), backoff.next()]).toEqual([1_000, 2_000]);
  now += 300_000;
  expect(backoff.next()).toBe(1_000);
});

test("M4: no restart waits longer than 60 s", () => {
  const backoff = createBackoff({ ...RESTART_POLICY, times: 9 }, () => 0);
  const delays = Array.from({ length: 9 }, () => backoff.next());
  expect(delays.slice(5)).toEqual([32_000, 60_000, 60_000, 60_000]);
});
