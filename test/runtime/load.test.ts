// @module-tag rest

import { expect, test } from "vitest";

import { DEFAULT_LIMITS } from "../../src/model/limits.ts";
import { leaksIn, openPrograms, type Program, readPrograms } from "../support/corpus.ts";
import { repetitions } from "../support/repetitions.ts";

const TENTH = {
  ...Object.fromEntries(Object.entries(DEFAULT_LIMITS).map(([name, limit]) => [name, limit / 10])),
  cpuMs: repetitions(100, DEFAULT_LIMITS.cpuMs / 10),
};

test(
  "protects honest runs from two hundred concurrent attacks, each under a tenth of every limit [S7, S8]",
  { timeout: 180_000 },
  async () => {
    const attacks = readPrograms("attacks");
    const honest = readPrograms("benign").filter((program) => !program.id.includes("optional"));
    const { runtime, traces, runProgram } = await openPrograms(
      [...attacks, ...honest],
      { ...TENTH, memoryBytes: DEFAULT_LIMITS.memoryBytes },
      3,
    );
    await using _ = runtime;
    const wrong: string[] = [];
    const leaks: string[] = [];
    const attack = async (program: Program): Promise<void> => {
      leaks.push(...leaksIn(await runProgram(program, TENTH)));
    };
    const behave = async (program: Program): Promise<void> => {
      const outcome = await runProgram(program, DEFAULT_LIMITS);
      const value = outcome.kind === "completed" ? JSON.stringify(outcome.value ?? null) : outcome.text;
      if (value !== JSON.stringify(program.result)) wrong.push(`${program.id}: ${value}`);
    };
    await Promise.all([
      lanes(200, attacks, attack),
      lanes(
        4,
        honest.filter((_, i) => i % 5 === 0),
        behave,
      ),
    ]);
    expect(wrong).toEqual([]);
    expect(leaks).toEqual([]);
    expect(traces.forbidden).toEqual([]);
  },
);

/** Processes a list, with a limited number of items at a time. */
async function lanes<Item>(count: number, items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const lane = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: count }, lane));
}
