// Serving beside a bare server of the SDK: the same client, in turns, each server in a process of its own.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { interleaved, median, quantile, table } from "./measure.mjs";

const BIN = fileURLToPath(new URL("../../dist/src/bin.js", import.meta.url));
const BARE = fileURLToPath(new URL("bare-server.mjs", import.meta.url));
const CLIENTS = 64;

/** Our own protocol generation, and the one that most clients speak. */
const GENERATIONS = { 2026: { mode: "auto" }, 2025: { mode: "legacy" } };

export async function benchServe() {
  const house = await openServer();
  try {
    await benchCalls(house);
    await benchMany(house);
  } finally {
    await house.close();
  }
}

async function benchCalls(house) {
  const bare = { name: "echo", arguments: { text: "2" } };
  const run = { name: "run_code", arguments: { code: "1 + 1" } };
  const through = { name: "BareMCP__echo", arguments: { text: "2" } };
  const rows = [];
  for (const [year, versionNegotiation] of Object.entries(GENERATIONS)) {
    const connect = (transport) => connected(transport, versionNegotiation);
    const overStdio = [await connect(house.stdio()), run];
    rows.push(await pair(`stdio, ${year}`, [await connect(house.bareStdio()), bare], overStdio));
    rows.push(await pair(`HTTP, ${year}`, [await connect(house.bareHttp()), bare], [await connect(house.http()), run]));
    const gateway = [await connect(house.http("?expose=tools")), through];
    rows.push(await pair(`gateway, ${year}`, [await connect(house.bareHttp()), bare], gateway));
  }
  table("One tools/call beside a bare server of the SDK (ms)", ["", "bare", "Skillgate", "ratio"], rows);
}

async function pair(title, [bareClient, bareCall], [client, call]) {
  const jobs = { bare: () => bareClient.callTool(bareCall), ours: () => client.callTool(call) };
  const { bare, ours } = await interleaved(jobs, 300, 1);
  await Promise.all([bareClient.close(), client.close()]);
  return [title, bare, ours, ours / bare];
}

async function benchMany(house) {
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connected(house.http(), { mode: "auto" })));
  const times = [];
  for (let round = 0; round < 20; round++) {
    await Promise.all(
      clients.map(async (client) => {
        const startedAt = performance.now();
        const { isError } = await client.callTool({ name: "run_code", arguments: { code: "1 + 1" } });
        if (isError) throw new Error("A call failed under load");
        times.push(performance.now() - startedAt);
      }),
    );
  }
  await Promise.all(clients.map((client) => client.close()));
  const [p50, p99] = [median(times), quantile(times, 0.99)];
  table(`${CLIENTS} clients at once (ms)`, ["", "median", "99th percentile", "ratio"], [["HTTP", p50, p99, p99 / p50]]);
}

async function connected(transport, versionNegotiation) {
  const client = new Client({ name: "bench", version: "1" }, { versionNegotiation });
  await client.connect(transport);
  return client;
}

/** The servers, and ways to them. */
async function openServer() {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-bench-"));
  const bare = await startServer([BARE, "http"], { cwd: join(import.meta.dirname, "../..") }, "stdout");
  writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers: { bare: { url: bare.url } } }));
  const place = { cwd: folder, env: { PATH: process.env.PATH, HOME: folder } };
  const served = await startServer([BIN, "serve", "--http", "--port", "0", "--no-auth"], place, "stderr");
  const stdio = (args, options) =>
    new StdioClientTransport({ command: process.execPath, args, stderr: "ignore", ...options });
  return {
    bareHttp: () => new StreamableHTTPClientTransport(new URL(bare.url)),
    http: (query = "") => new StreamableHTTPClientTransport(new URL(served.url + query)),
    bareStdio: () => stdio([BARE, "stdio"], { cwd: join(import.meta.dirname, "../..") }),
    stdio: () => stdio([BIN, "serve", "--stdio"], place),
    close: async () => {
      for (const { child } of [served, bare]) child.kill();
      await once(served.child, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The address is in the first line that it prints. */
async function startServer(args, options, stream) {
  const child = spawn(process.execPath, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  for (const each of [child.stdout, child.stderr]) each.resume();
  const [line] = await once(createInterface({ input: child[stream] }), "line");
  return { child, url: /http:\S+\/mcp/.exec(line)[0] };
}
