import { afterAll, beforeAll, expect, test } from "vitest";

import { getEnd, isExpectedEnd, leaksIn, openCorpus, readPrograms } from "./corpus.ts";

const rejections: unknown[] = [];
const note = (reason: unknown): number => rejections.push(reason);
const untouched = JSON.stringify(
  [Object.prototype, Array.prototype, Function.prototype].map((each) => Reflect.ownKeys(each).map(String)),
);

beforeAll(() => {
  process.on("unhandledRejection", note);
});
afterAll(() => {
  process.off("unhandledRejection", note);
});

/** Half of the programs: the two halves run side by side. */
export function testAttacks(half: 0 | 1): void {
  for (const program of readPrograms("attacks").filter((_, index) => index % 2 === half)) {
    test(program.id, async () => {
      const { runtime, traces, run } = await openCorpus(program);
      try {
        const outcome = await run();
        expect(getEnd(outcome), JSON.stringify(outcome).slice(0, 2_000)).toSatisfy((end: string) =>
          isExpectedEnd(program.end, end),
        );
        expect(traces.forbidden).toEqual([]);
        expect(leaksIn(outcome)).toEqual([]);
        expect(await runtime.run("1 + 1")).toMatchObject({ kind: "completed", value: 2 });
        expect(rejections).toEqual([]);
        expect(
          JSON.stringify(
            [Object.prototype, Array.prototype, Function.prototype].map((each) => Reflect.ownKeys(each).map(String)),
          ),
        ).toBe(untouched);
      } finally {
        await runtime.close();
      }
    });
  }
}
