// The cost of schedules: `npm run bench:automations`, after a build.
//
// 10,000 schedules of many kinds and zones: reading them, finding all their next slots, the work of a look at the clock, 100 and
// 10,000 that are due in one second, an hour without a process, memory, and the longest stop of the loop. Each measurement runs
// in a process of its own. Then a burst of deliveries to a webhook. Exits with 1 if a mark is missed.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { table } from "../measure.mjs";
import { benchWebhooks } from "./webhooks.mjs";

const COUNT = 10_000;
const ROUNDS = 5;
const CHILD = fileURLToPath(new URL("schedules-once.mjs", import.meta.url));

const runs = Array.from({ length: ROUNDS }, () => measureOnce([COUNT]));
const million = measureOnce([1_000_000, "--short"]);
/** The lowest of the rounds: other work of the machine only adds time. */
const get = (name) => Math.min(...runs.map((run) => run[name]));
const getWorst = (name) => Math.max(...runs.map((run) => run[name]));

const rows = [
  mark("loading the code and its package, ms", get("importMs"), 30),
  mark("parsing a schedule, µs", get("parseUs"), 100),
  mark("all next slots and starts, ms", get("computeMs"), 500),
  mark("one next slot, µs (mean, with all zones read)", get("findUs"), 20),
  mark("a look at the clock when nothing is due, µs", get("lookUs"), 50),
  mark("100 due in one second: from the first to the last call, ms", get("hundredMs"), 100),
  mark("10,000 due in one second: from the first to the last call, ms", get("allMs"), 2_000),
  mark("after an hour without a process, until all are planned, ms", get("missedMs"), 3_000),
  mark("the longest work without a pause, ms of the processor (worst of all)", getWorst("workMs"), 50),
  mark("heap for each schedule, KB", get("heapKb"), 5),
];
table(`${COUNT} schedules, lowest of ${ROUNDS} processes`, ["", "measured", "mark", ""], rows);
table(
  "Beside it",
  ["", "measured"],
  [
    ["the longest stop of the loop, ms (lowest of the processes)", get("stopMs")],
    ["the longest stop of the loop, ms (worst of all)", getWorst("stopMs")],
    ["planning and calling for a slot of 10,000 in one second, µs of the processor", get("slotUs")],
    ["resident memory of the process, MB", get("rssMb")],
    ["1,000,000 schedules: all next slots and starts, s", million.computeMs / 1_000],
    ["1,000,000 schedules: a look at the clock when nothing is due, µs", million.lookUs],
    ["1,000,000 schedules: the longest work without a pause, ms of the processor", million.workMs],
    ["1,000,000 schedules: resident memory of the process, MB", million.rssMb],
    ["zones in use", get("zones")],
  ],
);
const isBurstGood = await benchWebhooks();
if (!isBurstGood || rows.some(([, measured, limit]) => measured > limit)) process.exitCode = 1;

function mark(name, measured, limit) {
  return [name, measured, limit, measured <= limit ? "" : "missed"];
}

function measureOnce(args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--expose-gc", CHILD, ...args.map(String)], {
    encoding: "utf8",
    maxBuffer: 1 << 20,
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}
