// `npm run soak`: 100,000 runs that scribble over everything, with the memory of the process on the way, then 10,000 runs
// while threads are ended at random. Fails if a run was lost or wrong that lay in no such thread, if one found a trace
// of another, or if the memory grew.

import { createSandbox } from "../../dist/sandbox/index.js";
import { table } from "./measure.mjs";
import { LIMITS } from "./sandbox.mjs";

/** A thread holds the run that computes in it, and perhaps one whose pages it is about to hand over. */
const RUNS_OF_A_THREAD = 2;
/** What the process may have grown by from two fifths of the runs on: a thread clears up after some 50 MB. */
const MAX_GROWTH_MB = 64;

await scribble(100_000);
await killAtRandom(10_000);

function must(promise, isKept) {
  if (isKept) return;
  console.error(`Not kept: ${promise}`);
  process.exitCode = 1;
}

async function killAtRandom(total) {
  const workers = new Set();
  process.on("worker", (worker) => {
    workers.add(worker);
    worker.once("exit", () => workers.delete(worker));
  });
  const sandbox = createSandbox({ limits: LIMITS });
  let killed = 0;
  const killer = setInterval(() => {
    if (workers.size < 2) return;
    const victims = [...workers];
    killed++;
    void victims[killed % victims.length].terminate();
  }, 50);
  const counts = { right: 0, wrong: 0, lost: 0 };
  let n = 0;
  const lane = async () => {
    while (n < total) {
      const mine = n++;
      const code = `const list = Array.from({ length: 300 }, (_, i) => i * ${mine}); await device.A.slow(); return list[299] + (await device.A.slow())`;
      const answer = () => new Promise((resolve) => setTimeout(() => resolve({ ok: true, json: "1" }), mine % 7));
      const { end } = await sandbox.run({ code, paths: ["A.slow"] }, answer);
      counts[end.kind !== "returned" ? "lost" : end.json === String(299 * mine + 1) ? "right" : "wrong"]++;
    }
  };
  await Promise.all(Array.from({ length: 100 }, lane));
  clearInterval(killer);
  await sandbox.close();
  table(
    `${total} runs, 100 at once, a thread ended every 50 ms`,
    ["", ""],
    [
      ["threads ended", killed],
      ["runs that lay in them", counts.lost],
      ["other runs, right", counts.right],
      ["other runs, wrong", counts.wrong],
    ],
  );
  must("threads are ended", killed > 10);
  must("only runs that lay in them are lost", counts.lost <= killed * RUNS_OF_A_THREAD);
  must("every other run gives its own result", counts.wrong === 0 && counts.right + counts.lost === total);
}

async function scribble(total) {
  const sandbox = createSandbox({ limits: LIMITS, workers: 1 });
  const code = `const before = [typeof globalThis.mark, Array.prototype.mark, ({}).mark, Math.mark].join();
    globalThis.mark = Array.prototype.mark = Object.prototype.mark = Math.mark = "x".repeat(1000) + Math.random();
    JSON.parse = Promise.prototype.then = undefined; Symbol.for(globalThis.mark); delete globalThis.Map; return before`;
  const rows = [];
  let n = 0;
  let traces = 0;
  while (n < total) {
    const batch = Math.min(20_000, total - n);
    let left = batch;
    const lane = async () => {
      while (left-- > 0) {
        const { end } = await sandbox.run({ code, paths: [] }, async () => ({ ok: true, json: "0" }));
        if (end.json !== '"undefined,,,"') traces++;
      }
    };
    await Promise.all(Array.from({ length: 32 }, lane));
    n += batch;
    rows.push([`after ${n}`, process.memoryUsage().rss / (1 << 20)]);
  }
  await sandbox.close();
  table(
    "Runs that scribble over globals and builtins: resident memory, MB",
    ["", "MB"],
    [...rows, ["runs that found a trace", traces]],
  );
  must("no run finds a trace of another", traces === 0);
  must("memory is flat", rows.at(-1)[1] - rows[1][1] <= MAX_GROWTH_MB);
}
