// @module-tag rest

import { expect, test } from "vitest";

import { createRuntime } from "../../src/index.ts";

test.each([
  ["shipped", "skills"],
  ["awkward", "test/fixtures/skills"],
])("describes and declares the %s skills as reviewed [D3, D5]", { timeout: 90_000 }, async (name, skillsDir) => {
  await using runtime = await createRuntime({ skillsDir });
  const { skills } = runtime.catalog;
  const descriptions = skills.map((skill) => runtime.describe(skill.name).text);
  const text = [...descriptions, runtime.declarations()].join("\n\n");
  await expect(`${text}\n`).toMatchFileSnapshot(`golden/${name}.txt`);
});
