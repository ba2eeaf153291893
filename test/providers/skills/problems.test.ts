import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { call, load, loadFiles, temporaryFolder, writeFiles } from "./call.ts";

test("shows the lines around a mistake in a file [L4]", async () => {
  const { problems } = await loadFiles({ "a.ts": "const one = 1;\nexport const get = () => ;\n" });
  expect(problems).toEqual([
    {
      source: "a.ts",
      error: "Cannot load the skill: line 2, column 26: Unexpected token (SKILL_INVALID)",
      frame: ["  1 | const one = 1;", "> 2 | export const get = () => ;", `    | ${" ".repeat(25)}^`, "  3 |"].join(
        "\n",
      ),
    },
  ]);
});

test("names the package to install, at import and at a call [L4]", async () => {
  const provider = await loadFiles({
    "a.ts": 'import { x } from "@no-such/package/deep";\nexport const get = () => x;\n',
    "b.cjs": 'const x = require("no-such-package");\nexports.get = () => x;\n',
    "c.ts": "export const get = async () => import('no-such-package');\n",
  });
  expect(provider.problems.map(({ error }) => error)).toEqual(
    ["@no-such/package", "no-such-package"].map(
      (name) =>
        `Cannot load the skill: it failed at import: the package "${name}" is not installed; run npm i ${name} (SKILL_INVALID)`,
    ),
  );
  await expect(call(provider, "CSkill.get")).rejects.toThrow(
    'the package "no-such-package" is not installed; run npm i no-such-package',
  );
});

test(
  "says that a skill may be gone which a program calls after its file was removed [L6]",
  { tags: "rest" },
  async () => {
    const folder = await temporaryFolder();
    const skills = join(folder, "skills");
    await writeFiles(skills, { "a.ts": 'export class ASkill { from() { return "a"; } }' });
    const provider = await load(skills, { cacheDir: join(folder, "cache"), watch: true });
    const before = { skills: provider.skills };
    const changed = new Promise<void>((resolve) => provider.onChange(resolve));
    await rm(join(skills, "a.ts"));
    await changed;
    await expect(call(before, "ASkill.from")).rejects.toThrow(
      '"ASkill.from" could not start: its module was removed, or no longer starts',
    );
  },
);

test("keeps the skill in use when another file takes its name [L5, L6]", { tags: "rest" }, async () => {
  const folder = await temporaryFolder();
  const skills = join(folder, "skills");
  const same = (from: string): string => `export class SameSkill { from() { return "${from}"; } }`;
  await writeFiles(skills, { "b.ts": same("b") });
  const provider = await load(skills, { cacheDir: join(folder, "cache"), watch: true });
  const changed = (): Promise<void> => new Promise((resolve) => provider.onChange(resolve));
  const added = changed();
  await writeFile(join(skills, "a.ts"), same("a"));
  await added;
  await expect(call(provider, "SameSkill.from")).resolves.toBe("b");
  expect(provider.problems).toEqual([
    { source: "a.ts", error: 'Cannot load the skill: "SameSkill" is already taken by "b.ts" (SKILL_INVALID)' },
  ]);
});
