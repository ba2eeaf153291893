// @module-tag rest

import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

import { createProject } from "./packed-project.ts";

const WHY = "TypeScript 7.0.2 has no interface for other programs; run: npm install --save-dev typescript@6";

const project = createProject({});
const compiler = createProject({
  "node_modules/typescript/package.json": '{ "name": "typescript", "version": "7.0.2" }\n',
});

afterAll(() => {
  for (const folder of [project, compiler]) rmSync(folder, { recursive: true, force: true });
});

test("excludes TypeScript 7, which has no interface for other programs", () => {
  const { peerDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  expect(peerDependencies["typescript"]).toBe(">=5.9 <7");
});

test("reports with doctor that TypeScript 7 checks no types", () => {
  expect(skillgate(compiler, "doctor").stdout).toContain(`! TypeScript: types are not checked: ${WHY}`);
  expect(skillgate(project, "doctor").stdout).toContain("✓ TypeScript: not installed; types are not checked");
});

test("reports with run --verbose that TypeScript 7 checks no types, and runs the program", () => {
  const { status, stdout, stderr } = skillgate(compiler, "run", "--verbose", "-e", "1 + 1");
  expect({ status, stdout }).toEqual({ status: 0, stdout: "2\n" });
  expect(stderr).toContain(`Types are not checked: ${WHY}`);
  expect(skillgate(compiler, "run", "-e", "1 + 1").stderr).toBe("");
  expect(skillgate(project, "run", "--verbose", "-e", "1 + 1").stderr).not.toContain("Types are not checked");
});

function skillgate(
  folder: string,
  ...args: readonly string[]
): { status: number | null; stdout: string; stderr: string } {
  const bin = join(folder, "node_modules/skillgate/dist/src/bin.js");
  const env = { ...process.env, XDG_STATE_HOME: join(folder, "state"), XDG_CONFIG_HOME: join(folder, "config") };
  return spawnSync(process.execPath, [bin, ...args], { cwd: folder, env, encoding: "utf8" });
}
