// What a real model needs for eighteen tasks with twelve servers and 120 tools, with Skillgate and with plain tool calls:
// `MODEL_KEY=… node test/bench/models/live/index.mjs --api anthropic --model claude-sonnet-4-5`. Each task costs tokens of the endpoint.
// `--url` names another endpoint, `--tasks` a number of tasks or some of their names, `--json` prints the results as JSON.

import { parseArgs } from "node:util";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createRuntime } from "../../../../dist/src/index.js";
import { getServerTexts } from "../../../../dist/src/surfaces/mcp/instructions.js";
import { table } from "../../measure.mjs";
import { openChat } from "./endpoint.mjs";
import { TASKS } from "./tasks.mjs";
import { SERVICES } from "./world.mjs";

const MAX_TURNS = 15;
const URLS = { openai: "https://api.openai.com/v1", anthropic: "https://api.anthropic.com/v1" };
const OWNER = { id: "owner", permissions: ["call:*"] };
const SERVER = join(import.meta.dirname, "server.mjs");

const { values } = parseArgs({
  options: {
    api: { type: "string", default: "openai" },
    url: { type: "string" },
    model: { type: "string" },
    tasks: { type: "string", default: String(TASKS.length) },
    json: { type: "boolean", default: false },
  },
});
if (values.model === undefined || !Object.hasOwn(URLS, values.api)) {
  console.error("Write --model NAME, and --api openai or anthropic; MODEL_KEY holds the key of the endpoint");
  process.exit(2);
}
const endpoint = {
  api: values.api,
  url: values.url ?? URLS[values.api],
  key: process.env.MODEL_KEY,
  model: values.model,
};
const ways = { Skillgate: openSkillgate, "plain tool calls": openPlain };
const chosen = /^\d+$/.test(values.tasks)
  ? TASKS.slice(0, Number(values.tasks))
  : TASKS.filter(({ name }) => values.tasks.split(",").includes(name));
const results = {};
for (const [way, open] of Object.entries(ways)) {
  results[way] = [];
  for (const task of chosen) results[way].push(await solve(task, open));
}
if (values.json) console.log(JSON.stringify(results));
else for (const [way, solved] of Object.entries(results)) print(way, solved);

/** Solves a task with servers of its own, as effects change their records. */
async function solve({ name, request, check }, open) {
  const { system, tools, execute, call, close } = await open();
  const chat = openChat({ ...endpoint, system, tools });
  const counts = { turns: 0, tokens: 0, calls: 0, errors: 0 };
  try {
    chat.say(request);
    for (;;) {
      const reply = await chat.send();
      counts.turns += 1;
      counts.tokens += reply.tokens;
      const isOver = reply.calls.length === 0 || counts.turns === MAX_TURNS;
      if (isOver) return { task: name, ...counts, isRight: await isRight(check, reply.text, call) };
      const answers = await Promise.all(reply.calls.map(async ({ id, ...each }) => ({ id, ...(await execute(each)) })));
      counts.calls += answers.length;
      counts.errors += answers.filter(({ isError }) => isError).length;
      chat.answer(answers);
    }
  } finally {
    await close();
  }
}

/** A check whose call fails, as of a record that was not made, is not met. */
async function isRight(check, answer, call) {
  try {
    return await check(answer, call);
  } catch {
    return false;
  }
}

/** The tools of Skillgate with the instructions that a client of MCP gets. */
async function openSkillgate() {
  const mcpServers = Object.fromEntries(
    Object.keys(SERVICES).map((name) => [name, { command: process.execPath, args: [SERVER, name] }]),
  );
  const runtime = await createRuntime({ skillsDir: false, mcpServers, workers: 1 });
  await runtime.ready;
  const exposure = { expose: "code", names: "qualified", budgetTokens: 0 };
  const { instructions, description } = getServerTexts(runtime, { caller: OWNER, exposure }, "other");
  const tools = runtime.tools().map((tool) => (tool.name === "run_code" ? { ...tool, description } : tool));
  const skills = new Map(runtime.servers.map(({ name, skill }) => [name, skill]));
  return {
    system: instructions,
    tools,
    execute: async ({ name, args }) =>
      (await tools.find((tool) => tool.name === name)?.execute(args)) ?? {
        text: `Unknown tool: ${name}`,
        isError: true,
      },
    call: (server, tool, args) => runtime.call(`${skills.get(server)}.${tool}`, args),
    close: () => runtime.close(),
  };
}

/** The 120 tools of the servers as they are. */
async function openPlain() {
  const clients = new Map();
  const tools = [];
  const owners = new Map();
  for (const service of Object.keys(SERVICES)) {
    const client = new Client({ name: "bench", version: "1.0.0" });
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [SERVER, service] }));
    clients.set(service, client);
    for (const tool of (await client.listTools()).tools) {
      tools.push(tool);
      owners.set(tool.name, client);
    }
  }
  const callTool = async (client, name, args) => {
    const { content, isError = false } = await client.callTool({ name, arguments: args });
    return { text: content[0].text, isError };
  };
  return {
    system: "You act by calling tools. Answer in plain words when you are done.",
    tools,
    execute: async ({ name, args }) => {
      const client = owners.get(name);
      if (client === undefined) return { text: `Unknown tool: ${name}`, isError: true };
      return callTool(client, name, args).catch((error) => ({ text: error.message, isError: true }));
    },
    call: async (server, name, args) => JSON.parse((await callTool(clients.get(server), name, args)).text),
    close: () => Promise.all([...clients.values()].map((client) => client.close())),
  };
}

function print(way, solved) {
  const keys = ["turns", "tokens", "calls", "errors"];
  const rows = solved.map((each) => [each.task, ...keys.map((key) => String(each[key])), each.isRight ? "yes" : "no"]);
  const mean = (key) => (solved.reduce((sum, each) => sum + each[key], 0) / solved.length).toFixed(1);
  const right = solved.filter(({ isRight }) => isRight).length;
  table(way, ["", ...keys, "right"], [...rows, ["mean", ...keys.map(mean), `${right} of ${solved.length}`]]);
}
