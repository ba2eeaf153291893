// MCP servers: what Skillgate adds to a call, long answers, start with many servers, what is left of them, and memory.
// `node --expose-gc test/bench/mcp.mjs` alone; `--soak` for 100,000 calls and 200 rounds, else a tenth of both.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createRuntime } from "../../dist/src/index.js";
import { interleaved, median, table } from "./measure.mjs";

const SERVER = new URL("../fixtures/mcp/server.js", import.meta.url).pathname;
const ANSWER_BYTES = 30_000_000;
const SHARE = process.argv.includes("--soak") ? 1 : 10;

export async function benchMcp() {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-bench-"));
  try {
    await benchCall();
    await benchManyServers(folder);
    await benchRounds(folder);
    await benchMemory();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function open(options = {}) {
  const mcpServers = { fixture: { command: process.execPath, args: [SERVER] } };
  return createRuntime({ skillsDir: false, mcpServers, ...options });
}

async function benchCall() {
  const bare = new Client({ name: "bare", version: "1.0.0" });
  await bare.connect(new StdioClientTransport({ command: process.execPath, args: [SERVER], maxBufferSize: 64 << 20 }));
  const runtime = await open({ limits: { answerBytes: 64 << 20 } });
  await runtime.ready;
  const message = "hello";
  const medians = await interleaved(
    {
      bare: () => bare.callTool({ name: "echo", arguments: { message } }),
      ours: () => runtime.call("FixtureMCP.echo", { message }),
      program: () => runtime.run('await device.FixtureMCP.echo("hello")'),
    },
    20,
    40,
  );
  table(
    "One call over stdio, ms",
    ["", "median", "more than bare"],
    [
      ["a bare SDK client", medians.bare, 0],
      ["runtime.call", medians.ours, medians.ours - medians.bare],
      ["runtime.run, a program with the call", medians.program, medians.program - medians.bare],
    ],
  );
  await benchLongAnswer(bare, runtime);
  await bare.close();
  await runtime.close();
}

async function benchLongAnswer(bare, runtime) {
  const json = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { content: [{ text: "x".repeat(ANSWER_BYTES) }] } });
  const input = { bytes: ANSWER_BYTES };
  const times = { parse: [], read: [], bare: [], ours: [] };
  const reader = startReader();
  for (let round = 0; round < 7; round++) {
    times.parse.push(await measure(() => JSON.parse(json)));
    times.read.push(await measure(() => reader.read(input)));
    times.ours.push(await measure(() => runtime.call("FixtureMCP.huge", input)));
    if (round < 2) times.bare.push(await measure(() => bare.callTool({ name: "huge", arguments: input })));
  }
  reader.stop();
  const parse = median(times.parse);
  const read = median(times.read);
  table(
    "An answer of 30 MB, from the call to the value, ms; what is more than to read its bytes, as multiple of JSON.parse",
    ["", "median", "more than read", "× JSON.parse"],
    [
      ["JSON.parse of it", parse, "", 1],
      ["to let the server make it, and read its bytes", read, 0, 0],
      ["runtime.call", median(times.ours), median(times.ours) - read, (median(times.ours) - read) / parse],
      ["a bare SDK client", median(times.bare), median(times.bare) - read, (median(times.bare) - read) / parse],
    ],
  );
}

/** A client that looks at nothing: it waits for the end of the line. */
function startReader() {
  const { stdin, stdout } = spawn(process.execPath, [SERVER]);
  return {
    async read(input) {
      const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "huge", arguments: input } };
      stdin.write(`${JSON.stringify(request)}\n`);
      for (;;) {
        const [chunk] = await once(stdout, "data");
        if (chunk.at(-1) === 10) return;
      }
    },
    stop: () => stdin.end(),
  };
}

