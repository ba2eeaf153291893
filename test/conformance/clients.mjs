// `npm run conformance:clients`: clients that people use list the tools and call one, over HTTP and over stdio. They are
// installed into .cache/clients, beside the project.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

import { installAside, loadAside, withVersions } from "../support/install-aside.mjs";

const ROOT = join(import.meta.dirname, "../..");
const FOLDER = join(ROOT, ".cache/clients");
const PACKAGES = {
  "@modelcontextprotocol/inspector": "0.15.0",
  "@ai-sdk/mcp": "1.0.101",
  "@langchain/mcp-adapters": "1.1.4",
  "@langchain/core": "1.4.0",
  "mcp-remote": "0.15.1",
};
const BIN = join(ROOT, "dist/src/bin.js");
const STDIO = { command: process.execPath, args: [BIN, "serve", "--stdio"] };
const CODE = "await device.CalculatorSkill.calculate('6*7')";

/** Each says what a call of `run_code` has answered, as text. */
const CLIENTS = {
  "inspector, HTTP": (url) => inspector([url, "--transport", "http"]),
  "inspector, stdio": () => inspector([STDIO.command, ...STDIO.args]),
  "@ai-sdk/mcp, HTTP": (url) => aiSdk({ type: "http", url }),
  "@ai-sdk/mcp, stdio": async () => {
    const { Experimental_StdioMCPTransport: Transport } = await load("@ai-sdk/mcp/mcp-stdio");
    return aiSdk(new Transport(STDIO));
  },
  "@langchain/mcp-adapters, HTTP": (url) => langchain({ transport: "http", url }),
  "@langchain/mcp-adapters, stdio": () => langchain({ transport: "stdio", ...STDIO }),
  "mcp-remote": (url) => mcpRemote(url),
};

install();
const { child, url } = await startServer();
let failed = 0;
for (const [name, answer] of Object.entries(CLIENTS)) {
  const said = await answer(url).catch((error) => String(error.stack));
  const isRight = said.includes("42");
  if (!isRight) failed++;
  console.log(isRight ? `✓ ${name}` : `✗ ${name}: ${said.slice(0, 2_000)}`);
}
child.kill();
process.exitCode = failed === 0 ? 0 : 1;

/** Its command line lists, then calls. */
async function inspector(target) {
  const script = join(FOLDER, "node_modules/@modelcontextprotocol/inspector-cli/build/cli.js");
  const ask = async (...args) => {
    const asked = spawn(process.execPath, [script, "--cli", ...target, ...args], { cwd: ROOT });
    const [stdout, stderr] = await Promise.all([text(asked.stdout), text(asked.stderr)]);
    return stdout || stderr;
  };
  const listed = await ask("--method", "tools/list");
  if (!listed.includes('"run_code"')) return listed;
  return ask("--method", "tools/call", "--tool-name", "run_code", "--tool-arg", `code=${CODE}`);
}

async function aiSdk(transport) {
  const { createMCPClient, experimental_createMCPClient } = await load("@ai-sdk/mcp");
  const client = await (createMCPClient ?? experimental_createMCPClient)({ transport });
  const { run_code: tool } = await client.tools();
  const result = await tool.execute({ code: CODE }, { toolCallId: "1", messages: [] });
  await client.close();
  return JSON.stringify(result);
}

async function langchain(server) {
  const { MultiServerMCPClient } = await load("@langchain/mcp-adapters");
  const client = new MultiServerMCPClient({ mcpServers: { skillgate: server } });
  const tool = (await client.getTools()).find(({ name }) => name.endsWith("run_code"));
  const result = await tool.invoke({ code: CODE });
  await client.close();
  return JSON.stringify(result);
}

/** A bridge from stdio to HTTP, behind which the SDK's own client stands. */
async function mcpRemote(url) {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const script = join(FOLDER, "node_modules/mcp-remote/dist/proxy.js");
  const client = new Client({ name: "behind-mcp-remote", version: "1" });
  const env = { PATH: process.env.PATH, HOME: FOLDER };
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [script, url], env, stderr: "ignore" }),
  );
  const result = await client.callTool({ name: "run_code", arguments: { code: CODE } });
  await client.close();
  return JSON.stringify(result);
}

function load(name) {
  return loadAside(FOLDER, name);
}

function install() {
  const isThere = Object.keys(PACKAGES).every((name) => existsSync(join(FOLDER, "node_modules", name)));
  if (!isThere && !installAside(FOLDER, withVersions(PACKAGES), "--ignore-scripts")) process.exit(1);
}

async function startServer() {
  const args = [BIN, "serve", "--http", "--port", "0", "--no-auth"];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "ignore", "pipe"] });
  const [line] = await once(createInterface({ input: child.stderr }), "line");
  return { child, url: /http:\S+\/mcp/.exec(line)[0] };
}
