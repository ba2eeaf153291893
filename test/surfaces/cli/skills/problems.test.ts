// @module-tag rest

import { expect, test } from "vitest";

import { project, skillgate } from "../command.ts";

test("lists skills, and exits with 1 where a file is broken, with its lines [L4]", async () => {
  const cwd = project({
    "skills/good.ts": "export const get = () => 1;",
    "skills/bad.ts": "export const get = () => ;",
  });
  const { exit, stdout, stderr } = await skillgate(["skills", "list"], { cwd });
  expect(stdout).toContain("GoodSkill");
  expect(stderr).toContain("> 1 | export const get = () => ;");
  expect(exit).toBe(1);
  const fine = project({ "skills/good.ts": "export const get = () => 1;" });
  expect((await skillgate(["skills", "list"], { cwd: fine })).exit).toBe(0);
});
