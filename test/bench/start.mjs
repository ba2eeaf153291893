// From the start of a process to its first result: one call of a tool, its result used.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { interleaved, table } from "./measure.mjs";
import { PEERS, RESULTS } from "./peers.mjs";
import { openPeers } from "./watch.mjs";

const root = new URL("../../", import.meta.url);

/** Without other ways into the same module, and without Cloudflare's: there a bundler and a server have to start. */
const STARTED = [
  "quickjs-emscripten, new runtime",
  "quickjs-wasi, new instance",
  "isolated-vm 5, new isolate",
  "TanStack code mode, QuickJS",
  "executor, QuickJS",
  "run, QuickJS in a thread", // on Node 20 it loads TypeScript where it finds one, as here
  "UTCP code mode, isolated-vm 5",
];

export async function benchStart() {
  const empty = mkdtempSync(join(tmpdir(), "skillgate-bench-"));
  const sandbox = `import { createSandbox } from ${JSON.stringify(new URL("dist/sandbox/index.js", root).href)};
    const limits = { cpuMs: 1e3, wallMs: 1e4, memoryBytes: 64 << 20, calls: 1, callsInFlight: 1, argumentBytes: 1e6, answerBytes: 1e6, resultBytes: 1e6, outputBytes: 1e6 };
    const sandbox = createSandbox({ limits });
    const code = "const r = await device.Web.search({ query: 'x' }); return r.results.length";
    const json = ${JSON.stringify(JSON.stringify(RESULTS))};
    const { end } = await sandbox.run({ code, paths: ["Web.search"] }, async () => ({ ok: true, json }));
    console.log(end.json);
    await sandbox.close();`;
  const bin = new URL("dist/src/bin.js", root).pathname;
  const peers = await openPeers(Object.fromEntries(STARTED.map((name) => [name, () => openProcess(name)])));
  const ours = {
    "node -e 0": () => start(["-e", "0"], { cwd: empty }),
    "the sandbox alone, one run": () => start(["--input-type=module", "-e", sandbox], { cwd: empty, wanted: "10" }),
    "skillgate run -e 1": () => start([bin, "run", "-e", "1"], { cwd: empty, wanted: "1" }),
  };
  const medians = await peers.measure(ours, 8, 2);
  rmSync(empty, { recursive: true });
  table(
    "From the start of a process to its first result, ms",
    ["", "ms", "× bare"],
    [...Object.entries(medians).map(([name, ms]) => [name, ms, ms / medians["node -e 0"]]), ...peers.missing()],
  );
}

/** A process for each run, with its answer on its standard output. */
async function openProcess(name) {
  const here = await PEERS[name](); // throws where it is not installed
  await here.close();
  const script = `import { PEERS } from ${JSON.stringify(new URL("peers.mjs", import.meta.url).href)};
    const { run, close } = await PEERS[${JSON.stringify(name)}]();
    process.stdout.write(String(await run()));
    await close();`;
  return { run: () => start(["--input-type=module", "-e", script]), close() {} };
}

/** Some have an answer and do not end. */
const REST_MS = 2_000;

/**
 * Time until a process has said something, or has ended. It ends by itself: `process.exit` right after an answer crashes
 * or hangs isolated-vm 5, whose thread may still be at work (with UTCP it always is).
 */
async function start(args, { cwd, wanted } = {}) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", "pipe", "inherit"], timeout: 20_000 });
  let said = "";
  let tookMs;
  let overdue;
  child.stdout.setEncoding("utf8").on("data", (text) => {
    tookMs ??= performance.now() - startedAt;
    said += text;
    overdue ??= setTimeout(() => child.kill("SIGKILL"), REST_MS);
  });
  const [status, signal] = await once(child, "close");
  tookMs ??= performance.now() - startedAt;
  clearTimeout(overdue);
  if (status !== 0 && said === "") throw new Error(`its process ended with ${signal ?? status}`);
  if (wanted !== undefined && said.trim() !== wanted) throw new Error(`it says ${JSON.stringify(said)}`);
  return { answer: Number(said), tookMs };
}

const HANDSHAKE = {
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};

/** From the start of `serve` to its answers to `initialize` and `tools/list`, beside the least that the SDK does. */
export async function benchFirstAnswers() {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-bench-"));
  const bare = fileURLToPath(new URL("test/bench/bare-server.mjs", root));
  const bin = fileURLToPath(new URL("dist/src/bin.js", root));
  const start = (first, args, cwd) => () => first({ args, cwd, env: { PATH: process.env.PATH, HOME: folder } });
  const medians = await interleaved(
    {
      bareStdio: start(answerFirst, [bare, "stdio"], fileURLToPath(root)),
      stdio: start(answerFirst, [bin, "serve", "--stdio"], folder),
      bareHttp: start(answerFirstOverHttp, [bare, "http"], fileURLToPath(root)),
      http: start(answerFirstOverHttp, [bin, "serve", "--http", "--no-auth", "--port"], folder),
    },
    9,
    1,
  );
  rmSync(folder, { recursive: true, force: true });
  table(
    "From the start of a server to its list of tools, ms",
    ["", "median", "ratio"],
    [
      ["a bare server of the SDK, stdio", medians.bareStdio, 1],
      ["skillgate serve --stdio", medians.stdio, medians.stdio / medians.bareStdio],
      ["a bare server of the SDK, HTTP", medians.bareHttp, 1],
      ["skillgate serve --http", medians.http, medians.http / medians.bareHttp],
    ],
  );
  if (medians.stdio > 1.5 * medians.bareStdio || medians.http > 1.5 * medians.bareHttp) process.exitCode = 1;
}

/** Starts a server, and settles when it has listed its tools. It ends before it stores texts for its next start. */
export async function answerFirst({ args, cwd, env }) {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
  const lines = createInterface({ input: child.stdout });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  send({ id: 1, ...HANDSHAKE });
  await once(lines, "line");
  send({ method: "notifications/initialized" });
  send({ id: 2, method: "tools/list" });
  await once(lines, "line");
  child.kill("SIGKILL");
}

/** The same over HTTP. The client tries to connect from the beginning; the port is the last argument. */
async function answerFirstOverHttp({ args, cwd, env }) {
  const port = await findFreePort();
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...args, String(port)], { cwd, env, stdio: "ignore" });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const send = (message) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    return fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST", headers, body });
  };
  const opened = await retry(() => send({ id: 1, ...HANDSHAKE }));
  await opened.text();
  const session = opened.headers.get("mcp-session-id");
  if (session !== null) headers["mcp-session-id"] = session;
  await (await send({ method: "notifications/initialized" })).text();
  const { result } = parseAnswer(await (await send({ id: 2, method: "tools/list" })).text());
  if (result.tools.length === 0) throw new Error("The server lists no tools");
  const tookMs = performance.now() - startedAt;
  child.kill("SIGKILL");
  await once(child, "exit");
  return { tookMs };
}

async function findFreePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Repeats work until it succeeds. */
async function retry(work) {
  for (;;) {
    try {
      return await work();
    } catch {
      await delay(2); // nothing listens yet
    }
  }
}

/** Parses the JSON of an answer, which may be an event of a stream. */
function parseAnswer(text) {
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
}
