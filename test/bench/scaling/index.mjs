// Large catalogs; executors beside one process, on the cores of one machine; and the times for the simulation: `npm run bench:scaling`.

import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";

import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connect } from "@nats-io/transport-node";
import { median, quantile, table } from "../measure.mjs";
import { printCatalogs } from "./catalog.mjs";
import { printDeviceCalls } from "./devices.mjs";
import { openProjects, readCpuMs, startExecutor } from "./processes.mjs";
import { printSimulation } from "./simulation.mjs";
import { measureStore } from "./store.mjs";

const CLIENTS = 32;
const TURN_MS = 1_500;
const ROUNDS = 5;
const WARM_UP_MS = 3_000;
const KILLS = 10;

let programs = 0;

/** Each program has another text, so that no check of it is stored. */
const WORKLOADS = {
  "a call that reads": () => `const r${++programs} = await device.EchoSkill.read(${programs}); r${programs}`,
  "a call with an effect": () => `const r${++programs} = await device.EchoSkill.write(${programs}); r${programs}`,
  "computing for some milliseconds": () =>
    `let s${++programs} = 0; for (let i = 0; i < 60_000; i++) s${programs} += i; s${programs}`,
};

await printCatalogs();
const bench = await openProjects([0, 1, 2, 4]);
try {
  console.log(`Node ${process.version}, ${availableParallelism()} cores`);
  await printDeviceCalls(bench);
  await printRates(bench.projects);
  const times = await measureTimes(bench);
  await printKills(bench);
  printSimulation(times);
} finally {
  await bench.close();
}

async function printRates(projects) {
  const rows = [];
  for (const [name, create] of Object.entries(WORKLOADS)) {
    const rates = new Map(projects.map(({ count }) => [count, []]));
    for (const { run } of projects) await measureRate(run, create, WARM_UP_MS);
    for (let round = 0; round < ROUNDS; round++)
      for (const { run, count } of projects) rates.get(count).push(await measureRate(run, create, TURN_MS));
    const [alone, ...others] = [...rates.values()].map(median);
    rows.push([name, alone, ...others.map((rate) => rate / alone)]);
  }
  const columns = ["", "one process", "1 executor", "2 executors", "4 executors"];
  table(`Runs per second with ${CLIENTS} clients over HTTP, and ratios to them`, columns, rows);
}

async function measureRate(run, create, turnMs) {
  const since = performance.now();
  let count = 0;
  const work = async () => {
    while (performance.now() - since < turnMs) {
      await run(create());
      count++;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, work));
  return (count / (performance.now() - since)) * 1_000;
}

/** Measures the times of the simulation, in milliseconds. */
async function measureTimes({ projects, nats, location }) {
  const [local, project] = projects;
  const create = WORKLOADS["a call with an effect"];
  const latency = { local: await measureLatency(local.run, create), remote: await measureLatency(project.run, create) };
  const before = { front: readCpuMs(project.front.pid), executor: readCpuMs(project.executors[0].pid) };
  const since = performance.now();
  const rate = await measureRate(project.run, create, 2 * TURN_MS);
  const runs = (rate * (performance.now() - since)) / 1_000;
  const front = (readCpuMs(project.front.pid) - before.front) / runs;
  const executor = (readCpuMs(project.executors[0].pid) - before.executor) / runs;
  const connection = await connect({ servers: nats.url });
  const trip = [];
  connection.subscribe("echo", { callback: (_, message) => message.respond() });
  for (let at = 0; at < 300; at++) {
    const start = performance.now();
    await connection.request("echo");
    trip.push(performance.now() - start);
  }
  await connection.close();
  const store = await measureStore(location("measured"));
  const times = { front, executor, trip: median(trip), commit: store.alone, commitShare: store.together };
  Object.assign(times, { get: store.get, look: store.look });
  table(
    `Times in ms; the store is ${store.kind}`,
    ["", ""],
    [
      ["a run with an effect in one process, one client", latency.local],
      ["the same on an executor", latency.remote],
      ["processor time of the front for a run", front],
      ["processor time of the executor for a run", executor],
      ["a request over NATS, and its answer", times.trip],
      ["a commit, one caller", times.commit],
      ["a commit, share of one of 64 callers", times.commitShare],
      ["reading one run", times.get],
      ["what each executor reads after an answer, with 10,000 runs that wait", times.look],
    ],
  );
  return times;
}

async function measureLatency(run, create) {
  const times = [];
  for (let at = 0; at < 300; at++) {
    const since = performance.now();
    await run(create());
    times.push(performance.now() - since);
  }
  return median(times.slice(50));
}

/** Kills the executor of a run, and measures the time until the run has begun on another one. */
async function printKills({ projects, nats }) {
  const { cwd, run, executors } = projects[1];
  const log = join(cwd, "begun.log");
  const begun = () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(0, -1).map(Number) : []);
  const waitForBegin = async (count) => {
    while (begun().length < count) await pause(2);
  };
  const times = [];
  for (let at = 1; at <= KILLS; at++) {
    writeFileSync(join(cwd, "blocked"), "");
    const answer = run("device.EchoSkill.block()");
    await waitForBegin(2 * at - 1);
    const next = await startExecutor(cwd, nats);
    const since = Date.now();
    await executors.pop().kill();
    executors.push(next);
    await waitForBegin(2 * at);
    times.push(begun().at(-1) - since);
    rmSync(join(cwd, "blocked"));
    await answer;
  }
  const row = ["kill -9 of an executor until its run has begun on another", median(times), quantile(times, 0.99)];
  table(`${KILLS} executors that are killed (ms)`, ["", "median", "longest"], [row]);
}
