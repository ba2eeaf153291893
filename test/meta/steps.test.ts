import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

import { formatSlowest } from "../support/slowest-files.ts";

test("lists the ten slowest files of a run, the slowest first", () => {
  const files = Array.from({ length: 12 }, (_, at) => ({ file: `test/f${at}.test.ts`, durationMs: 1_000 * at }));
  const [title, ...rows] = formatSlowest(files).trim().split("\n");
  expect(title).toBe("The slowest files:");
  expect(rows.map((row) => row.trim())).toEqual(
    [11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map((at) => `${at}.0 s  test/f${at}.test.ts`),
  );
});

test("shows which step of the preparation runs, and how long it takes", () => {
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
