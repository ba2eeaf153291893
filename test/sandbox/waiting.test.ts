import { expect, test } from "vitest";

import { countProcessors, countWorkers } from "../../sandbox/processors.ts";
import { SpinBackoff, ThreadWait } from "../../sandbox/spin-wait.ts";

test.each([
  ["no limit", "max 100000\n", 4],
  ["no file", "", 4],
  ["one and a half processors", "150000 100000\n", 1.5],
  ["a limit beyond the machine", "800000 100000\n", 4],
  ["another text", "x y z", 4],
])("counts the processors that a process may use: %s [O8]", (_, cpuLimit, count) => {
  expect(countProcessors(4, cpuLimit)).toBe(count);
});

test.each([
  [0.5, 1],
  [1.5, 1],
  [2, 1],
  [3.5, 2],
  [64, 4],
])("starts threads for the processors that a process may use: of %d, %d [O8]", (available, count) => {
  expect(countWorkers(available)).toBe(count);
});

test("lets twice as many waits sleep after each one that polled without success, and half as many after each other [O8]", () => {
  const backoff = new SpinBackoff();
  const countSleeps = (): number => {
    let count = 0;
    while (!backoff.begin()) count++;
    return count;
  };
  const sleeps = [false, false, false, true, true, false].map((isReady) => {
    backoff.end(isReady);
    return countSleeps();
  });
  expect(sleeps).toEqual([4, 8, 16, 0, 0, 8]);
  for (let wait = 0; wait < 20; wait++) backoff.end(false);
  expect(countSleeps()).toBe(256);
});

test("polls before it sleeps, and sleeps at once after a long wait or where it may not poll [O8]", () => {
  const wait = new ThreadWait(1_000);
  expect(waitFor(wait, 50)).toEqual({ polls: 52, sleeps: 0 });
  const short = new ThreadWait(0.000_1);
  expect(waitFor(short, 5_000)).toMatchObject({ sleeps: 1 });
  expect(waitFor(short, 50)).toEqual({ polls: 1, sleeps: 1 });
  expect(waitFor(new ThreadWait(0), 50)).toEqual({ polls: 1, sleeps: 1 });
  expect(waitFor(wait, 50, false)).toEqual({ polls: 1, sleeps: 1 });
});

/** Waits for an event that comes with a number of polls or the first sleep. */
function waitFor(
  wait: ThreadWait,
  eventAt: number,
  mayPoll = true,
): { readonly polls: number; readonly sleeps: number } {
  let [polls, sleeps] = [0, 0];
  const isReady = (): boolean => sleeps > 0 || polls++ >= eventAt;
  const sleep = (): void => void sleeps++;
  wait.until(isReady, sleep, mayPoll);
  return { polls, sleeps };
}
