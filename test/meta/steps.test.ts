import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

import { findOverBudget, formatSlowest } from "../support/suite/cpu-report.ts";
import { hasTestsOf } from "../support/suite/select-files.ts";

const files = Array.from({ length: 12 }, (_, at) => ({ file: `test/f${at}.test.ts`, cpuMs: 2_000 * at }));

test("lists the files of a run that took the most CPU time, the slowest first", () => {
  expect(formatSlowest(files, 3).trim().split("\n")).toEqual([
    "CPU time of the slowest files:",
    "   22.0 s  test/f11.test.ts",
    "   20.0 s  test/f10.test.ts",
    "   18.0 s  test/f9.test.ts",
    "  132.0 s  all 12 files",
  ]);
});

test("reports a file that takes more CPU time than its budget", () => {
  const file = { file: "test/slow.test.ts", cpuMs: 21_000 };
  expect(findOverBudget([...files.slice(0, 11), file])).toEqual([
    "test/slow.test.ts took 21.0 CPU seconds; its budget is 20",
  ]);
});

test.each([
  ["", { usual: true, rest: false, all: true }],
  ["// @module-tag rest\n", { usual: false, rest: true, all: true }],
  ["// @module-tag repeated\n", { usual: true, rest: true, all: true }],
  ['test("a", { tags: "rest" }, run);', { usual: true, rest: true, all: true }],
  ['test(\n  "a",\n  { tags:\n    ["repeated", "rest"] }, run);', { usual: true, rest: true, all: true }],
  ["test('a', { timeout: 1, tags: 'rest' }, run);", { usual: true, rest: true, all: true }],
])("finds the parts of a file with the text %j", (text, parts) => {
  for (const [part, isIn] of Object.entries(parts)) expect(hasTestsOf(part, text), part).toBe(isIn);
  expect(hasTestsOf("nightly", text)).toBe(parts.rest);
});

test("shows which step of the preparation runs, and how long it takes", { tags: "rest" }, () => {
  const { status, stderr } = runStep("process.exit(0)");
  expect(stderr).toMatch(/^A step …\nA step: \d+ s\n$/);
  expect(status).toBe(0);
});

test("shows what a step prints if it fails, and ends with its exit code", () => {
  const { status, stderr } = runStep("console.log('no network'); process.exit(3)");
  expect(stderr).toMatch(/^A step …\nA step: \d+ s\nno network\nA step failed\n$/);
  expect(status).toBe(3);
});

/** Runs Node code as a step of the preparation. */
function runStep(code: string): { readonly status: number | null; readonly stderr: string } {
  const prepare = pathToFileURL(resolve("scripts/prepare.mjs")).href;
  const args = JSON.stringify(["-e", code]);
  const main = `const { run } = await import("${prepare}"); await run("A step", process.execPath, ${args});`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", main], { encoding: "utf8" });
}
