// Starts a runtime with the settings of its folder, and prints what that took as JSON. The process ends with it.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";

import { createRuntime } from "../../../dist/src/index.js";

const QUESTIONS = [
  "list the issues of a repository",
  "merge a pull request",
  "add a label",
  "who may push",
  "releases",
];

const server = createServer((_, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end("[]");
}).listen(0, "127.0.0.1");
await once(server, "listening");

const { sources } = JSON.parse(readFileSync("settings.yaml", "utf8"));
const local = `http://127.0.0.1:${server.address().port}`;
const withServer = Object.entries(sources).map(([name, source]) => {
  const server = source.graphql === undefined ? { server: local } : { graphql: `${local}/graphql` };
  return [name, { ...source, ...server, private: true }];
});
const since = performance.now();
const runtime = await createRuntime({
  skillsDir: false,
  typecheck: false,
  sources: Object.fromEntries(withServer),
  mcp: { stateDir: "state" },
});
await runtime.known;
const knownMs = performance.now() - since;
if (runtime.problems.length > 0) throw new Error(JSON.stringify(runtime.problems));
const peakMb = process.resourceUsage().maxRSS / 1_024;
const heapMb = getHeapMb();
const firstSearchMs = time(() => runtime.search("a commit", { readMs: 60_000 }));
for (const question of QUESTIONS) runtime.search(question);
const searchMs = time(() => QUESTIONS.forEach((question) => runtime.search(question))) / QUESTIONS.length;
const searchedMb = getHeapMb();
const callMs = sources.github0 === undefined ? 0 : await measureCall();
process.stdout.write(JSON.stringify({ knownMs, peakMb, heapMb, firstSearchMs, searchMs, searchedMb, callMs }));
await runtime.close();
server.close();
process.exit(0);

function getHeapMb() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / (1 << 20);
}

function time(work) {
  const start = performance.now();
  work();
  return performance.now() - start;
}

async function measureCall() {
  const program = 'await device.Github0API.issues.listForRepo({ owner: "nodejs", repo: "node" })';
  await run(program);
  const start = performance.now();
  await run(program);
  return performance.now() - start;
}

async function run(program) {
  const { kind, error } = await runtime.run(program);
  if (kind !== "completed") throw new Error(`The program is ${kind}: ${error?.message}`);
}