async function benchManyServers(folder) {
  const tools = Array.from({ length: 30 }, (_, n) => ({
    name: `tool_${n}`,
    description: `Does thing number ${n} with a path and some options`,
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string" },
        depth: { type: "number" },
        flags: { type: "array", items: { type: "string" } },
      },
      required: ["path"],
    },
  }));
  const file = join(folder, "tools.json");
  writeFileSync(file, JSON.stringify(tools));
  const names = Array.from({ length: 20 }, (_, n) => `server-${n}`);
  const mcpServers = Object.fromEntries(
    names.map((name) => [name, { command: process.execPath, args: [SERVER, `tools=${file}`] }]),
  );
  const program = (start, wait) => `
    import { createRuntime } from ${JSON.stringify(new URL("../../dist/src/index.js", import.meta.url).href)};
    const startedAt = performance.now();
    const runtime = await createRuntime({ skillsDir: false, mcpServers: ${JSON.stringify(mcpServers)},
      mcp: { stateDir: ${JSON.stringify(join(folder, "state"))}, start: "${start}" } });
    await runtime.${wait};
    if (runtime.search("thing number 7").results.length === 0) throw new Error("nothing is found");
    console.log(performance.now() - startedAt, runtime.catalog.methods.length);
    await runtime.close();`;
  const cold = measureStart(program("at once", "ready"));
  const warm = Array.from({ length: 5 }, () => measureStart(program("when needed", "known")));
  table(
    "A runtime with 20 servers of 30 tools each, until a search finds them, in a new process, ms",
    ["", "ms"],
    [
      ["nothing is known, all are started", cold],
      ["all are known from an earlier time", median(warm)],
    ],
  );
}

function measureStart(program) {
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  const [ms, methods] = stdout.split(" ").map(Number);
  if (methods !== 600) throw new Error(stderr || `${methods} methods in place of 600`);
  return ms;
}

/** Programs that start a server and end well, by a crash, or by `kill -9`, in turns. */
async function benchRounds(folder) {
  const rounds = 200 / SHARE;
  const mark = join(folder, "mark");
  const env = { ...process.env, TMPDIR: folder };
  const program = `
    import { createRuntime } from ${JSON.stringify(new URL("../../dist/src/index.js", import.meta.url).href)};
    const runtime = await createRuntime({ skillsDir: false,
      mcpServers: { fixture: { command: process.execPath, args: [${JSON.stringify(SERVER)}, ${JSON.stringify(mark)}] } } });
    await runtime.ready;
    await runtime.call("FixtureMCP.grandchild", {});
    console.log("ready");
    if (process.argv[1] === "close") await runtime.close();
    if (process.argv[1] === "throw") throw new Error("on purpose");
    if (process.argv[1] === "wait") setInterval(() => {}, 1_000);`;
  const ways = ["close", "throw", "wait"];
  for (let round = 0; round < rounds; round += 4) {
    await Promise.all([0, 1, 2, 3].map((n) => oneRound(program, ways[(round + n) % 3], env)));
  }
  await oneRound(program, "close", env); // sweeps what the last ones left behind
  table(
    `Processes that are left of servers and their children after ${rounds} rounds of start and close, crash or kill -9`,
    ["", "processes"],
    [["left", String(processesWith(mark))]],
  );
}

async function oneRound(program, way, env) {
  const args = ["--input-type=module", "-e", program, way];
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "ignore"] });
  const exited = once(child, "exit");
  await once(child.stdout, "data");
  if (way === "wait") child.kill("SIGKILL");
  await exited;
}

function processesWith(mark) {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => commandLine(pid).includes(mark)).length;
}

function commandLine(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // it ended meanwhile
  }
}

async function benchMemory() {
  const calls = 100_000 / SHARE;
  const runtime = await open();
  await runtime.ready;
  const call = () => runtime.call("FixtureMCP.echo", { message: "hello" });
  // What is kept on purpose, the newest entries of the audit, is full by then.
  for (let n = 0; n < 20_000; n++) await call();
  const memory = [];
  for (let n = 0; n <= calls; n++) {
    await call();
    if (n % (calls / 5) === 0) memory.push(heapMb());
  }
  await runtime.close();
  table(
    `Memory over ${calls} calls, MB of heap${globalThis.gc ? "" : " (without --expose-gc, so before collection)"}`,
    ["after", ...memory.map((_, index) => String((index * calls) / 5))],
    [["MB", ...memory]],
  );
}

function heapMb() {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / (1 << 20);
}

async function measure(job) {
  const startedAt = performance.now();
  await job();
  return performance.now() - startedAt;
}

if (process.argv[1] === import.meta.filename) await benchMcp();
