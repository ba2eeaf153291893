// `npm run conformance client`: the protocol's own conformance suites, of both generations.

import { spawnSync } from "node:child_process";
import { join } from "node:path";

import { suiteAt } from "./install.mjs";

const CLIENT = [process.execPath, join(import.meta.dirname, "client.mjs")].join(" ");

/** What is run of which suite. */
const RUNS = {
  client: [
    ["0.1.16", ["client", "--command", CLIENT, "--suite", "all"]],
    ["0.2.0-alpha.12", ["client", "--command", CLIENT, "--requirements", "2025-11-25"]],
    ["0.2.0-alpha.12", ["client", "--command", CLIENT, "--requirements", "2026-07-28"]],
  ],
};

const [role = "client", ...more] = process.argv.slice(2);
if (!Object.hasOwn(RUNS, role)) throw new Error(`Say ${Object.keys(RUNS).join(" or ")}, not ${role}`);
let failed = 0;
for (const [version, args] of RUNS[role]) {
  console.log(`\n# ${version} ${args.filter((arg) => arg !== CLIENT && arg !== "--command").join(" ")}`);
  const { script, node } = suiteAt(version);
  const { status } = spawnSync(node, [script, ...args, ...more], { stdio: "inherit" });
  if (status !== 0) failed += 1;
}
process.exitCode = failed === 0 ? 0 : 1;
