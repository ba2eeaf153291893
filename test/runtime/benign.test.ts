// @module-tag repeated

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { LIMITS, openPrograms, readPrograms } from "../support/corpus.ts";
import { takeShare } from "../support/repetitions.ts";

const rejections: unknown[] = [];
const note = (reason: unknown): number => rejections.push(reason);

beforeAll(() => {
  process.on("unhandledRejection", note);
});
afterAll(() => {
  process.off("unhandledRejection", note);
});

describe("gives the value of benign programs [S1, S2, S3, S4]", () => {
  const programs = takeShare(3, readPrograms("benign"));
  let opened: Awaited<ReturnType<typeof openPrograms>>;
  beforeAll(async () => void (opened = await openPrograms(programs, LIMITS, 1)));
  afterAll(() => opened.runtime.close());

  for (const program of programs) {
    test(program.id, async () => {
      const { traces, runProgram } = opened;
      traces.reached.length = 0;
      const outcome = await runProgram(program);
      expect(outcome, JSON.stringify(outcome).slice(0, 2_000)).toMatchObject({ kind: "completed" });
      if (outcome.kind !== "completed") return;
      expect(JSON.parse(JSON.stringify(outcome.value ?? null))).toEqual(program.result);
      expect(traces.reached.length).toBe(program.calls);
      expect(rejections).toEqual([]);
    });
  }
});
