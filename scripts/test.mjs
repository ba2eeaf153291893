// `npm test`: makes the clone ready, then builds, checks and tests everything.

import { spawn } from "node:child_process";
import { constants } from "node:os";
import { install, npm, ROOT } from "./prepare.mjs";

await install();

const [command, ...args] = npm();
const child = spawn(command, [...args, "run", "ok", ...passedOn()], { cwd: ROOT, stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));

/** `npm test -- test/skills` runs the tests of one folder, after all the checks. */
function passedOn() {
  return process.argv.length > 2 ? ["--", ...process.argv.slice(2)] : [];
}
