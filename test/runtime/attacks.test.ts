// @module-tag repeated

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { getEnd, isExpectedEnd, leaksIn, LIMITS, openPrograms, readPrograms } from "../support/corpus.ts";
import { repetitions, takeEvery, takeShare } from "../support/repetitions.ts";

const rejections: unknown[] = [];
const note = (reason: unknown): number => rejections.push(reason);
const untouched = readPrototypes();

beforeAll(() => {
  process.on("unhandledRejection", note);
});
afterAll(() => {
  process.off("unhandledRejection", note);
});

/** Limits of programs that must end by a limit. The others may take longer on a machine with other work. */
const SHORT_LIMITS = { cpuMs: repetitions(50, 100, 300), wallMs: repetitions(400, 500, 900) };
const ENDS_BY_LIMIT: ReadonlySet<string | undefined> = new Set(["CPU_LIMIT", "WALL_LIMIT", "limit", "contained"]);

describe("ends attacks as each header requires [S6, S7, P2]", () => {
  const all = readPrograms("attacks");
  const share = new Set(takeShare(5, all));
  // Those that end by a limit have other limits in each part of the tests.
  const programs = takeEvery(5, all).filter((program) => share.has(program) || ENDS_BY_LIMIT.has(program.end));
  let opened: Awaited<ReturnType<typeof openPrograms>>;
  beforeAll(async () => void (opened = await openPrograms(programs, LIMITS, 1)));
  afterAll(() => opened.runtime.close());

  for (const program of programs) {
    test(program.id, async () => {
      const { runtime, traces, runProgram } = opened;
      const outcome = await runProgram(program, ENDS_BY_LIMIT.has(program.end) ? SHORT_LIMITS : {});
      expect(getEnd(outcome), JSON.stringify(outcome).slice(0, 2_000)).toSatisfy((end: string) =>
        isExpectedEnd(program.end, end),
      );
      expect(traces.forbidden).toEqual([]);
      expect(leaksIn(outcome)).toEqual([]);
      expect(await runtime.run("1 + 1")).toMatchObject({ kind: "completed", value: 2 });
      expect(rejections).toEqual([]);
      expect(readPrototypes()).toBe(untouched);
    });
  }
});

function readPrototypes(): string {
  const prototypes = [Object.prototype, Array.prototype, Function.prototype];
  return JSON.stringify(prototypes.map((each) => Reflect.ownKeys(each).map(String)));
}
