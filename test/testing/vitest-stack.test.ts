// @module-tag rest

import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

import { environment, project } from "../surfaces/cli/command.ts";

const FAILING = `/** Fail. */
export function fail(): void {
  throw new TypeError("no luck");
}
`;

const TEST = `import { test } from "vitest";
import { testSkill } from "skillgate/testing";

test("fails", async () => {
  const { call } = await testSkill(new URL("broken.ts", import.meta.url));
  await call("fail");
});
`;

test("shows the file and line of an error of a skill under vitest [L10, L11]", () => {
  const cwd = project({
    "package.json": '{ "type": "module" }',
    "skills/broken.ts": FAILING,
    "skills/broken.test.ts": TEST,
  });
  mkdirSync(join(cwd, "node_modules"));
  symlinkSync(resolve("."), join(cwd, "node_modules/skillgate"));
  symlinkSync(resolve("node_modules/vitest"), join(cwd, "node_modules/vitest"));
  const command = [resolve("node_modules/vitest/vitest.mjs"), "run", "skills"];
  const run = spawnSync(process.execPath, command, {
    cwd,
    encoding: "utf8",
    env: environment(cwd, { NO_COLOR: "1" }),
  });
  expect(run.status).toBe(1);
  expect(run.stderr).toMatch(/no luck[^]*skills\/broken\.ts:3:9/);
});
