// Installs the protocol's conformance suites, and the Node that they need, into .cache/conformance, beside the project.

import { existsSync } from "node:fs";
import { join } from "node:path";

import { installAside } from "../support/install-aside.mjs";

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
  const packages = [`@modelcontextprotocol/conformance@${version}`, "node@24"];
  if (!installAside(folder, packages, "--loglevel=error"))
    throw new Error(`The conformance suite ${version} cannot be installed`);
}
