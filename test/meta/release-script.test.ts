// @module-tag rest

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const SCRIPT = resolve("scripts/release.mjs");

const CHANGELOG =
  "# Changelog\n\n## [1.1.0] - unreleased\n\n- It releases.\n\n## [1.0.0] - 2020-01-01\n\n- It exists.\n";

test("sets the version, dates the changelog, packs, commits and tags a release", () => {
  const { folder, run } = createProject();
  const { status, stdout, stderr } = run("node", SCRIPT, "1.1.0");
  expect({ status, stdout: stdout.split("\n")[0] }, stderr).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^Packed sample-1\.1\.0\.tgz: \d files, 0\.0 MB$/),
  });
  expect(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version).toBe("1.1.0");
  expect(readFileSync(join(folder, "CHANGELOG.md"), "utf8")).toMatch(/^## \[1\.1\.0\] - \d{4}-\d{2}-\d{2}$/m);
  expect(existsSync(join(folder, "sample-1.1.0.tgz"))).toBe(true);
  expect(run("git", "log", "-1", "--format=%s", "v1.1.0").stdout).toBe("release: 1.1.0\n");
  expect(run("git", "status", "--porcelain", "--untracked-files=no").stdout).toBe("");
  expect(run("node", SCRIPT, "1.1.0").stderr).toBe("Cannot release: the tag v1.1.0 exists\n");
});

test.each([
  ["", "write the version, such as npm run release -- 1.0.0"],
  ["0.9.9", "0.9.9 is older than 1.0.0"],
  ["1.2.0", 'CHANGELOG.md has no section "## [1.2.0] - unreleased"'],
])("refuses to release the version %j, and changes nothing", (version, reason) => {
  const { run } = createProject();
  const { status, stderr } = run("node", SCRIPT, version);
  expect({ status, stderr }).toEqual({ status: 1, stderr: `Cannot release: ${reason}\n` });
  expect(run("git", "status", "--porcelain").stdout).toBe("");
});

test("refuses to release changes that are not committed", () => {
  const { folder, run } = createProject();
  writeFileSync(join(folder, "index.js"), "changed");
  expect(run("node", SCRIPT, "1.1.0").stderr).toBe("Cannot release: commit these changes first:\n M index.js\n");
});

/** Creates a package in a repository of its own. */
function createProject() {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-release-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@example.com",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a@example.com",
  };
  const run = (command: string, ...args: readonly string[]) =>
    spawnSync(command, [...args], { cwd: folder, env, encoding: "utf8" });
  writeFileSync(join(folder, "package.json"), '{ "name": "sample", "version": "1.0.0" }\n');
  writeFileSync(join(folder, "index.js"), "");
  writeFileSync(join(folder, "CHANGELOG.md"), CHANGELOG);
  run("git", "init", "--quiet");
  run("git", "add", ".");
  run("git", "commit", "--quiet", "--message", "first");
  return { folder, run };
}
