// @module-tag rest

import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

import { call, load, temporaryFolder, writeFiles } from "./call.ts";

interface Project {
  readonly skills: string;
  readonly cacheDir: string;
  /** How often the file was imported so far. */
  readonly countImports: () => Promise<number>;
  readonly write: (body: string) => Promise<void>;
}

/** A file of skills that counts its imports. */
async function createProject(body: string): Promise<Project> {
  const folder = await temporaryFolder();
  const [skills, counts] = [join(folder, "skills"), join(folder, "counts.txt")];
  const text = (code: string): string =>
    `import { appendFileSync } from "node:fs";\nappendFileSync(${JSON.stringify(counts)}, "x");\n${code}`;
  await writeFiles(skills, { "greet.ts": text(body) });
  return {
    skills,
    cacheDir: join(folder, "cache"),
    countImports: async () => (existsSync(counts) ? (await readFile(counts, "utf8")).length : 0),
    write: (code) => writeFile(join(skills, "greet.ts"), text(code)),
  };
}

const GREET = "export class GreetSkill {\n  greet(name: string): string { return `Hello, ${name}`; }\n}\n";

test("imports a file that was imported before only for a call, if it is asked to [L6]", async () => {
  const { skills, cacheDir, countImports, write } = await createProject(GREET);
  const [first] = (await load(skills, { cacheDir })).skills;
  expect(await countImports()).toBe(1);
  const second = await load(skills, { cacheDir, defersImports: true });
  expect(second.skills[0]?.methods).toEqual(first?.methods);
  expect(second.problems).toEqual([]);
  expect(await countImports()).toBe(1);
  await expect(call(second, "GreetSkill.greet", { name: "Ada" })).resolves.toBe("Hello, Ada");
  expect(await countImports()).toBe(2);
  await write(GREET.replace("greet(", "welcome("));
  const changed = await load(skills, { cacheDir, defersImports: true });
  expect(changed.skills[0]?.methods.map(({ name }) => name)).toEqual(["welcome"]);
  expect(await countImports()).toBe(3);
});

test("imports a file again whose import has failed in part [L6]", async () => {
  const { skills, cacheDir, countImports } = await createProject(
    `${GREET}export class BrokenSkill {\n  constructor() { throw new Error("no key"); }\n  get(): number { return 1; }\n}\n`,
  );
  await load(skills, { cacheDir });
  const { problems } = await load(skills, { cacheDir, defersImports: true });
  expect(problems).toMatchObject([{ error: expect.stringContaining("no key") }]);
  expect(await countImports()).toBe(2);
});

test.each([
  "",
  "{",
  "null",
  '{"classes":-1}',
  '{"classes":1e9}',
  '{"classes":1,"skills":[{"name":"__proto__"}],"tools":7}',
])("reads a stored import that is %j without harm [L6]", async (text) => {
  const { skills, cacheDir } = await createProject(GREET);
  await load(skills, { cacheDir });
  const file = (await readdir(cacheDir)).find((name) => name.endsWith(".import")) ?? "";
  await writeFile(join(cacheDir, file), text);
  const { skills: found } = await load(skills, { cacheDir, defersImports: true });
  expect(found.map(({ name }) => name)).toEqual(["GreetSkill"]);
});
