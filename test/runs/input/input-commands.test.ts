// @module-tag rest

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { project, skillgate } from "../../surfaces/cli/command.ts";

const CITY = "(await device.input()).city";

test("gives a program the input of the command line, or of a file", async () => {
  const cwd = project({ "city.js": CITY });
  expect(await skillgate(["run", "city.js", "--input", '{"city": "Rome"}'], { cwd })).toMatchObject({
    exit: 0,
    stdout: "Rome\n",
  });
  writeFileSync(join(cwd, "payload.json"), '\uFEFF{"city": "Oslo", "id": 12345678901234567890}');
  const code = "const { city, id } = await device.input();\ncity + id";
  expect(await skillgate(["run", "-e", code, "--input", "@payload.json"], { cwd })).toMatchObject({
    stdout: "Oslo12345678901234567890\n",
  });
});

test.each<readonly [string, string]>([
  ["Rome", "Cannot read the input as JSON: "],
  ["@absent.json", 'Cannot read "absent.json": it does not exist'],
])("refuses the input %s with what to write", async (input, says) => {
  const cwd = project({});
  const { exit, stderr } = await skillgate(["run", "-e", "1", "--input", input], { cwd });
  expect(exit).toBe(2);
  expect(stderr).toContain(says);
});

test("says what is wrong with an input that is too large, and with a missing one", async () => {
  const cwd = project({ "large.json": JSON.stringify("x".repeat(2 << 20)) });
  const large = await skillgate(["run", "-e", "1", "--input", "@large.json"], { cwd });
  expect(large.stderr).toContain("INPUT_INVALID");
  const missing = await skillgate(["run", "-e", CITY], { cwd });
  expect(missing.exit).toBe(1);
  expect(missing.stderr).toContain("The run has no input: start it with one");
});

test("checks a program by its input, and shows the input of a recorded run", async () => {
  const cwd = project({ "settings.yaml": "store: { dir: state }\nruns: { record: full }\n" });
  const checked = await skillgate(["check", "-e", "(await device.input()).ctiy", "--input", '{"city": "Rome"}'], {
    cwd,
  });
  expect(checked.stderr).toContain('"ctiy" does not exist');
  await skillgate(["run", "-e", CITY, "--input", '{"city": "Rome"}'], { cwd });
  const { stdout } = await skillgate(["runs", "list", "--json"], { cwd });
  const { runs } = JSON.parse(stdout) as { readonly runs: readonly { readonly id: string }[] };
  const id = runs[0]?.id ?? "";
  expect((await skillgate(["runs", "show", id], { cwd })).stdout).toContain('input {"city":"Rome"}');
  const shown = await skillgate(["runs", "show", id, "--json"], { cwd });
  expect(JSON.parse(shown.stdout)).toMatchObject({ input: { city: "Rome" } });
  expect((await skillgate(["runs", "replay", id], { cwd })).exit).toBe(0);
});
