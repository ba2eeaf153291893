// @module-tag rest

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";

const SUITE = ".cache/conformance/0.1.16/node_modules/@modelcontextprotocol/conformance/dist/index.js";

/** The suite is installed beside the project and needs a newer Node; the test is skipped without it. */
const installed = existsSync(SUITE) || install();
if (!installed) console.warn("SKIPPED: the conformance suite is not installed, and cannot be: npm run conformance");

test.skipIf(!installed).each([
  ["by itself", "server"],
  ["in front of a server of both generations", "dual"],
])(
  "passes all 30 scenarios of the protocol's conformance suite (%s) [V1] [M7]",
  { timeout: 180_000 },
  (_name, role) => {
    const { status, stdout } = spawnSync(process.execPath, ["test/conformance/index.mjs", role, "--first"], {
      encoding: "utf8",
    });
    expect(stdout).toContain("Total: 40 passed, 0 failed");
    expect(stdout.match(/^✓ [\w-]+: \d+ passed, 0 failed$/gm)).toHaveLength(30);
    expect(status).toBe(0);
  },
);

function install(): boolean {
  const script = 'import { suiteAt } from "./test/conformance/install.mjs"; suiteAt("0.1.16");';
  const { status } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { timeout: 120_000 });
  return status === 0;
}
