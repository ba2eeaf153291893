import { expect, test } from "vitest";

import { createRetryQueue } from "../../../src/runs/retry-queue.ts";

/** Work that fails a number of times. */
function failing(times: number): { work: () => Promise<void>; done: Promise<void>; readonly attempts: number } {
  let attempts = 0;
  let resolve = (): void => {};
  const done = new Promise<void>((settle) => (resolve = settle));
  const work = async (): Promise<void> => {
    if (++attempts <= times) throw new Error(`failure ${attempts}`);
    resolve();
  };
  return {
    work,
    done,
    get attempts() {
      return attempts;
    },
  };
}

function createQueue(): ReturnType<typeof createRetryQueue> & { readonly failures: string[] } {
  const failures: string[] = [];
  const onFailure = (name: string, error: unknown): void => void failures.push(`${name}: ${String(error)}`);
  return { failures, ...createRetryQueue({ onFailure, firstMs: 1, maxMs: 2 }) };
}

test("repeats work until it succeeds, and reports its first failure only", async () => {
  const { failures, ...queue } = createQueue();
  const work = failing(5);
  await queue.add("record", work.work);
  expect(work.attempts).toBe(1);
  await work.done;
  expect(work.attempts).toBe(6);
  expect(failures).toEqual(["record: Error: failure 1"]);
});

test("repeats other work while one keeps failing", async () => {
  const { failures, ...queue } = createQueue();
  await queue.add("bad", failing(Infinity).work);
  const work = [failing(2), failing(3)];
  await Promise.all(work.map((each, at) => queue.add(`work ${at}`, each.work)));
  await Promise.all(work.map(({ done }) => done));
  expect(failures).toEqual(["bad: Error: failure 1", "work 0: Error: failure 1", "work 1: Error: failure 1"]);
  await queue.close();
});

test("tries once more when it is closed, and then reports what never succeeded", async () => {
  const failures: string[] = [];
  const queue = createRetryQueue({ onFailure: (name) => failures.push(name), firstMs: 1e6 });
  const [good, bad] = [failing(1), failing(Infinity)];
  await queue.add("good", good.work);
  await queue.add("bad", bad.work);
  await queue.close();
  expect([good.attempts, bad.attempts]).toEqual([2, 2]);
  expect(failures).toEqual(["good", "bad", "bad"]);
});

test("repeats at once what has failed when the store works again, also between two long pauses", async () => {
  const queue = createRetryQueue({ onFailure: () => {}, firstMs: 1_000_000, maxMs: 1_000_000 });
  const work = failing(2);
  await queue.add("record", work.work);
  await expect.poll(() => (queue.repeatNow(), work.attempts)).toBe(3);
  await work.done;
  queue.repeatNow();
  expect(work.attempts).toBe(3);
  await queue.close();
});
