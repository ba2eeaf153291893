import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";

import { reportMissingServer } from "../support/servers/require-server.ts";

const TESTS = "the tests with NATS, because nats-server is not installed";

test.each(["true", "1", ""])("fails without a server where CI is %j [O3]", (ci) => {
  expect(() => reportMissingServer(TESTS, ci)).toThrow(`Cannot run ${TESTS}`);
});

test("says on a machine of a developer that tests are skipped [O3]", () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  vi.stubEnv("CI", undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  reportMissingServer(TESTS);
  reportMissingServer(TESTS, "false");
  expect(warn.mock.calls).toEqual([[`SKIPPED: ${TESTS}`], [`SKIPPED: ${TESTS}`]]);
});

/** Runs what a build server runs, with commands that only report, and returns what `npm` reports. */
function runBuild(env: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-ci-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ["npm", "apt-get", "sudo"])
    writeFileSync(join(folder, name), `#!/bin/sh\n${name === "npm" ? 'echo "$* with CI=$CI"' : ""}\n`, { mode: 0o755 });
  return execFileSync("bash", [".ci/run"], {
    encoding: "utf8",
    env: { PATH: `${folder}:${process.env["PATH"]}`, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
}

test("tells the tests that they run on a build server [O3]", () => {
  expect(runBuild({})).toBe("test with CI=true\n");
  expect(runBuild({ CI: "woodpecker" })).toBe("test with CI=woodpecker\n");
});
