// Makes a clone ready to use: installs and builds what is missing, and says so in one line each. Uses nothing but Node,
// because in a fresh clone there is nothing else.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { constants } from "node:os";
import { join, relative } from "node:path";

export const ROOT = join(import.meta.dirname, "..");
export const DIST = join(ROOT, "dist");

/** In `dist`, the fingerprint of what it was built from. */
export const FINGERPRINT_FILE = ".fingerprint";

/** The inputs of `dist`. The lock file is one, because it selects the engine and the compiler. */
const SOURCES = [
  "src",
  "sandbox",
  "scripts/build.mjs",
  "scripts/bundle-library.mjs",
  "scripts/bundle-types.mjs",
  "scripts/transpile.mjs",
  "tsconfig.json",
  "tsconfig.build.json",
  "package-lock.json",
];

/** Development packages that a build for the demo needs, among them those that become part of it, and the MCP server of the sample. */
export const DEMO_PACKAGES = [
  "@hono/node-server",
  "@jitl/quickjs-wasmfile-release-sync",
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/server",
  "@modelcontextprotocol/server-filesystem",
  "@sveltejs/acorn-typescript",
  "acorn",
  "ajv-formats",
  "comment-parser",
  "croner",
  "es-module-lexer",
  "esbuild",
  "graphql",
  "hono",
  "jose",
  "jsonc-parser",
  "oauth4webapi",
  "picocolors",
  "smol-toml",
  "yaml",
];

/** Installs and builds what is missing: everything, or what the demo needs. A whole build serves the demo, too. */
export async function prepare({ isDemo }) {
  if (readOrNothing(join(DIST, FINGERPRINT_FILE)) === createFingerprint(false) && isInstalled(false)) return;
  if (!isDemo) await install();
  else if (!isInstalled(true)) await installDemo();
  const hasBuild = isDemo && readOrNothing(join(DIST, FINGERPRINT_FILE)) === createFingerprint(true);
  if (hasBuild) return;
  const args = [join(ROOT, "scripts", "build.mjs"), ...(isDemo ? ["--demo"] : [])];
  await run(`Building dist${isDemo ? " for the demo" : " (npm run build)"}`, process.execPath, args);
}

/** Installs all packages, those for development, too. */
export async function install() {
  if (isInstalled(false)) return;
  const [command, ...args] = npm();
  await run("Installing dependencies (npm ci)", command, [...args, "ci", "--include=dev", "--no-audit", "--no-fund"]);
}

/** Installs what users of the package install, and the packages of the demo, each in the version of the lock file. */
async function installDemo() {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  const named = DEMO_PACKAGES.map((name) => `${name}@${packages[`node_modules/${name}`].version}`);
  const [command, ...args] = npm();
  const options = ["--omit=dev", "--no-save", "--save-prod", "--no-audit", "--no-fund"];
  await run("Installing dependencies of the demo", command, [...args, "install", ...options, ...named]);
}

/** How to call npm: the one that runs this, if one does, else the one on the PATH. */
export function npm() {
  const path = process.env.npm_execpath ?? "";
  return path.endsWith("npm-cli.js") ? [process.execPath, path] : ["npm"];
}

/**
 * Changes with every change of a source, and never else: times of files say little after a checkout or a copy. A build for
 * the demo has another one than a whole build.
 */
export function createFingerprint(isDemo) {
  const hash = createHash("sha256").update(isDemo ? "demo" : "");
  for (const file of SOURCES.flatMap(listFiles))
    hash
      .update(`${file}\n`)
      .update(readFileSync(join(ROOT, file)))
      .update("\n");
  return hash.digest("hex");
}

export function listFiles(path) {
  if (!statSync(join(ROOT, path)).isDirectory()) return [path];
  const entries = readdirSync(join(ROOT, path), { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}

/**
 * True if each package that the lock file wants is there in its version; optional ones depend on the machine. Of packages for
 * development, the demo needs a few; what these need was installed with them.
 */
function isInstalled(isDemo) {
  const wanted = readPackages(join(ROOT, "package-lock.json"));
  const present = readPackages(join(ROOT, "node_modules", ".package-lock.json"));
  return Object.entries(wanted).every(
    ([path, { version, dev, optional, devOptional }]) =>
      path === "" ||
      optional ||
      devOptional ||
      (isDemo && dev && !DEMO_PACKAGES.some((name) => path === `node_modules/${name}`)) ||
      present[path]?.version === version,
  );
}

function readPackages(lockFile) {
  return JSON.parse(readOrNothing(lockFile) ?? "{}").packages ?? {};
}

function readOrNothing(file) {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Runs a program to its end, and shows the seconds that it takes. Its words are only shown when it fails; a signal reaches it as well. */
export async function run(title, command, args) {
  const finish = showSeconds(title);
  const child = spawn(command, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  const said = [];
  child.stdout.setEncoding("utf8").on("data", (chunk) => said.push(chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk) => said.push(chunk));
  let received;
  const pass = (signal) => {
    received = signal;
    child.kill(signal);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, pass);
  const code = await new Promise((resolve) => {
    child.on("error", (error) => {
      said.push(error.message);
      resolve(1);
    });
    child.on("close", (code) => resolve(code ?? 1));
  });
  for (const signal of signals) process.off(signal, pass);
  finish();
  if (received) process.exit(128 + constants.signals[received]);
  if (code !== 0) fail(title, said.join("").trimEnd(), code);
}

/** Writes a line with the seconds that a step has taken so far, each second at a terminal. Returns the function that ends it. */
function showSeconds(title) {
  const since = performance.now();
  const { stderr } = process;
  const seconds = () => Math.round((performance.now() - since) / 1_000);
  stderr.write(`${title} …${stderr.isTTY ? "" : "\n"}`);
  const timer = stderr.isTTY && setInterval(() => stderr.write(`\r${title} … ${seconds()} s`), 1_000);
  return () => {
    clearInterval(timer);
    stderr.write(stderr.isTTY ? `\r${title}: ${seconds()} s\n` : `${title}: ${seconds()} s\n`);
  };
}

function fail(title, why, code) {
  process.stderr.write(`${why}\n${title} failed\n`);
  process.exit(code);
}
