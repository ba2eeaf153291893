// `npm start`: makes the clone ready, then runs the sample of the README, or the command line with what was passed on.
// The command runs in this very process, so exit codes, signals and pipes are its own. Only commands with the console need
// a whole build.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { DIST, prepare } from "./prepare.mjs";

const command = process.argv.slice(2);
const needsConsole = command.some((word) => word === "serve" || word === "console");
await prepare({ isDemo: !needsConsole });

if (command.length > 0) {
  const bin = join(DIST, "src", "bin.js");
  process.argv[1] = bin;
  await import(pathToFileURL(bin).href);
} else {
  await import("./sample.mjs");
}
