// Measures the sandbox in this process, and sends the figures to the parent.

import { createSandbox } from "../../../dist/sandbox/index.js";
import { interleaved } from "../measure.mjs";
import { openIsolatedVmCalls, PEERS, RESULTS } from "../peers.mjs";
import { LIMITS, throughput } from "../sandbox.mjs";

const PATHS = ["WebSkill.search"];
const ANSWER = { ok: true, json: JSON.stringify(RESULTS) };
const SHORT_ANSWER = { ok: true, json: "1" };

/** Milliseconds between two runs of a process that is seldom used. */
const REST_MS = 20;
const REST_RUNS = 200;

const WORK = JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id, name: `row ${id}` })));

const sandbox = createSandbox({ limits: LIMITS });
const oneCall = `const r = await device.WebSkill.search({ query: "x" }); return r.results.length`;
const sequence = (count, call) => `let s = 0; for (let i = 0; i < ${count}; i++) s += await ${call}(i); return s`;
const run = (code, answer) => sandbox.run({ code, paths: PATHS }, async () => answer);
const runCalls = (count) => () => run(sequence(count, "device.WebSkill.search"), SHORT_ANSWER);

const bare = await openPeer("quickjs-emscripten, new runtime");
const ivm = await openIsolatedVmCalls();
const medians = await interleaved(
  {
    one: () => run(oneCall, ANSWER),
    ...(bare && { bare: () => bare.run() }),
    single: runCalls(1),
    ten: runCalls(10),
    thousand: runCalls(1_000),
    ...(ivm && { ivm: () => ivm(sequence(1_000, "search")) }),
  },
  10,
  8,
);
const rates = [];
for (let round = 0; round < 5; round++) rates.push(await throughput(() => run(oneCall, ANSWER), 2_500));
const runOnce = () => run(oneCall, ANSWER);
const tight = await measureCpu(runOnce, 0);
const rested = await measureCpu(runOnce, REST_MS);
const timer = await measureCpu(() => undefined, REST_MS);
const tightWork = await measureCpu(compute, 0);
const restedWork = await measureCpu(compute, REST_MS);
await sandbox.close();

process.send({
  "one call, ms": medians.one,
  ...(bare && { "one call ÷ bare new runtime": medians.one / medians.bare }),
  "ten calls ÷ one": medians.ten / medians.single,
  "1,000 calls, ms": medians.thousand,
  ...(ivm && { "1,000 calls ÷ isolated-vm": medians.thousand / medians.ivm }),
  "runs a second, 64 under way": Math.max(...rates),
  "CPU of a run in a loop, ms": tight.cpuMs,
  "CPU of a run every 20 ms, ms": rested.cpuMs,
  "CPU every 20 ms ÷ in a loop": rested.cpuMs / tight.cpuMs,
  "CPU of waking up for a timer every 20 ms, ms": timer.cpuMs,
  "CPU of plain computing in one thread, every 20 ms ÷ in a loop": (restedWork.cpuMs - timer.cpuMs) / tightWork.cpuMs,
  "a run every 20 ms, ms": rested.tookMs,
});
process.disconnect();

async function openPeer(name) {
  try {
    return await PEERS[name]();
  } catch {
    return undefined; // not installed
  }
}

/** About a tenth of a millisecond of work in this thread alone: after a rest, caches alone make it take longer. */
function compute() {
  return JSON.parse(WORK).map(({ name }) => name.toUpperCase());
}

/** CPU and median time of a job, with a rest between two. */
async function measureCpu(job, restMs) {
  const took = [];
  const before = process.cpuUsage();
  for (let count = 0; count < REST_RUNS; count++) {
    const startedAt = performance.now();
    await job();
    took.push(performance.now() - startedAt);
    if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
  }
  const { user, system } = process.cpuUsage(before);
  took.sort((a, b) => a - b);
  return { cpuMs: (user + system) / 1_000 / REST_RUNS, tookMs: took[REST_RUNS / 2] };
}
