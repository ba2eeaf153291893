// `npm start`: makes the clone ready, then runs the sample of the README, or the command line with what was passed on.
// The command runs in this very process, so exit codes, signals and pipes are its own.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, DIST, install } from "./prepare.mjs";

await install();
await build();

const command = process.argv.slice(2);
if (command.length > 0) {
  const bin = join(DIST, "src", "bin.js");
  process.argv[1] = bin;
  await import(pathToFileURL(bin).href);
} else {
  await import("./sample.mjs");
}
