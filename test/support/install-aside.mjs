// Installs packages beside the project, in a folder of their own: what tests and benchmarks compare with is no dependency.

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** `packages` as npm names them, with their versions. Says whether it went well. */
export function installAside(folder, packages, ...flags) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  // Names resolve from where this file lies.
  writeFileSync(join(folder, LOADER), "export const load = (name) => import(name);\n");
  const args = ["install", "--no-audit", "--no-fund", ...flags, ...packages];
  return spawnSync("npm", args, { cwd: folder, stdio: "inherit" }).status === 0;
}

/** A module of what was installed there. */
export async function loadAside(folder, name) {
  const { load } = await import(pathToFileURL(join(folder, LOADER)).href);
  return load(name);
}

/** `{ name: version }` as npm names packages. */
export function withVersions(packages) {
  return Object.entries(packages).map(([name, version]) => `${name}@${version}`);
}

const LOADER = "load.mjs";
