// @module-tag repeated

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { createRuntime } from "../../src/index.ts";
import { callerFor, LIMITS, readPrograms, stubSkills } from "../support/corpus.ts";
import { repetitions, takeShare } from "../support/repetitions.ts";

const programs = takeShare(16, readPrograms("benign"), 4);
const folder = mkdtempSync(join(tmpdir(), "skillgate-replay-"));
const options = { skillsDir: false, typecheck: false, store: folder, limits: LIMITS, workers: 1 } as const;
const recording = await createRuntime({
  ...options,
  skills: stubSkills({ forbidden: [], reached: [] }),
  approve: () => true,
  runs: { record: "full" },
});
/** A runtime without a skill on the same store. */
const bare = await createRuntime({ ...options, skills: [] });
let calls = 0;

afterAll(async () => {
  await Promise.all([recording.close(), bare.close()]);
  rmSync(folder, { recursive: true, force: true });
});

test.each(programs)("repeats $id without its skills [R5]", async (program) => {
  const outcome = await recording.run(program.code, { caller: callerFor(program) });
  if (outcome.kind === "refused" || outcome.kind === "waiting") throw new Error(outcome.text);
  calls += outcome.calls.length;
  const repeated = await bare.runs.replay(outcome.runId);
  expect({ ...repeated, usage: 0 }).toEqual({ ...outcome, usage: 0 });
});

test("has repeated programs that make calls [R5]", () => {
  expect(calls).toBeGreaterThan(repetitions(20, 50, 100));
});
