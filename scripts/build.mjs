// Builds dist/. Everything is made in a folder beside it and then put in its place, so that a program that runs from
// dist, or another build, never sees half of one. If the build fails, the old dist stays. With `--unchecked`, checks no types; with
// `--demo`, neither that, and it builds neither declarations nor the console nor bundles of the library: to make these takes
// more time and memory than its modules take to load.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build as bundle } from "esbuild";
import { bundleLibrary, bundleStandalone } from "./bundle-library.mjs";
import { collectLicences } from "./licences.mjs";
import { linkGuest } from "./link-guest.mjs";
import { createFingerprint, DIST, FINGERPRINT_FILE, listFiles, ROOT } from "./prepare.mjs";
import { transpile } from "./transpile.mjs";

const isDemo = process.argv.includes("--demo");
const isUnchecked = process.argv.includes("--unchecked");

/** The folder for the declarations of all modules, until they are bundled. */
const DECLARATIONS = "declarations";

const staging = join(ROOT, ".cache", `build-${process.pid}`);
mkdirSync(staging, { recursive: true });
let compiler;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.once(signal, () => {
    cleanUp();
    process.exit(128 + constants.signals[signal]);
  });
try {
  writeFileSync(join(staging, FINGERPRINT_FILE), createFingerprint(isDemo)); // before the bundles, which look where it lies
  await Promise.all([writeModules(), ...(isDemo ? [] : [writeTypes()])]);
  replaceDist();
} finally {
  cleanUp();
}

/** Ends the compiler, which could write into the folder, before it removes the folder. */
function cleanUp() {
  compiler?.kill("SIGKILL");
  rmSync(staging, { recursive: true, force: true });
}

/** Compiles all modules and bundles them. */
async function writeModules() {
  await transpile(["src", "sandbox"].flatMap(listFiles).filter(isCompiled), ROOT, staging);
  writeVersion();
  writeGuest();
  await prepareSnapshot();
  await bundleSandbox();
  await bundleParsers();
  if (!isDemo) {
    await bundleConsole();
    await bundleLibrary(staging);
  }
  await bundleStandalone(staging);
}

/** Pages of the console are bundled; declarations stay. */
function isCompiled(file) {
  return file.endsWith(".ts") && !file.endsWith(".d.ts") && !file.startsWith(join("src/surfaces/console/app"));
}

/** Writes the declarations of the package, beside its modules. */
async function writeTypes() {
  await writeDeclarations();
  const { bundleTypes } = await import("./bundle-types.mjs"); // the demo needs no compiler
  await bundleTypes(join(staging, DECLARATIONS), join(staging, "types"));
}

/**
 * Writes the declarations of all modules, in a process of its own beside the rest, and ends the build if they have an error. The
 * compiler is TypeScript 7, which takes a quarter of the time; the type check of programs needs the API of TypeScript 6.
 */
async function writeDeclarations() {
  const { default: getExePath } = await import("../node_modules/typescript-native/lib/getExePath.js");
  const options = [
    "--emitDeclarationOnly",
    "--outDir",
    join(staging, DECLARATIONS),
    ...(isUnchecked ? ["--noCheck"] : []),
  ];
  // Not by the command of the package, a process that would leave the compiler behind when it is killed.
  compiler = spawn(getExePath(), ["-p", join(ROOT, "tsconfig.build.json"), ...options], { stdio: "inherit" });
  const [status] = await once(compiler, "exit");
  if (status === 0) return;
  cleanUp();
  process.exit(status ?? 1);
}

/** Replaces the look-up of the version in package.json, which a bundle of the library cannot make. */
function writeVersion() {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  writeFileSync(join(staging, "src/shared/version.js"), `export const VERSION = ${JSON.stringify(version)};\n`);
}

/** Links the code that runs inside the isolate before a program. */
function writeGuest() {
  const sandbox = join(staging, "sandbox");
  writeFileSync(join(sandbox, "guest.json"), JSON.stringify(linkGuest(join(sandbox, "guest", "index.js"))));
}

