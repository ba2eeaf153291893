import { expect, test } from "vitest";

import { createRuntime, defineSkill } from "../../src/index.ts";
import { OWNER } from "../../src/model/caller.ts";
import { NO_POLICY } from "../../src/model/policy.ts";
import { createProgramChecker } from "../../src/runtime/check-program.ts";
import { catalog, questions } from "../gatekeeper/stubs.ts";

const request = { catalog, caller: OWNER, whyUnavailable: () => undefined, limits: { sourceBytes: 100_000 } };

/** Records which sources were checked again. */
function countLooks(sources: readonly string[]): readonly string[] {
  let looks = 0;
  const inspect = createProgramChecker(
    () => NO_POLICY,
    () => {
      looks += 1;
      return questions;
    },
  );
  return sources.filter((source) => {
    const before = looks;
    inspect(source, request as never);
    return looks > before;
  });
}

test("checks an accepted program once, and a refused one each time [S5]", () => {
  expect(countLooks(["1 + 1", "1 + 2", "1 + 1", "eval(1)", "1 + 2", "eval(1)"])).toEqual([
    "1 + 1",
    "1 + 2",
    "eval(1)",
    "eval(1)",
  ]);
});

test("caches a limited number of verdicts for recent sources, and none for long ones [S5]", () => {
  const long = `"${"x".repeat(10_000)}"`;
  expect(countLooks([long, long])).toHaveLength(2);
  const many = Array.from({ length: 300 }, (_, at) => `${at} + 1`);
  const [first, last] = ["0 + 1", "299 + 1"];
  expect(countLooks([...many, last, first])).toEqual([...many, first]);
  const kept = many.flatMap((source) => [first, source]);
  expect(countLooks(kept)).toHaveLength(many.length);
});

test("does not reuse a verdict for another catalog, other permissions or other limits [S5]", async () => {
  const DiceSkill = defineSkill({
    name: "DiceSkill",
    description: "Rolls dice",
    methods: { roll: { description: "Roll", run: async () => 4 } },
  });
  await using runtime = await createRuntime({ skillsDir: false, skills: [DiceSkill] });
  const source = "device.DiceSkill.roll()";
  for (let time = 0; time < 3; time++) expect(await runtime.run(source)).toMatchObject({ value: 4 });
  const refusal = async (options: Parameters<typeof runtime.run>[1]): Promise<unknown> => {
    const outcome = await runtime.run(source, options);
    return outcome.kind === "refused" && outcome.violations.map(({ code }) => code);
  };
  expect(await refusal({ caller: { id: "stranger", permissions: ["see:*"] } })).toEqual(["PERMISSION_MISSING"]);
  expect(await refusal({ caller: { id: "blind", permissions: [] } })).toEqual(["SKILL_UNKNOWN"]);
  expect(await refusal({ limits: { sourceBytes: 5 } })).toEqual(["SOURCE_LIMIT"]);
  runtime.unregister("DiceSkill");
  expect(await refusal({})).toEqual(["SKILL_UNKNOWN"]);
});
