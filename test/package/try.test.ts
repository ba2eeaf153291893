// @module-tag rest

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

import { createProject, runNode } from "./packed-project.ts";

const project = createProject({});

afterAll(() => rmSync(project, { recursive: true, force: true }));

test("executes the commands of a page in a project, and succeeds if all of them do", async () => {
  const { status, stdout } = await tryPage([
    'skillgate run -e "1 + 1" \\',
    "  --json   # continued",
    "",
    "skillgate runs …",
    "skillgate chat",
  ]);
  expect(withoutTimes(stdout)).toEqual([
    'ok       page.md:4  skillgate run -e "1 + 1" --json',
    "ok       page.md:7  skillgate runs …",
    "skipped  page.md:8  skillgate chat  (needs a model)",
    "2 commands succeeded, 0 failed, 1 were skipped",
  ]);
  expect(status).toBe(0);
});

test("fails if a documented command fails, and shows what it printed", async () => {
  const { status, stdout } = await tryPage(["skillgate describe NoSkill", 'skillgate run -e "1"']);
  const lines = withoutTimes(stdout);
  expect(lines[0]).toBe("FAILED   page.md:4  skillgate describe NoSkill");
  expect(lines.at(-2)).toBe('ok       page.md:5  skillgate run -e "1"');
  expect(lines.at(-1)).toBe("1 commands succeeded, 1 failed, 0 were skipped");
  expect(stdout).toContain("    exit 5\n");
  expect(status).toBe(1);
});

/** Executes a page with these lines as a block of commands, the first in line 4. */
async function tryPage(lines: readonly string[]): ReturnType<typeof runNode> {
  const page = join(project, "page.md");
  writeFileSync(page, ["# Page", "", "```sh", ...lines, "```", "", "```js", "1", "```", ""].join("\n"));
  return runNode(["scripts/try.mjs", "--project", project, page], {});
}

function withoutTimes(stdout: string): readonly string[] {
  const lines = stdout.trimEnd().split("\n");
  return lines.map((line) => line.replace(/ {2}\(\d+\.\d\d s\)$/, "").replace(/\S*(page\.md)/, "$1"));
}
