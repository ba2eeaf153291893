import { expect, test } from "vitest";

import { createBackoff, type ServerFailure, RESTART_POLICY } from "../../../src/providers/mcp/connections/backoff.ts";

const CRASH = { isCrash: true, hasRun: true };
const UNREACHABLE = { isCrash: false, hasRun: false };

/** A backoff whose time passes only by what it says to wait, and by `pass`. */
function waiting() {
  let now = 0;
  const backoff = createBackoff(RESTART_POLICY, () => now);
  const pass = (ms: number): void => void (now += ms);
  const next = (failure: ServerFailure): number => {
    const delayMs = backoff.next(failure);
    pass(delayMs);
    return delayMs;
  };
  return { next, pass, connected: () => backoff.connected(), mayTryAtOnce: () => backoff.mayTryAtOnce };
}

test("restarts a server after 1 s, then twice as long each time, and every 60 s after 5 crashes in 5 minutes [M4]", () => {
  const { next } = waiting();
  expect(Array.from({ length: 7 }, () => next(CRASH))).toEqual([1_000, 2_000, 4_000, 8_000, 60_000, 60_000, 60_000]);
});

test("lets a call restart a server at once, until it has crashed 5 times in 5 minutes [M4]", () => {
  const { next, pass, mayTryAtOnce } = waiting();
  const crashed = Array.from({ length: 5 }, () => {
    next(CRASH);
    return mayTryAtOnce();
  });
  expect(crashed).toEqual([true, true, true, true, false]);
  pass(300_000);
  expect(mayTryAtOnce()).toBe(true);
});

test("resets the restarts of a server that ran for 5 minutes [M4]", () => {
  const { next, pass } = waiting();
  expect([next(CRASH), next(CRASH)]).toEqual([1_000, 2_000]);
  pass(300_000);
  expect(next(CRASH)).toBe(1_000);
});

test("tries an unreachable server after 1 s, then twice as long each time up to 60 s, without end [M4]", () => {
  const { next } = waiting();
  const delays = Array.from({ length: 100 }, () => next(UNREACHABLE));
  expect(delays.slice(0, 8)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  expect(new Set(delays.slice(8))).toEqual(new Set([60_000]));
});

test("starts with 1 s again once the server was reached [M4]", () => {
  const { next, connected } = waiting();
  expect([next(UNREACHABLE), next(UNREACHABLE)]).toEqual([1_000, 2_000]);
  connected();
  expect(next(UNREACHABLE)).toBe(1_000);
});

test("lets no call try a server for 1 s after a try has failed [M4]", () => {
  let now = 0;
  const backoff = createBackoff(RESTART_POLICY, () => now);
  expect(backoff.mayTryAtOnce).toBe(true);
  backoff.next(UNREACHABLE);
  expect(backoff.mayTryAtOnce).toBe(false);
  now += 1_000;
  expect(backoff.mayTryAtOnce).toBe(true);
});
