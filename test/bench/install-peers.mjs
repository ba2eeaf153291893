// Installs what the benchmarks compare with into .cache/peers, beside the project: peers are never dependencies.
// None of their install scripts runs but that of isolated-vm, which is native and may have to be compiled; where that
// does not work, the benchmarks say so in its rows. It stays at 5, the last that runs on Node 20.

import { join } from "node:path";

import { spawnSync } from "node:child_process";

import { installAside, withVersions } from "../support/install-aside.mjs";

const PEERS = {
  "quickjs-emscripten-core": "0.32.0",
  "@jitl/quickjs-wasmfile-release-sync": "0.32.0",
  "quickjs-wasi": "3.6.2",
  "isolated-vm": "5.0.4",
  "@tanstack/ai-isolate-quickjs": "0.1.30",
  "@tanstack/ai-code-mode": "0.3.4",
  "@executor-js/runtime-quickjs": "1.5.35",
  effect: "4.0.0-beta.59",
  "@tanstack/ai": "0.39.0",
  run: "2.1.5",
  "@utcp/code-mode": "1.2.12",
  "@utcp/direct-call": "1.0.12",
  "@utcp/sdk": "1.1.2",
  "@cloudflare/codemode": "0.5.6",
  workerd: "1.20261117.1",
  minisearch: "7.2.0",
  "@orama/orama": "3.1.18",
  flexsearch: "0.8.212",
};

const folder = join(import.meta.dirname, "../../.cache/peers");
if (!installAside(folder, withVersions(PEERS), "--ignore-scripts", "--save-exact", "--legacy-peer-deps"))
  process.exit(1);
const isBuilt = run("node", ["-e", 'require("isolated-vm")'], "ignore") === 0;
if (!isBuilt) run("npm", ["rebuild", "isolated-vm"]);

function run(command, args, stdio = "inherit") {
  return spawnSync(command, args, { cwd: folder, stdio }).status;
}
