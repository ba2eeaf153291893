// `npm run bench`: figures side by side in one run. Peers are shown when test/bench/install-peers.mjs has installed them.

import { availableParallelism } from "node:os";
import { createRuntime, defineSkill } from "../../dist/src/index.js";
import { benchAudit } from "./store/audit.mjs";
import { benchRuns as benchRecords } from "./store/runs.mjs";
import { table } from "./measure.mjs";
import { benchMcp } from "./mcp.mjs";
import { benchCompute, benchPayloads } from "./payloads.mjs";
import { RESULTS } from "./peers.mjs";
import { benchProvenance } from "./provenance.mjs";
import {
  benchCalls,
  benchEventLoop,
  benchKill,
  benchOneCall,
  benchRestore,
  benchThroughput,
  benchWaiting,
  throughput,
} from "./sandbox.mjs";
import { benchSkills } from "./skills.mjs";
import { benchServe } from "./serve.mjs";
import { benchTelemetry } from "./telemetry/index.mjs";
import { benchFirstAnswers, benchStart } from "./start.mjs";

const WebSkill = defineSkill({
  name: "WebSkill",
  description: "Searches the web",
  methods: {
    search: {
      description: "Search the web",
      input: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
      run: async () => RESULTS,
    },
  },
});

console.log(`Node ${process.version}, ${availableParallelism()} cores`);
const runtime = await createRuntime({ skillsDir: false, skills: [WebSkill] });
let n = 0;
const run = async () => {
  const outcome = await runtime.run(
    `const r${n++} = await device.WebSkill.search({ query: "x" }); r${n - 1}.results.length`,
  );
  if (outcome.value !== 10) throw new Error(`runtime.run gives ${JSON.stringify(outcome)}`);
};
await benchOneCall({ "Skillgate, runtime.run": run });
await benchRestore();
await benchCalls();
await benchThroughput();
await benchRuns();
await runtime.close();
await benchWaiting();
await benchKill();
await benchEventLoop();
await benchPayloads();
await benchCompute();
await benchSkills();
await benchStart();
await benchFirstAnswers();
await benchMcp();
await benchServe();
await benchRecords();
await benchAudit();
benchProvenance();
await benchTelemetry();
// A peer that hangs may keep the process alive.
if (process.exitCode) process.exit();

async function benchRuns() {
  const rates = [];
  for (let round = 0; round < 4; round++) rates.push(await throughput(run, 3_000));
  table(
    "Runs per second through the whole pipeline, every source different",
    ["", "best"],
    [["runtime.run", Math.max(...rates)]],
  );
}
