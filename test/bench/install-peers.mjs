// Installs what the benchmarks compare with into .cache/peers, beside the project: peers are never dependencies.
// isolated-vm is native and needs a compiler; where it does not build, its rows are left out.

import { join } from "node:path";

import { installAside, withVersions } from "../install-aside.mjs";

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
  minisearch: "7.2.0",
  "@orama/orama": "3.1.18",
  flexsearch: "0.8.212",
};

const folder = join(import.meta.dirname, "../../.cache/peers");
process.exit(installAside(folder, withVersions(PEERS), "--legacy-peer-deps") ? 0 : 1);
