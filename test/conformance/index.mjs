// `npm run conformance client`: the protocol's own conformance suites, of both generations.

import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { suiteAt } from "./install.mjs";

/** Cross-app access asks for a company's own identity provider; the rest has to pass. */
const EXPECTED = join(import.meta.dirname, "expected-failures.yaml");

const CLIENT = [process.execPath, join(import.meta.dirname, "client.mjs")].join(" ");

/** The suites write what they saw into the folder in which they run. */
const RESULTS = join(import.meta.dirname, "../../.cache/conformance/results");

/** What is run of which suite. */
const RUNS = {
  client: [
    ["0.1.16", ["client", "--command", CLIENT, "--suite", "all", "--expected-failures", EXPECTED]],
    ["0.2.0-alpha.12", ["client", "--command", CLIENT, "--requirements", "2025-11-25"]],
    ["0.2.0-alpha.12", ["client", "--command", CLIENT, "--requirements", "2026-07-28"]],
  ],
};

const [role = "client", ...more] = process.argv.slice(2);
if (!Object.hasOwn(RUNS, role)) throw new Error(`Say ${Object.keys(RUNS).join(" or ")}, not ${role}`);
mkdirSync(RESULTS, { recursive: true });
let failed = 0;
for (const [version, args] of RUNS[role]) {
  console.log(`\n# ${version} ${args.filter((arg) => !arg.includes("/") && arg !== "--command").join(" ")}`);
  const { script, node } = suiteAt(version);
  const { status } = spawnSync(node, [script, ...args, ...more], { cwd: RESULTS, stdio: "inherit" });
  if (status !== 0) failed += 1;
}
process.exitCode = failed === 0 ? 0 : 1;
