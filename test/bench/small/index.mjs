// `npm run bench:small`: the sandbox where there is one processor, two with a busy neighbour, and two that are free. Each setting has
// a process of its own that is bound to its processors, and everything that is compared runs there in turns. Linux only.

import { fork, spawn } from "node:child_process";
import { availableParallelism } from "node:os";

import { table } from "../measure.mjs";

const SETTINGS = [
  { name: "one processor", processors: "0", neighbours: 0 },
  { name: "two, one of them busy", processors: "0-1", neighbours: 1 },
  { name: "two processors", processors: "0-1", neighbours: 0 },
];

export async function benchSmall() {
  const columns = [];
  for (const setting of SETTINGS) {
    if (availableParallelism() < 2 && setting.processors !== "0") continue;
    columns.push([setting.name, await measure(setting)]);
  }
  const names = Object.keys(columns[0]?.[1] ?? {});
  table(
    "The same program on few processors",
    ["", ...columns.map(([name]) => name)],
    names.map((name) => [name, ...columns.map(([, figures]) => figures[name] ?? "")]),
  );
}

/** Starts the process that measures, bound to some processors, with neighbours that keep one of them busy. */
async function measure({ processors, neighbours }) {
  const busy = Array.from({ length: neighbours }, () =>
    spawn("taskset", ["-c", "1", process.execPath, "-e", "for (;;);"], { stdio: "ignore" }),
  );
  try {
    const child = fork(new URL("measure-sandbox.mjs", import.meta.url), {
      execPath: "taskset",
      execArgv: ["-c", processors, process.execPath, "--expose-gc"],
    });
    return await new Promise((resolve, reject) => {
      child.once("message", resolve);
      child.once("error", reject);
      child.once("exit", (code) => reject(new Error(`the measurement ends with code ${code}`)));
    });
  } finally {
    for (const process of busy) process.kill("SIGKILL");
  }
}

await benchSmall();
