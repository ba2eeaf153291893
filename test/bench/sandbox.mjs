// The sandbox beside other ways to a fresh isolate. Run `node test/bench/install-peers.mjs` first to see the peers.

import { readFileSync } from "node:fs";
import { createSandbox } from "../../dist/sandbox/index.js";
import { compileEngine } from "../../dist/sandbox/engine/quickjs.js";
import { loadSnapshot } from "../../dist/sandbox/engine/snapshot-file.js";
import { Isolate } from "../../dist/sandbox/worker/isolate.js";
import { buildSnapshot } from "../../dist/sandbox/engine/build-snapshot.js";
import { interleaved, quantile, table } from "./measure.mjs";
import { openIsolatedVmCalls, PEERS, RESULTS } from "./peers.mjs";
import { openPeers } from "./watch.mjs";

export const LIMITS = {
  cpuMs: 5_000,
  wallMs: 60_000,
  memoryBytes: 64 << 20,
  calls: 10_000,
  callsInFlight: 10_000,
  argumentBytes: 32 << 20,
  answerBytes: 32 << 20,
  resultBytes: 32 << 20,
  outputBytes: 64 << 10,
};

const ANSWER = JSON.stringify(RESULTS);
const PATHS = ["WebSkill.search"];
const PROGRAM = `const r = await device.WebSkill.search({ query: "x" }); return r.results.length;`;
const answer = async () => ({ ok: true, json: ANSWER });

const DIST = new URL("../../dist/sandbox/", import.meta.url);

/** The engine alone, in this thread: reset, start, answer, result. */
export function engineAlone() {
  const { module, digest } = compileEngine(new URL("engine.wasm", DIST));
  let called = 0;
  let done = "";
  const isolate = new Isolate(module, loadSnapshot(module, digest, DIST).prepared, LIMITS.memoryBytes, {
    onMessage(op, id, _name, json) {
      if (op === 0) called = id;
      if (op === 3) done = json;
      return undefined;
    },
    textBytes: () => 1 << 20,
    takesBytes: () => false,
    isInterrupted: () => false,
    isOver: () => done !== "",
  });
  const seed = new Uint8Array(8).fill(7);
  const paths = JSON.stringify(PATHS);
  return {
    isolate,
    seed,
    clear: () => (done = ""),
    run(code = PROGRAM) {
      done = "";
      const deadline = performance.now() + 5_000;
      const expression = `async () => {"use strict";\n${code}\n}`;
      isolate.start({ expression, paths, heapBytes: LIMITS.memoryBytes, seed }, deadline);
      isolate.deliver(`[${called},1,${ANSWER}]`, deadline);
      if (done !== "10") throw new Error(`the engine alone gives ${done}: ${String(isolate.thrown)}`);
      return done;
    },
  };
}

export async function benchOneCall(extra = {}) {
  const engine = engineAlone();
  const sandbox = createSandbox({ limits: LIMITS });
  const peers = await openPeers(PEERS);
  const ours = {
    "Skillgate, engine alone": () => engine.run(),
    "Skillgate, through its worker": async () => {
      const { end } = await sandbox.run({ code: PROGRAM, paths: PATHS }, answer);
      if (end.json !== "10") throw new Error(`the sandbox gives ${JSON.stringify(end)}`);
    },
    ...extra,
  };
  const medians = await peers.measure(ours, 15);
  const engineMs = medians["Skillgate, engine alone"];
  const bareMs = medians["quickjs-emscripten, new runtime"];
  table(
    "A fresh isolate, one call, its result used",
    ["", "ms", "× engine alone", "× new runtime"],
    [
      ...Object.entries(medians).map(([name, ms]) => [name, ms, ms / engineMs, bareMs ? ms / bareMs : ""]),
      ...peers.missing(),
    ],
  );
  await peers.close();
  await sandbox.close();
}

export async function benchRestore() {
  const { module, digest } = compileEngine(new URL("engine.wasm", DIST));
  const { snapshot } = loadSnapshot(module, digest, DIST).prepared;
  const scripts = JSON.parse(readFileSync(new URL("guest.json", DIST), "utf8"));
  const { isolate, seed } = engineAlone();
  const bytes = snapshot.data.length + snapshot.heap.length;
  const from = new Uint8Array(bytes).fill(1);
  const to = new Uint8Array(bytes);
  const many = (work) => () => {
    for (let i = 0; i < 100; i++) work();
  };
  const medians = await interleaved(
    { copy: many(() => to.set(from)), restore: many(() => isolate.reset(LIMITS.memoryBytes, seed)) },
    20,
    10,
  );
  const { build } = await interleaved({ build: () => buildSnapshot(module, scripts) }, 10, 1);
  const restore = medians.restore * 10;
  table(
    `Restoring the image (${Math.round(bytes / 1024)} KB)`,
    ["", "µs", "× restore"],
    [
      ["plain copy of as many bytes", medians.copy * 10, (medians.copy * 10) / restore],
      ["restore", restore, 1],
      ["making the same context anew", build * 1_000, (build * 1_000) / restore],
    ],
  );
}

