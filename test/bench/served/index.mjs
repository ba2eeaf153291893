// `npm run bench:served`: throughput and memory of a served runtime, also on one processor. Linux only.
// With `-- --profile`, also which parts of the code take the time of the main thread.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { benchFootprint } from "./footprint.mjs";
import { benchLoad, benchTwoProcesses } from "./load.mjs";
import { benchMarks, benchProfile } from "./marks.mjs";

await benchMarks();
if (process.argv.includes("--profile")) await benchProfile();
await benchLoad();
await benchTwoProcesses();
await benchFootprint();
const script = fileURLToPath(new URL("one-processor.mjs", import.meta.url));
const [code] = await once(spawn("taskset", ["-c", "0", process.execPath, script], { stdio: "inherit" }), "exit");
process.exitCode = code;
