// Installs the protocol's conformance suites, and the Node that they need, into .cache/conformance, beside the project.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const SUITES = ["0.1.16", "0.2.0-alpha.12"];

/** Where a suite lies: its script, and the Node that runs it. Installs it first if it is not there. */
export function suiteAt(version) {
  const folder = join(import.meta.dirname, "../../.cache/conformance", version);
  const script = join(folder, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const node = join(folder, "node_modules/node/bin/node");
  if (!existsSync(script) || !existsSync(node)) install(folder, version);
  return { script, node };
}

function install(folder, version) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const packages = [`@modelcontextprotocol/conformance@${version}`, "node@24"];
  const { status } = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...packages], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error(`The conformance suite ${version} cannot be installed`);
}
