// What recorded models need for eight tasks: lookups, sums over pages, large results, effects, files, awkward parameters, with Skillgate and with plain tool calls: `node test/bench/models.mjs`.
// No network and no model: the same texts give the same figures. `--json` prints them as JSON, `--without-catalog` shows
// what the catalog is worth, and `--only-skillgate` leaves the other ways out.

import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createRuntime } from "../../dist/src/index.js";
import { getServerTexts } from "../../dist/src/surfaces/mcp/instructions.js";
import { table } from "./measure.mjs";
import { play } from "./models/play.mjs";
import { TASKS } from "./models/tasks.mjs";

const SERVER = join(import.meta.dirname, "models/server.mjs");
const LISTINGS = join(import.meta.dirname, "../fixtures/mcp/tools");
const CATALOG = process.argv.includes("--without-catalog") ? { catalogTokens: 0 } : {};
const OWNER = { id: "owner", permissions: ["call:*"] };

const servers = await listServers();
const folders = await mkdtemp(join(tmpdir(), "skillgate-models-"));
const ways = {};
try {
  await learnTypes();
  const hasOthers = !process.argv.includes("--only-skillgate");
  if (hasOthers) ways["plain tool calls"] = await playPlain();
  ways["Skillgate"] = await playPrograms(getPage);
  if (hasOthers) ways["Skillgate, texts cut at 2,048"] = await playPrograms(getCutPage);
} finally {
  // A runtime that has closed may still write the counts of its calls.
  await rm(folders, { recursive: true });
}
if (process.argv.includes("--json")) console.log(JSON.stringify(ways));
else print();

/** The services of the tasks, between servers that are only listed. */
async function listServers() {
  const listings = (await readdir(LISTINGS)).map((file) => [file.replace(".json", ""), join(LISTINGS, file)]);
  const services = ["shop", "crm", "desk", "logs", "billing", "files", "calendar"].map((name) => [name, name]);
  const all = [...listings, ...services].map(([name, arg]) => [
    name,
    { command: process.execPath, args: [SERVER, arg] },
  ]);
  return Object.fromEntries(all);
}

/** An earlier runtime has seen two accounts. */
async function learnTypes() {
  const runtime = await open(join(folders, "saved"), { crm: servers["crm"] });
  for (const id of ["a1", "a2"]) await runtime.run(`device.CrmMCP.get_account({ id: "${id}" })`);
  await runtime.close();
}

async function open(folder, mcpServers = servers) {
  const mcp = { stateDir: join(folder, "state") };
  const options = { skillsDir: false, mcpServers, mcp, store: join(folder, "store"), workers: 1, ...CATALOG };
  const runtime = await createRuntime(options);
  await runtime.ready;
  return runtime;
}

async function playPrograms(getTexts) {
  const folder = join(folders, getTexts.name);
  await cp(join(folders, "saved"), folder, { recursive: true });
  const runtime = await open(folder);
  const outcomes = [];
  runtime.on("run", (outcome) => outcomes.push(outcome));
  const results = [];
  try {
    for (const task of TASKS) {
      const { page, tools } = getTexts(runtime);
      const call = async ({ tool, args }) => (await tools.find(({ name }) => name === tool).execute(args)).text;
      const played = await play(task.program(page), page, call);
      const ended = outcomes.splice(0);
      const refusals = ended.filter(({ kind }) => kind === "refused").length;
      const notes = ended.flatMap((outcome) => outcome.notes ?? []).length;
      const calls = ended.flatMap((outcome) => outcome.calls ?? []).length;
      results.push(report(task, { ...played, calls, refusals, notes }));
    }
  } finally {
    await runtime.close();
  }
  return results;
}

/** The prompt with its catalog, and the tools without one. */
function getPage(runtime) {
  const tools = runtime.tools({ descriptionUnits: 0 });
  return { page: `${runtime.systemPrompt({ mode: "tools" })}\n${JSON.stringify(tools)}`, tools };
}

/** The instructions and descriptions for a client that cuts both. */
function getCutPage(runtime) {
  const exposure = { expose: "code", names: "qualified", budgetTokens: 0 };
  const { instructions, description } = getServerTexts(runtime, { caller: OWNER, exposure }, "claude-code");
  const tools = runtime.tools();
  const listed = tools.map((tool) => (tool.name === "run_code" ? { ...tool, description } : tool));
  return { page: `${instructions.slice(0, 2_048)}\n${JSON.stringify(listed)}`, tools };
}

async function playPlain() {
  const clients = [];
  const byTool = new Map();
  try {
    for (const [name, { command, args }] of Object.entries(servers)) {
      const client = new Client({ name: "bench", version: "1.0.0" });
      clients.push(client);
      await client.connect(new StdioClientTransport({ command, args }));
      for (const tool of (await client.listTools()).tools) byTool.set(tool.name, { client, tool, server: name });
    }
    const page = JSON.stringify(
      [...byTool.values()].map(({ tool: { name, description, inputSchema } }) => ({ name, description, inputSchema })),
    );
    const results = [];
    for (const task of TASKS) {
      let calls = 0;
      const call = async ({ tool, args }) => {
        calls += 1;
        const { content } = await byTool.get(tool).client.callTool({ name: tool, arguments: args });
        return content[0].text;
      };
      const played = await play(task.plain(), page, call);
      results.push(report(task, { ...played, calls, refusals: 0, notes: 0 }));
    }
    return results;
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

function report({ name, expected, maxTurns }, played) {
  return { task: name, ...played, isRight: played.answer === expected, maxTurns };
}

function print() {
  const columns = ["", "turns", "tokens shown", "processed", "calls", "refusals", "notes", "right"];
  for (const [way, results] of Object.entries(ways)) {
    const rows = results.map((each) => [
      each.task,
      ...["turns", "shown", "processed", "calls", "refusals", "notes"].map((key) => String(each[key])),
      each.isRight ? "yes" : "no",
    ]);
    const mean = (key) => (results.reduce((sum, each) => sum + each[key], 0) / results.length).toFixed(1);
    const right = results.filter(({ isRight }) => isRight).length;
    const last = ["turns", "shown", "processed", "calls", "refusals", "notes"].map(mean);
    table(way, columns, [...rows, ["mean", ...last, `${right} of ${results.length}`]]);
  }
}
