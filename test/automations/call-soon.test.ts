import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { callSoon } from "../../src/runtime/automations/call-soon.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

test("makes one call of several requests, again after a failure, and none once it was stopped", async () => {
  const results = [() => Promise.reject(new Error("no store")), () => Promise.resolve()];
  const call = vi.fn(() => (results.shift() ?? results[0] ?? (() => Promise.resolve()))());
  const failures: unknown[] = [];
  const { request, stop } = callSoon(call, (error) => failures.push(error), 1_000);
  request();
  request();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(call).toHaveBeenCalledTimes(1);
  expect(failures).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(call).toHaveBeenCalledTimes(2);
  request();
  stop();
  request();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(call).toHaveBeenCalledTimes(2);
});