/** The memory of an isolate in which the guest script has already run. */
async function prepareSnapshot() {
  const sandbox = pathToFileURL(join(staging, "sandbox/")).href;
  const { compileEngine } = await import(new URL("engine/quickjs.js", sandbox).href);
  const { createSnapshotFile } = await import(new URL("engine/snapshot-file.js", sandbox).href);
  const engineFile = new URL("engine.wasm", sandbox);
  copyEngine(engineFile);
  const { module, digest } = compileEngine(engineFile);
  writeFileSync(new URL("engine.snapshot", sandbox), createSnapshotFile(module, digest, new URL(sandbox)));
}

/** Copies QuickJS, and its licence, from the package that has it. */
function copyEngine(file) {
  const { resolve } = createRequire(import.meta.url);
  const wasm = resolve("@jitl/quickjs-wasmfile-release-sync/wasm");
  copyFileSync(wasm, file);
  copyFileSync(join(wasm, "../../LICENSE"), new URL("engine.wasm.licence.txt", file));
}

/**
 * One file each for the thread and its pool: reading many takes a noticeable part of the time to a first result, and so
 * does setting up ES modules in each thread.
 */
async function bundleSandbox() {
  const sandbox = join(staging, "sandbox");
  const entry = (file, name) => ({
    entryPoints: [{ in: join(sandbox, file), out: name }],
    outdir: sandbox,
    allowOverwrite: true,
  });
  const common = { bundle: true, platform: "node", packages: "external", target: "node20", logLevel: "warning" };
  const logOverride = { "empty-import-meta": "silent" }; // where the engine lies is asked by the pool alone
  await bundle({
    ...common,
    ...entry("worker/main.js", "worker"),
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    logOverride,
  });
  await bundle({ ...common, ...entry("index.js", "index"), format: "esm" });
  rmSync(join(sandbox, "worker/main.js"));
}

/** Puts the ES modules of two packages into the files that re-export them, with their licences beside them. */
async function bundleParsers() {
  const outdir = join(staging, "src/shared/package");
  const { metafile } = await bundle({
    metafile: true,
    absWorkingDir: ROOT,
    entryPoints: ["jsonc", "yaml"].map((name) => join(ROOT, "src/shared/package", `${name}.ts`)),
    outdir,
    allowOverwrite: true,
    bundle: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "node20",
    legalComments: "none",
    logLevel: "warning",
    tsconfigRaw: {},
  });
  writeFileSync(join(outdir, "licences.txt"), collectLicences(Object.keys(metafile.inputs)));
}

/** Scripts and a style for browsers; pages with large libraries have scripts of their own. The licences of the libraries inside go into a file beside them. */
async function bundleConsole() {
  const app = join(ROOT, "src", "surfaces", "console", "app");
  const outdir = join(staging, "src", "surfaces", "console", "bundle");
  const { metafile } = await bundle({
    metafile: true,
    absWorkingDir: ROOT,
    entryPoints: { app: join(app, "main.tsx") },
    outdir,
    bundle: true,
    minify: true,
    format: "esm",
    splitting: true,
    chunkNames: "chunk-[hash]",
    platform: "browser",
    target: ["chrome131", "firefox132", "safari18.1"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning",
    tsconfigRaw: {},
  });
  cpSync(join(app, "icon.svg"), join(outdir, "icon.svg"));
  writeFileSync(join(outdir, "licences.txt"), collectLicences(Object.keys(metafile.inputs)));
}

/** Two builds may want this at the same time: the last one wins. */
function replaceDist() {
  for (let attempt = 1; ; attempt++) {
    const old = `${staging}-old-${attempt}`;
    try {
      renameSync(DIST, old);
      rmSync(old, { recursive: true, force: true });
    } catch (error) {
      if (error.code !== "ENOENT") throw error; // no dist yet
    }
    try {
      renameSync(staging, DIST);
      return;
    } catch (error) {
      if (!["ENOTEMPTY", "EEXIST"].includes(error.code) || attempt === 5) throw error;
    }
  }
}
