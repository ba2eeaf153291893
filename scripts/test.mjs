// `npm test`: makes the clone ready, then builds, checks and tests it. `npm run test:all` adds what takes longer:
// installations, packages, pages of the console, and more examples. `npm run test:nightly` takes all examples, with new seeds.

import { spawn } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import { install, prepare, ROOT } from "./prepare.mjs";

const HELP = `npm test                         build, check and test
npm test -- test/skills          the same with the tests of one folder
npm test -- --slowest            shows the CPU time of each test file
npm run test:all                 the same and then the rest
npm run test:rest                the rest alone, without checks
npm run test:nightly             the rest with all examples, and with new seeds
npm run test:changed             the tests of what was changed since the last commit
`;

const args = process.argv.slice(2);
if (args.includes("--help")) {
  process.stdout.write(HELP);
  process.exit(0);
}
const parts = { "--all": ["usual", "rest"], "--rest": ["rest"], "--nightly": ["nightly"] };
const flag = args.find((arg) => Object.hasOwn(parts, arg));
const own = new Set([...Object.keys(parts), "--slowest"]);
const passedOn = args.filter((arg) => !own.has(arg));

if (flag === "--rest" || flag === "--nightly") await prepare({ isDemo: false });
else {
  await install();
  await run(process.execPath, [join(ROOT, "scripts", "check.mjs")]);
}
for (const part of parts[flag] ?? ["usual"])
  await run(process.execPath, [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", ...passedOn], {
    SKILLGATE_TESTS: part,
    ...(args.includes("--slowest") && { SLOWEST: "all" }),
  });

/** Runs a program to its end. If it fails, this process ends with the same exit code. */
async function run(program, words, env = {}) {
  const child = spawn(program, words, { cwd: ROOT, stdio: "inherit", env: { ...process.env, ...env } });
  const pass = (signal) => child.kill(signal);
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, pass);
  const [code, signal] = await new Promise((resolve) => child.on("exit", (...end) => resolve(end)));
  for (const signal of signals) process.off(signal, pass);
  if (code !== 0) process.exit(code ?? 128 + constants.signals[signal]);
}