export async function benchThroughput() {
  const sandbox = createSandbox({ limits: LIMITS });
  const rates = [];
  for (let round = 0; round < 5; round++)
    rates.push(await throughput(() => sandbox.run({ code: PROGRAM, paths: PATHS }, answer), 4_000));
  await sandbox.close();
  table(
    "Runs per second, one call each, answered on the main thread",
    ["", "best", "median"],
    [["createSandbox", Math.max(...rates), quantile(rates, 0.5)]],
  );
}

/** Runs per second with 64 under way. */
export async function throughput(run, total) {
  let left = total;
  const startedAt = performance.now();
  const lane = async () => {
    while (left-- > 0) await run();
  };
  await Promise.all(Array.from({ length: 64 }, lane));
  return (total / (performance.now() - startedAt)) * 1_000;
}

export async function benchWaiting() {
  const sandbox = createSandbox({ limits: LIMITS });
  await sandbox.run({ code: "return 1", paths: [] }, answer);
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  const waiting = [];
  const slow = () => new Promise((resolve) => waiting.push(resolve));
  const runs = Array.from({ length: 1_000 }, (_, i) =>
    sandbox.run({ code: `let mine = ${i}; await device.WebSkill.search(); return mine`, paths: PATHS }, slow),
  );
  while (waiting.length < 1_000) await new Promise((resolve) => setTimeout(resolve, 5));
  const each = (process.memoryUsage().rss - before) / 1_000 / 1_024;
  const other = [];
  for (let i = 0; i < 50; i++) {
    const startedAt = performance.now();
    await sandbox.run({ code: "return 1", paths: [] }, answer);
    other.push(performance.now() - startedAt);
  }
  for (const resolve of waiting.reverse()) resolve({ ok: true, json: "1" });
  const right = (await Promise.all(runs)).filter((outcome, i) => outcome.end.json === String(i)).length;
  await sandbox.close();
  table(
    "1,000 runs waiting at once",
    ["", ""],
    [
      ["KB each (resident memory of the process)", each],
      ["right results, answered in reverse order", `${right} of 1000`],
      ["another run meanwhile, ms at the 99th percentile", quantile(other, 0.99)],
    ],
  );
}

export async function benchKill() {
  const sandbox = createSandbox({ limits: LIMITS });
  await sandbox.run({ code: "return 1", paths: [] }, answer);
  const gaps = [];
  for (let i = 0; i < 10; i++) {
    await sandbox.run({ code: "return [].lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)", paths: [] }, answer, {
      limits: { ...LIMITS, cpuMs: 100 },
    });
    const startedAt = performance.now();
    await sandbox.run({ code: "return 1", paths: [] }, answer);
    gaps.push(performance.now() - startedAt);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await sandbox.close();
  table(
    "From the end of a killed thread to the next result",
    ["", "ms"],
    [
      ["median", quantile(gaps, 0.5)],
      ["worst of 10", Math.max(...gaps)],
    ],
  );
}

export async function benchEventLoop() {
  const { monitorEventLoopDelay } = await import("node:perf_hooks");
  const sandbox = createSandbox({ limits: { ...LIMITS, cpuMs: 1_000 } });
  await sandbox.run({ code: "return 1", paths: [] }, answer);
  const rows = [];
  const guests = {
    idle: "await new Promise((resolve) => setTimeout(resolve, 1000))",
    spins: "for (;;);",
    sorts: "const a = Array.from({ length: 3e5 }, () => Math.random()); for (;;) a.sort()",
    grows: "const a = []; for (;;) { try { a.push(new Array(1e4).fill(a)) } catch { a.length = 0 } }",
  };
  for (const [name, code] of Object.entries(guests)) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    await sandbox.run({ code, paths: [] }, answer);
    delay.disable();
    rows.push([`guest ${name}`, delay.percentile(50) / 1e6, delay.percentile(99) / 1e6, delay.max / 1e6]);
  }
  await sandbox.close();
  table("Event-loop delay of the host, ms (a timer of 1 ms included)", ["", "median", "99 %", "most"], rows);
}

export async function benchCalls() {
  const sandbox = createSandbox({ limits: LIMITS });
  const ivm = await openIsolatedVmCalls();
  const run = (code) => () =>
    sandbox.run({ code: code("device.WebSkill.search"), paths: PATHS }, async () => ({ ok: true, json: "1" }));
  const jobs = {
    "1 call": (call) => `return await ${call}(1)`,
    "10 in sequence": (call) => `let s = 0; for (let i = 0; i < 10; i++) s += await ${call}(i); return s`,
    "1,000 in sequence": (call) => `let s = 0; for (let i = 0; i < 1000; i++) s += await ${call}(i); return s`,
    "1,000 in parallel": (call) =>
      `return (await Promise.all(Array.from({ length: 1000 }, (_, i) => ${call}(i)))).length`,
  };
  const named = (prefix, make) => Object.entries(jobs).map(([name, code]) => [prefix + name, make(code)]);
  const medians = await interleaved(
    Object.fromEntries([...named("", run), ...(ivm ? named("ivm ", (code) => () => ivm(code("search"))) : [])]),
    5,
    4,
  );
  await sandbox.close();
  const theirs = (name) => medians[`ivm ${name}`];
  table(
    "Calls through the worker",
    ["", "ms", "× one call", "isolated-vm", "×"],
    Object.keys(jobs).map((name) => {
      const ms = medians[name];
      return [name, ms, ms / medians["1 call"], theirs(name) ?? "", ivm ? ms / theirs(name) : ""];
    }),
  );
}
