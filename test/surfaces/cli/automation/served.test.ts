// @module-tag rest

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { project, skillgate as runCommand } from "../command.ts";
import { serveProject, WHERE_SKILL } from "../socket/served-project.ts";

test("automation run uses the process that serves the project", async () => {
  const cwd = project({ "skills/where.js": WHERE_SKILL, "settings.yaml": "store: { dir: state }\n" });
  writeFileSync(join(cwd, "where.js"), "await device.WhereSkill.parent()");
  await runCommand(["keys", "create", "asker", "--call", "WhereSkill.*"], { cwd });
  await runCommand(["automation", "add", "where", "where.js", "--key", "asker"], { cwd });
  expect(await runCommand(["automation", "accept", "where", "--yes"], { cwd })).toMatchObject({ exit: 0 });
  const { server, skillgate } = await serveProject(cwd);
  expect(await skillgate(["automation", "run", "where"])).toEqual({ exit: 0, stdout: `${server.pid}\n`, stderr: "" });
  const started = await skillgate(["automation", "run", "where", "--no-wait", "--json"]);
  const { occurrence } = JSON.parse(started.stdout) as { readonly occurrence: string };
  await expect
    .poll(async () => (await skillgate(["automation", "history", "where"])).stdout, { timeout: 30_000 })
    .toMatch(new RegExp(`${occurrence} +manual +completed`));
  expect(await skillgate(["automation", "run", "wher"])).toMatchObject({
    exit: 5,
    stderr: expect.stringContaining("where"),
  });
  expect(readFileSync(join(cwd, "automations/where.yaml"), "utf8")).toContain("key: asker");
});
