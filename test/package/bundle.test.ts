// @module-tag rest

import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, expect, test } from "vitest";

import { createProject, runNode } from "./packed-project.ts";

const PROGRAM = `
import { createRuntime, defineSkill } from "skillgate";

const input = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] };
const add = { description: "Add two numbers", input, run: ({ a, b }) => a + b };
const MathSkill = defineSkill({ name: "MathSkill", description: "Calculates", methods: { add } });

async function main() {
  const runtime = await createRuntime({ skillsDir: process.env.SKILLS ?? false, skills: [MathSkill] });
  console.log(JSON.stringify(await runtime.run(process.env.PROGRAM)));
  await runtime.close();
}
main();
`;

const FILE_SKILL =
  "/** Doubles numbers. */\nexport class TwiceSkill {\n  twice(n: number): number { return n * 2; }\n}\n";

const project = createProject({ "program.js": PROGRAM, "skills/twice.ts": FILE_SKILL });
const aside = mkdtempSync(join(tmpdir(), "skillgate-bundle-"));

afterAll(() => {
  for (const folder of [project, aside]) rmSync(folder, { recursive: true, force: true });
});

test.each(["esm", "cjs"] as const)("runs in a bundle in the format %s", async (format) => {
  const file = await bundle(format);
  expect(await run(file, "device.MathSkill.add(2, 3)")).toMatchObject({ kind: "completed", value: 5 });
  const outcome = await run(file, "device.TwiceSkill.twice(4)", { SKILLS: join(project, "skills") });
  expect(outcome).toMatchObject({ kind: "completed", value: 8 });
});

test.each(["esm", "cjs"] as const)(
  "runs in a bundle in the format %s without node_modules, beside a copy of dist",
  async (format) => {
    const folder = mkdtempSync(join(aside, "copy-"));
    const file = join(folder, format === "esm" ? "program.mjs" : "program.cjs");
    cpSync(await bundle(format), file);
    const lost = await runNode([file], { PROGRAM: "1" });
    expect(lost.stderr).toContain(
      'Cannot find the files of Skillgate beside a bundle: install the package "skillgate" there, ' +
        'or copy its folder "dist" to "skillgate" in the folder of the bundle',
    );
    cpSync(join(project, "node_modules/skillgate/dist"), join(folder, "skillgate"), { recursive: true });
    expect(await run(file, "device.MathSkill.add(2, 3)")).toMatchObject({ kind: "completed", value: 5 });
  },
);

test.each(["bun", "deno"])("says in one sentence that it does not run on %s", async (name) => {
  const shim = join(aside, `${name}.mjs`);
  const versions = `{ ...process.versions, ${name}: "9.9.9" }`;
  writeFileSync(shim, `Object.defineProperty(process, "versions", { value: ${versions} });`);
  const entry = join(project, "node_modules/skillgate/dist/src");
  for (const file of ["index.js", "bin.js"]) {
    const { status, stderr } = await runNode(["--import", shim, join(entry, file)], {});
    expect(status).toBe(1);
    expect(stderr).toMatch(/Error: Skillgate runs on Node 20\.19 or later only, and this is (?:Bun|Deno) 9\.9\.9\n/);
  }
});

/** Bundles the program with all that it imports, and returns the file. */
async function bundle(format: "esm" | "cjs"): Promise<string> {
  const outfile = join(project, "out", format === "esm" ? "program.mjs" : "program.cjs");
  const entryPoints = [join(project, "program.js")];
  const { errors } = await build({ entryPoints, outfile, format, bundle: true, platform: "node", logLevel: "silent" });
  expect(errors).toEqual([]);
  return outfile;
}

async function run(file: string, program: string, env: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const { status, stdout, stderr } = await runNode([file], { PROGRAM: program, ...env });
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout) as unknown;
}
