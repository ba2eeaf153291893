// Builds and checks the clone, two programs at a time: `npm run check`. With `--built`, does not build it.

import { spawn } from "node:child_process";
import { freemem } from "node:os";
import { join } from "node:path";
import { ROOT } from "./prepare.mjs";

/** The linter is the longest, so it starts first. Its `--type-check` reports the errors of TypeScript, so the build does not. */
const CHECKS = [
  ["types and lint", "node_modules/oxlint/bin/oxlint", "--type-aware", "--type-check", "--deny-warnings"],
  ["build", "scripts/build.mjs", "--unchecked"],
  ["dead code", "node_modules/knip/bin/knip.js"],
  ["format", "node_modules/oxfmt/bin/oxfmt", "--check", "."],
];

const AT_ONCE = 2;

/**
 * The type check needs 2.9 GB, most of them to the end. Its collector of garbage takes a quarter of its time, so it collects nothing
 * below 3 GiB, where the machine has them.
 */
const LINT_BYTES = 3 * 2 ** 30;
const LINT_ENV = freemem() > 2 * LINT_BYTES ? { GOGC: "off", GOMEMLIMIT: String(LINT_BYTES) } : {};

const waiting = CHECKS.filter(([title]) => title !== "build" || !process.argv.includes("--built"));
const failed = [];
const running = new Set();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.on(signal, () => {
    waiting.length = 0;
    for (const child of running) child.kill(signal);
  });
await Promise.all(Array.from({ length: AT_ONCE }, work));
if (failed.length > 0) process.exit(1);

async function work() {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) await run(...check);
}

/** Runs one check to its end, and shows what it printed if it fails. */
async function run(title, program, ...args) {
  const since = performance.now();
  const child = spawn(process.execPath, [join(ROOT, program), ...args], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...LINT_ENV, ...process.env },
  });
  running.add(child);
  const printed = [];
  child.stdout.setEncoding("utf8").on("data", (chunk) => printed.push(chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk) => printed.push(chunk));
  const code = await new Promise((resolve) => child.on("close", resolve));
  running.delete(child);
  const seconds = Math.round((performance.now() - since) / 1_000);
  process.stderr.write(code === 0 ? `${title}: ${seconds} s\n` : `${printed.join("")}\n${title} failed\n`);
  if (code !== 0) failed.push(title);
}
