// Makes the clone ready and builds it if it has changed, then runs a program: `node scripts/with-build.mjs test/bench/index.mjs`.

import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { prepare } from "./prepare.mjs";

await prepare({ isDemo: false });
const program = resolve(process.argv[2] ?? "");
process.argv.splice(1, 2, program);
await import(pathToFileURL(program).href);
