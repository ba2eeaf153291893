// The cost of spans and metrics: `node test/bench/telemetry/index.mjs`. Two threads run the same programs in turns, one of them with an
// SDK that exports to a server here. Each thread has its own globals, so only one has an SDK.

import { once } from "node:events";
import { createServer } from "node:http";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

import { interleaved, table } from "../measure.mjs";

const ROUNDS = 40;

/** Runs between two turns. */
const RUNS = 20;

const PROGRAMS = {
  "a sum": (n) => `${n} + 1`,
  "a call": (n) => `const r${n} = await device.WebSkill.search({ query: "x" }); r${n}.length`,
  "ten calls": (n) =>
    `let s${n} = 0; for (let i = 0; i < 10; i++) s${n} += (await device.WebSkill.search({ query: "x" })).length; s${n}`,
};

export async function benchTelemetry() {
  const sink = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(200, { "content-type": "application/x-protobuf" }).end());
  });
  await once(sink.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${sink.address().port}`;
  const threads = { off: startThread({}), on: startThread({ OTEL_EXPORTER_OTLP_ENDPOINT: url }) };
  const [{ offNs }] = await Promise.all(
    Object.values(threads).map((thread) => once(thread, "message").then(([m]) => m)),
  );
  const rows = [];
  for (const name of Object.keys(PROGRAMS)) {
    const jobs = Object.entries(threads).map(([key, thread]) => [key, () => runTurn(thread, name)]);
    const { off, on } = await interleaved(Object.fromEntries(jobs), ROUNDS, 1);
    const checks = CHECKS_PER_RUN + CHECKS_PER_CALL * { "a sum": 0, "a call": 1, "ten calls": 10 }[name];
    rows.push([name, off, on, on / off, `${(((checks * offNs) / (off * 1e6)) * 100).toFixed(2)} %`]);
  }
  table("Telemetry, in ms a run", ["", "off", "on", "on : off", "share of the checks when off"], rows);
  for (const thread of Object.values(threads)) thread.postMessage("end");
  await Promise.all(Object.values(threads).map((thread) => once(thread, "exit")));
  sink.closeAllConnections();
  sink.close();
}

/** How often a run and a call ask whether there is an SDK. */
const CHECKS_PER_RUN = 4;
const CHECKS_PER_CALL = 2;

function startThread(env) {
  return new Worker(new URL(import.meta.url), { workerData: { env, isBench: true } });
}

async function runTurn(thread, program) {
  thread.postMessage(program);
  const [tookMs] = await once(thread, "message");
  return { tookMs };
}

async function work({ env }) {
  const { createRuntime, defineSkill } = await import("../../../dist/src/index.js");
  const { hasSdk, startSdk } = await import("../../../dist/src/telemetry/index.js");
  Object.assign(process.env, env);
  const WebSkill = defineSkill({
    name: "WebSkill",
    description: "Searches the web",
    methods: {
      search: {
        description: "Search the web",
        input: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
        run: async () => [1, 2, 3],
      },
    },
  });
  const offNs = measureCheck(hasSdk);
  const start = await startSdk(process.env);
  const runtime = await createRuntime({ skillsDir: false, skills: [WebSkill], workers: 1, typecheck: false });
  let count = 0;
  const runAll = async (name) => {
    const startedAt = performance.now();
    for (let i = 0; i < RUNS; i++) {
      const outcome = await runtime.run(PROGRAMS[name](count++));
      if (outcome.kind !== "completed") throw new Error(outcome.text);
    }
    parentPort.postMessage((performance.now() - startedAt) / RUNS);
  };
  const end = async () => {
    await runtime.close();
    if (start.kind === "started") await start.sdk.close();
    parentPort.close();
  };
  parentPort.on("message", (name) => void (name === "end" ? end() : runAll(name)));
  parentPort.postMessage({ offNs });
}

/** Nanoseconds of one check whether there is an SDK. */
function measureCheck(check) {
  const times = 1_000_000;
  for (let i = 0; i < times; i++) check();
  const startedAt = performance.now();
  for (let i = 0; i < times; i++) check();
  return ((performance.now() - startedAt) * 1e6) / times;
}

if (!isMainThread && workerData?.isBench) await work(workerData);
else if (process.argv[1] === import.meta.filename) await benchTelemetry();
