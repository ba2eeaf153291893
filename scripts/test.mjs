// `npm test`: makes the clone ready and builds it, then checks and tests it at the same time. `npm run test:all` adds what takes
// longer: installations, packages, pages of the console, and more examples. `npm run test:nightly` takes all examples, with new seeds.

import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
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

/** Below that of the tests, some of which wait for time limits. */
const CHECK_PRIORITY = 10;

/** The programs that run now. A signal reaches all of them. */
const running = new Set();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.on(signal, () => {
    for (const child of running) child.kill(signal);
  });

let checked;
if (flag === "--rest" || flag === "--nightly") await prepare({ isDemo: false });
else {
  await install();
  process.exitCode = await run("scripts/build.mjs", ["--unchecked"]);
  if (process.exitCode !== 0) process.exit();
  checked = run("scripts/check.mjs", ["--built"], { priority: CHECK_PRIORITY });
}
for (const part of parts[flag] ?? ["usual"]) {
  process.exitCode ||= await run("node_modules/vitest/vitest.mjs", ["run", ...passedOn], {
    env: { SKILLGATE_TESTS: part, ...(args.includes("--slowest") && { SLOWEST: "all" }) },
  });
}
const code = await checked;
if (code) {
  process.stderr.write("The checks of the clone have failed: see above\n");
  process.exitCode ||= code;
}

/** Runs a program to its end. Resolves to its exit code. */
async function run(program, words, { env = {}, priority } = {}) {
  const child = spawn(process.execPath, [join(ROOT, program), ...words], {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  if (priority !== undefined) setPriority(child.pid, priority);
  running.add(child);
  const [code, signal] = await new Promise((resolve) => child.on("exit", (...end) => resolve(end)));
  running.delete(child);
  return code ?? 128 + constants.signals[signal];
}
