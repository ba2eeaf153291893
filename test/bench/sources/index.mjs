// What the document of a large API costs: GitHub's, from npm. `npm run bench:sources`
//
// Its first reading, later starts beside starts without it, its search and its calls; and ten such documents. Queries that are
// checked against GitHub's schema. Exits with 1 if a mark is missed, and with 2 if the document cannot be had.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { findDocument } from "../../support/api-documents.mjs";
import { median, table } from "../measure.mjs";
import { answerFirst } from "../start.mjs";

const ROUNDS = 7;
const CHILD = fileURLToPath(new URL("start-once.mjs", import.meta.url));
const QUERIES = fileURLToPath(new URL("queries-once.mjs", import.meta.url));
const QUERY_ROUNDS = 3;
const BIN = fileURLToPath(new URL("../../../dist/src/bin.js", import.meta.url));

const folder = mkdtempSync(join(tmpdir(), "skillgate-bench-"));
try {
  const document = tryToFind("github");
  const projects = {
    none: openProject(0, document),
    one: openProject(1, document),
    ten: openProject(10, document),
    graphql: openGraphqlProject(),
  };
  const first = await startOnce(projects.one);
  await startOnce(projects.ten);
  const firstGraphql = await startOnce(projects.graphql);
  const starts = await measureStarts(projects);
  const queries = await measureQueries(projects.graphql);
  const ways = await measureWays(projects);
  const rows = [
    mark("first reading, s", first.knownMs / 1_000, 2.5),
    mark("first reading, MB at the peak", first.peakMb, 200),
    ...compare("one document", starts.one, starts.none, { ms: 60, mb: 12 }),
    ...compare("ten documents", starts.ten, starts.none, { ms: 600, mb: 60 }),
    mark("first reading of a GraphQL schema, s", firstGraphql.knownMs / 1_000, 2.5),
    mark("first reading of a GraphQL schema, MB at the peak", firstGraphql.peakMb, 200),
    ...compare("a GraphQL schema", starts.graphql, starts.none, { ms: 40, mb: 10 }),
    mark("checking a query, ms (median of 200 new ones)", queries.warmMs, 5),
    mark("the longest stop of the host's loop meanwhile, ms", queries.stopMs, 50),
    mark("skillgate run -e 1, ms more", ways.run.one - ways.run.none, 60),
    mark("skillgate serve to its tools, ms more", ways.serve.one - ways.serve.none, 60),
  ];
  table(
    "GitHub's document of 1,223 operations, and its schema of 278 root fields; MB of heap",
    ["", "measured", "mark", ""],
    rows,
  );
  const others = [
    ["start without it, until the skills are known, ms", starts.none.knownMs],
    ["the first search, with the rest of the index, ms", starts.one.firstSearchMs],
    ["a later search, ms", starts.one.searchMs],
    ["a call in a program, with a local server, ms", starts.one.callMs],
    ["the first query, which loads the schema, ms", queries.coldMs],
    ["checking a query, ms (percentile 95)", queries.warmP95Ms],
    ["checking a query, ms of computing (median)", queries.workMs],
    ["checking a query, ms of computing (percentile 95)", queries.workP95Ms],
  ];
  table("Beside it", ["", "measured"], others);
  if (rows.some(([, measured, limit]) => measured > limit)) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function tryToFind(name) {
  try {
    return findDocument(name);
  } catch (error) {
    console.error(`Cannot measure without the document of ${name}: ${error.message}`);
    process.exit(2);
  }
}

function openProject(count, document) {
  const cwd = join(folder, `project${count}`);
  mkdirSync(join(cwd, "home"), { recursive: true });
  const sources = Array.from({ length: count }, (_, at) => [
    `github${at}`,
    { openapi: document, server: "https://api.example" },
  ]);
  writeFileSync(join(cwd, "settings.yaml"), JSON.stringify({ sources: Object.fromEntries(sources) }));
  return cwd;
}

/** The schema is in a package that the project has. */
function openGraphqlProject() {
  const cwd = join(folder, "graphql");
  mkdirSync(join(cwd, "home"), { recursive: true });
  const schema = fileURLToPath(new URL("schema.graphql", import.meta.resolve("@octokit/graphql-schema")));
  const sources = { tracker: { graphql: "https://api.example/graphql", schema } };
  writeFileSync(join(cwd, "settings.yaml"), JSON.stringify({ sources }));
  return cwd;
}

function mark(name, measured, limit) {
  return [name, measured, limit, measured <= limit ? "" : "missed"];
}

/** Rows for what a start with documents has more than one without. */
function compare(name, given, none, { ms, mb }) {
  return [
    mark(`${name}, later start, ms more`, given.knownMs - none.knownMs, ms),
    mark(`${name}, later start, MB more`, given.heapMb - none.heapMb, mb),
    mark(`${name}, MB more after the first search`, given.searchedMb - none.searchedMb, mb),
  ];
}

/** Returns the medians of starts in turns. */
async function measureStarts(projects) {
  const found = Object.fromEntries(Object.keys(projects).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, cwd] of Object.entries(projects)) found[name].push(await startOnce(cwd));
  return Object.fromEntries(Object.entries(found).map(([name, list]) => [name, getMedians(list)]));
}

function getMedians(list) {
  return Object.fromEntries(Object.keys(list[0]).map((key) => [key, median(list.map((each) => each[key]))]));
}

/** Returns the medians of checking queries; the stops of the loop are measured apart, as that takes time. */
async function measureQueries(cwd) {
  const found = [];
  for (let round = 0; round < QUERY_ROUNDS; round++)
    found.push({ ...(await startOnce(cwd, [QUERIES])), ...(await startOnce(cwd, [QUERIES, "--stops"])) });
  return getMedians(found);
}

/** Starts a runtime in a process of its own, and returns what it measured. */
async function startOnce(cwd, script = ["--expose-gc", CHILD]) {
  const child = spawn(process.execPath, script, {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
    env: env(cwd),
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (said += text));
  const [status] = await once(child, "close");
  if (status !== 0) throw new Error(`The start in ${cwd} ended with ${status}`);
  return JSON.parse(said);
}

function env(cwd) {
  return { PATH: process.env.PATH, HOME: join(cwd, "home"), XDG_STATE_HOME: join(cwd, "state") };
}

/** Measures the command line, and a server of MCP, with the document and without it. */
async function measureWays({ none, one }) {
  const ways = {
    run: (cwd) => runOnce(cwd),
    serve: (cwd) => answerFirst({ args: [BIN, "serve", "--stdio"], cwd, env: env(cwd) }),
  };
  const times = {};
  for (const [name, way] of Object.entries(ways)) {
    const found = { none: [], one: [] };
    for (let round = 0; round < ROUNDS; round++)
      for (const [key, cwd] of Object.entries({ none, one })) {
        const since = performance.now();
        await way(cwd);
        found[key].push(performance.now() - since);
      }
    times[name] = { none: median(found.none), one: median(found.one) };
  }
  return times;
}

async function runOnce(cwd) {
  const child = spawn(process.execPath, [BIN, "run", "-e", "1"], { cwd, env: env(cwd), stdio: "ignore" });
  const [status] = await once(child, "close");
  if (status !== 0) throw new Error(`skillgate run ended with ${status}`);
}
