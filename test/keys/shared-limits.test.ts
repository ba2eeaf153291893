import { execFile } from "node:child_process";
import { promisify } from "node:util";
import fc from "../support/fuzz.ts";
import { repetitions } from "../support/repetitions.ts";
import { expect, onTestFinished, test } from "vitest";

import { createSharedCounter } from "../../src/router/index.ts";
import { openDatabase } from "../../src/store/index.ts";
import { prepareDatabases } from "../support/databases.ts";
import { folder } from "../surfaces/serving.ts";

const { kinds } = prepareDatabases();

const MINUTE_MS = 60_000;

test.each(kinds)(
  "lets no more calls pass than a limit allows, over processes on %s [P5]",
  { tags: "rest", timeout: 60_000 },
  async (_kind, makeLocation) => {
    const location = JSON.stringify(makeLocation());
    const run = promisify(execFile);
    const ended = await Promise.all(
      Array.from({ length: 3 }, () =>
        run(process.execPath, ["test/fixtures/keys/take-calls.mjs", location, "40", "50"]),
      ),
    );
    const passed = ended.map(({ stdout }) => Number(stdout));
    expect(passed.reduce((sum, count) => sum + count, 0)).toBe(50);
  },
);

test.each(kinds)(
  "lets as many simultaneous calls pass as have space, also where a part of the window ends between them on %s [P5]",
  async (_kind, makeLocation) => {
    await using database = await openDatabase(makeLocation());
    let now = 1_000_000_000;
    // Each look at the clock is a second after the one before, and a part of a minute is three seconds long.
    const counter = createSharedCounter(
      async () => database,
      () => (now += 1_000),
    );
    const take = async (maxCalls: number): Promise<number> => {
      const window = { key: `at most ${maxCalls}`, maxCalls, lengthMs: MINUTE_MS };
      const answers = await Promise.all(Array.from({ length: 12 }, () => counter.take([window])));
      return answers.filter((full) => full === undefined).length;
    };
    expect(await take(6)).toBe(6);
    expect(await take(1)).toBe(1);
  },
);

test("refuses no call because of one that another window refuses at the same time [P5]", async () => {
  await using database = await openDatabase({});
  const counter = createSharedCounter(
    async () => database,
    () => 1_000_000_000,
  );
  const one = { key: "one", maxCalls: 1, lengthMs: MINUTE_MS };
  const full = { key: "full", maxCalls: 1, lengthMs: MINUTE_MS };
  await counter.take([full]);
  const answers = await Promise.all([counter.take([one, full]), counter.take([one]), counter.take([full, one])]);
  expect(answers).toMatchObject([{ index: 1 }, undefined, { index: 0 }]);
});

test(
  "lets at most the limit pass in any minute, and the next call after the time that a refusal states [P5]",
  { tags: "repeated" },
  async () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 20, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(pauses, async (steps) => {
        await using database = await openDatabase({});
        let now = 1_000_000_007;
        const counter = createSharedCounter(
          async () => database,
          () => now,
        );
        const window = { key: "k", maxCalls: 5, lengthMs: MINUTE_MS };
        const times: number[] = [];
        for (const step of steps) {
          now += step;
          const full = await counter.take([window]);
          if (full !== undefined) {
            now += full.waitMs;
            expect(full.waitMs).toBeLessThanOrEqual(MINUTE_MS + MINUTE_MS / 20);
            expect(await counter.take([window])).toBeUndefined();
          }
          times.push(now);
        }
        for (const [at, time] of times.entries())
          expect((times[at + 5] ?? Infinity) - time).toBeGreaterThanOrEqual(MINUTE_MS);
      }),
      { numRuns: repetitions(15, 50) },
    );
  },
);

test("counts a call in all of its windows or in none, and deletes old counters [P5]", async () => {
  const database = await openDatabase({ folder: folder() });
  onTestFinished(() => database.close());
  let now = 0;
  const counter = createSharedCounter(
    async () => database,
    () => now,
  );
  const minute = { key: "minute", maxCalls: 10, lengthMs: MINUTE_MS };
  const hour = { key: "hour", maxCalls: 1, lengthMs: 60 * MINUTE_MS };
  expect(await counter.take([minute, hour])).toBeUndefined();
  expect(await counter.take([minute, hour])).toMatchObject({ index: 1 });
  expect(await database.counters.get("minute", 0)).toBe(1);
  now = 24 * 60 * MINUTE_MS;
  expect(await counter.take([minute])).toBeUndefined();
  expect((await database.info()).rows).toMatchObject({ counters: 1 });
});
