import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";

import { ERRORS } from "../../src/errors.ts";
import { createRuntime, type Outcome } from "../../src/index.ts";
import { SAMPLE_SKILLS } from "../support/refusals.ts";

/** The samples that `docs/errors.md` shows for each code: a program, and the text that the model reads. */
const REFUSALS = JSON.parse(readFileSync(new URL("../fixtures/refusals.json", import.meta.url), "utf8")) as readonly {
  readonly code: string;
  readonly source: string;
  readonly text: string;
}[];

const runtime = await createRuntime({ skillsDir: false, skills: SAMPLE_SKILLS, typecheck: true });
afterAll(() => runtime.close());

test.each(REFUSALS)("returns the documented text for $code [S5]", { tags: "rest" }, async ({ code, source, text }) => {
  const run = (): Promise<Outcome> =>
    runtime.run(source, {
      caller: {
        id: "ada",
        permissions: [
          "call:MathSkill.*",
          "call:UserSkill.get",
          "call:living_room_pc.*",
          "see:UserSkill.remove",
          "call:ShopAPI.*",
          "call:TrackerGraph.*",
        ],
      },
      limits: { sourceBytes: code === "SOURCE_LIMIT" ? 50 : 1_000 },
    });
  // Only the compiler knows the members of results, and it may still be loading.
  await expect
    .poll(run, { interval: 100, timeout: 50_000 })
    .toMatchObject({ kind: "refused", text, violations: [{ code }] });
});

test("documents a sample for every code of the gatekeeper [S5]", () => {
  const codes = Object.entries(ERRORS).flatMap(([code, { stage }]) => (stage === "check" ? [code] : []));
  expect(REFUSALS.map(({ code }) => code)).toEqual([...codes, "PERMISSION_MISSING"]);
});

test.each([
  [
    "for (const each of await device.MathSkill.add(1, 2)) print(each)",
    "The value is not iterable; inspect it with print(value), as the list may be one of its members",
  ],
  [
    "const sum = await device.MathSkill.add(1, 2);\nsum.items.map(print)",
    "`sum.items` at line 2, column 4: sum is a number",
  ],
  ["const sum = await device.MathSkill.add(1, 2);\nsum.toList()", "`sum.toList` at line 2, column 4: sum is a number"],
  [
    "JSON.parse(await device.MathSkill.add(1, 2) + ' {')",
    "The text is not JSON; inspect it with print(text). Methods return values, which need no parsing unless they are strings",
  ],
])("hints at a value of an unexpected kind: %s [S10]", async (source, hint) => {
  const outcome = await runtime.run(source, { caller: { id: "ada", permissions: ["call:MathSkill.*"] } });
  expect(outcome).toMatchObject({ kind: "failed", error: { code: "THROWN", hint } });
});
