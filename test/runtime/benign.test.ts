import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openCorpus, readPrograms } from "../support/corpus.ts";

const rejections: unknown[] = [];
const note = (reason: unknown): number => rejections.push(reason);

beforeAll(() => {
  process.on("unhandledRejection", note);
});
afterAll(() => {
  process.off("unhandledRejection", note);
});

describe("gives the value of benign programs [S1, S2, S3, S4]", () => {
  for (const program of readPrograms("benign")) {
    test(program.id, async () => {
      const { runtime, traces, run } = await openCorpus(program);
      try {
        const outcome = await run();
        expect(outcome, JSON.stringify(outcome).slice(0, 2_000)).toMatchObject({ kind: "completed" });
        if (outcome.kind !== "completed") return;
        expect(JSON.parse(JSON.stringify(outcome.value ?? null))).toEqual(program.result);
        expect(traces.reached.length).toBe(program.calls);
        expect(rejections).toEqual([]);
      } finally {
        await runtime.close();
      }
    });
  }
});
