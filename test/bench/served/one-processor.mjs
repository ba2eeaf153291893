// Calls on one processor: this process, its clients and all servers share it. Each figure stands beside a bare server of the SDK.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { createRuntime } from "../../../dist/src/index.js";
import { interleaved, median, quantile, table } from "../measure.mjs";
import { createProject, serve } from "./server.mjs";

const BARE = fileURLToPath(new URL("../bare-server.mjs", import.meta.url));
const CLIENTS = 64;
const ROUNDS = 20;
const ECHO = { name: "echo", arguments: { text: "2" } };

const SKILL =
  "/** Repeats numbers. */\nexport class EchoSkill {\n  /** @readonly */\n  read(value) { return value; }\n}\n";

const project = createProject({ "settings.yaml": "store: { dir: state }\n", "skills/echo.mjs": SKILL });
try {
  await compareCalls();
  await compareClients();
} finally {
  project.remove();
}

/** A run with one call, in the process of the library, beside one call of a bare server over stdio. */
async function compareCalls() {
  const servers = { bare: { command: process.execPath, args: [BARE, "stdio"] } };
  const runtime = await createRuntime({
    skillsDir: `${project.folder}/skills`,
    mcp: { stateDir: `${project.folder}/state-of-library` },
    mcpServers: servers,
    typecheck: false,
  });
  await runtime.ready;
  const transport = new StdioClientTransport({ ...servers.bare, stderr: "ignore" });
  const client = await connect(transport);
  const run = async (code) => {
    const { kind, text } = await runtime.run(code);
    if (kind !== "completed") throw new Error(text);
  };
  const medians = await interleaved(
    {
      bare: () => client.callTool(ECHO),
      skill: () => run("await device.EchoSkill.read(1)"),
      mcp: () => run('await device.BareMCP.echo("2")'),
    },
    100,
    2,
  );
  await client.close();
  await runtime.close();
  const row = (title, ms) => [title, ms, ms / medians.bare];
  table(
    "One processor: one call (ms)",
    ["", "median", "ratio"],
    [
      row("a bare server over stdio, called by the SDK", medians.bare),
      row("a program that calls a skill", medians.skill),
      row("a program that calls that server", medians.mcp),
    ],
  );
}

/** Many clients at once: one tool of a bare server, one program of `serve`. */
async function compareClients() {
  const bare = spawn(process.execPath, [BARE, "http"], { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = await once(createInterface({ input: bare.stdout }), "line");
  const server = await serve(project.folder);
  try {
    const plain = await measureClients(url, ECHO);
    const programs = await measureClients(`${server.url}/mcp`, { name: "run_code", arguments: { code: "1 + 1" } });
    const row = (title, { p50, p99 }) => [title, p50, p99 / p50, p50 / plain.p50];
    table(
      `One processor: ${CLIENTS} clients over HTTP (ms)`,
      ["", "median", "p99 ÷ median", "ratio"],
      [row("a bare server of the SDK", plain), row("skillgate serve, a program", programs)],
    );
  } finally {
    await server.close();
    bare.kill();
  }
}

async function measureClients(url, call) {
  const open = () => connect(new StreamableHTTPClientTransport(new URL(url)));
  const clients = await Promise.all(Array.from({ length: CLIENTS }, open));
  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(
      clients.map(async (client) => {
        const startedAt = performance.now();
        const { isError } = await client.callTool(call);
        if (isError) throw new Error("A call fails under load");
        times.push(performance.now() - startedAt);
      }),
    );
  }
  await Promise.all(clients.map((client) => client.close()));
  return { p50: median(times), p99: quantile(times, 0.99) };
}

async function connect(transport) {
  const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(transport);
  return client;
}
