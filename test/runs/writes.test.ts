import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill } from "../../src/index.ts";

test("writes nothing about a program that could have had an effect, and only reads [R1]", async () => {
  const store = mkdtempSync(join(tmpdir(), "skillgate-runs-"));
  onTestFinished(() => rmSync(store, { recursive: true, force: true }));
  const ShopSkill = defineSkill({
    name: "ShopSkill",
    description: "Orders of a shop",
    methods: {
      count: { description: "Count the orders", readOnly: true, run: () => 2 },
      clear: { description: "Delete the orders", destructive: true, run: () => "cleared" },
    },
  });
  const runtime = await createRuntime({ skillsDir: false, skills: [ShopSkill], store, workers: 1 });
  onTestFinished(() => runtime.close());
  const source = (most: number): string => `
    const count = await device.ShopSkill.count();
    count > ${most} ? await device.ShopSkill.clear() : count`;
  expect(await runtime.run(source(5))).toMatchObject({ kind: "completed", value: 2 });
  expect(await runtime.runs.list()).toEqual([]);
  expect(await runtime.run(source(1))).toMatchObject({ kind: "completed", value: "cleared" });
  expect(await runtime.runs.list()).toMatchObject([{ state: "completed", calls: 2, effects: 1 }]);
});
