// Checks queries against the schema of its folder, and prints what that took as JSON: `node queries-once.mjs`, or with `--stops`
// how long the loop of the host stops meanwhile, which slows the checks down. The process ends with it.

import { readFileSync } from "node:fs";

import { createRuntime } from "../../../dist/src/index.js";
import { quantile } from "../measure.mjs";

const QUERIES = 200;

/** Texts that the compiler of V8 sees before those that are measured. */
const WARM_UP = 50;

const FIELDS = ["title", "number", "state", "createdAt", "closed", "url", "bodyText", "locked"];

const { sources } = JSON.parse(readFileSync("settings.yaml", "utf8"));
const runtime = await createRuntime({ skillsDir: false, typecheck: false, sources, mcp: { stateDir: "state" } });
await runtime.known;
if (runtime.problems.length > 0) throw new Error(JSON.stringify(runtime.problems));
const { queryText } = runtime.catalog.method("TrackerGraph.query").definition;
const texts = Array.from({ length: 1 + WARM_UP + QUERIES }, (_, at) => writeQuery(at));
const found = process.argv.includes("--stops") ? await measureStops() : await measureTimes();
process.stdout.write(JSON.stringify(found));
await runtime.close();
process.exit(0);

/** A query of 5 levels, with a union and variables; each has other fields, aliases and values. */
function writeQuery(at) {
  const fields = FIELDS.filter((_, bit) => bit === 0 || (at >> (bit - 1)) & 1).join(" ");
  return `query Find${at}($first: Int!, $after: String) {
    viewer { login }
    repository(owner: "owner${at}", name: "name") { found${at}: issues(first: $first, after: $after) { nodes { ${fields} author { login } } pageInfo { hasNextPage endCursor } } }
    search(query: "words ${at}", type: ISSUE, first: $first) { nodes { __typename ... on Issue { ${fields} } ... on PullRequest { title merged } } }
  }`;
}

async function measureTimes() {
  const [first, ...others] = texts;
  const coldMs = await time(first);
  const times = [];
  const work = [];
  for (const text of others) {
    const before = process.cpuUsage();
    times.push(await time(text));
    const { user, system } = process.cpuUsage(before);
    work.push((user + system) / 1_000);
  }
  const warm = times.slice(WARM_UP);
  return {
    coldMs,
    warmMs: quantile(warm, 0.5),
    warmP95Ms: quantile(warm, 0.95),
    workMs: quantile(work.slice(WARM_UP), 0.5),
    workP95Ms: quantile(work.slice(WARM_UP), 0.95),
  };
}

async function time(text) {
  const start = performance.now();
  await check(text);
  return performance.now() - start;
}

async function check(text) {
  const { problems, parts } = await queryText.check(text, { first: 10 });
  if (problems.length > 0 || parts.length !== 3) throw new Error(`The query has problems: ${JSON.stringify(problems)}`);
}

/** The longest turn of the loop in milliseconds of computing, so that other programs on the machine do not count. */
async function measureStops() {
  let last = readThreadMs();
  let longest = 0;
  let isOver = false;
  const turn = () => {
    const now = readThreadMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  for (const text of texts) await check(text);
  isOver = true;
  return { stopMs: longest };
}

function readThreadMs() {
  if (process.platform !== "linux") return performance.now();
  return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]) / 1e6;
}
