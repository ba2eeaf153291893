// The clients of the table. Each connects to a server that a command starts, and returns how to list its tools, to call one,
// and to end. `can` says what its interface offers: progress and cancellation.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const INFO = { name: "compat", version: "1" };
const ALL = ["progress", "cancel"];

/** The package that is installed, the title of its row, and `connect`. */
export const CLIENTS = [
  { package: "@modelcontextprotocol/sdk@1.32.2", connect: ({ load }, server) => connectOld(load, server) },
  { package: "@modelcontextprotocol/client@2.4.0", connect: connectNew },
  { package: "@modelcontextprotocol/client@2.4.0", title: "over HTTP", connect: connectNewOverHttp },
  { package: "@modelcontextprotocol/inspector@0.15.0", connect: connectInspector },
  { package: "@ai-sdk/mcp@2.0.99", connect: connectAiSdk },
  { package: "@ai-sdk/mcp@2.0.99", title: "over HTTP", connect: connectAiSdkOverHttp },
  { package: "@langchain/mcp-adapters@1.1.4", connect: connectLangchain },
  { package: "@mastra/mcp@2.0.0", connect: connectMastra },
  { package: "@openai/agents@0.20.0", connect: connectAgents },
  { package: "mcporter@0.12.3", connect: connectMcporter },
  { package: "mcp-client@1.13.1", connect: connectMcpClient },
  { package: "mcp-remote@0.15.1", title: "before the SDK", connect: connectThroughRemote },
  {
    package: "mcp-proxy@6.7.19",
    title: "before the SDK",
    connect: (place, server) => connectThroughProxy(place, server),
  },
  { package: "supergateway@4.0.0", title: "before the SDK", connect: connectThroughSupergateway },
];

async function connectOld(load, { command, args, env }) {
  const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
  return useOld(load, new StdioClientTransport({ command, args, env, stderr: "ignore" }));
}

async function useOld(load, transport) {
  const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
  const client = new Client(INFO);
  await client.connect(transport);
  return {
    can: ALL,
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, input, { signal, onprogress }) =>
      client.callTool({ name, arguments: input }, undefined, { signal, onprogress }),
    close: () => client.close(),
  };
}

async function connectNew({ load }, { command, args, env }) {
  const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");
  return useNew(load, new StdioClientTransport({ command, args, env, stderr: "ignore" }));
}

async function connectNewOverHttp({ load }, { url }) {
  const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
  return useNew(load, new StreamableHTTPClientTransport(new URL(url)));
}

async function useNew(load, transport) {
  const { Client } = await load("@modelcontextprotocol/client");
  const client = new Client(INFO, { versionNegotiation: { mode: "auto" } });
  await client.connect(transport);
  return {
    can: ALL,
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, input, { signal, onprogress }) => client.callTool({ name, arguments: input }, { signal, onprogress }),
    close: () => client.close(),
  };
}

/** A command line: one process for each request. */
function connectInspector({ home }, { command, args, env }) {
  const script = join(home, "node_modules/@modelcontextprotocol/inspector-cli/build/cli.js");
  const ask = async (...words) => {
    const child = spawn(process.execPath, [script, "--cli", command, ...args, ...words], { env });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    if (stdout === "") throw new Error(stderr);
    return JSON.parse(stdout);
  };
  return {
    can: [],
    list: async () => (await ask("--method", "tools/list")).tools.map(({ name }) => name),
    call: (name, input) =>
      ask("--method", "tools/call", "--tool-name", name, ...Object.entries(input).flatMap(toArgument)),
    close: async () => {},
  };
}

function toArgument([name, value]) {
  return ["--tool-arg", `${name}=${value}`];
}

async function connectAiSdk({ load }, { command, args, env }) {
  const { Experimental_StdioMCPTransport: Transport } = await load("@ai-sdk/mcp/mcp-stdio");
  return useAiSdk(load, new Transport({ command, args, env, stderr: "ignore" }));
}

async function connectAiSdkOverHttp({ load }, { url }) {
  return useAiSdk(load, { type: "http", url });
}

async function useAiSdk(load, transport) {
  const { createMCPClient, experimental_createMCPClient } = await load("@ai-sdk/mcp");
  const client = await (createMCPClient ?? experimental_createMCPClient)({ transport });
  const tools = await client.tools();
  return {
    can: ["cancel"],
    list: async () => Object.keys(tools),
    call: (name, input, { signal }) =>
      tools[name].execute(input, { toolCallId: "1", messages: [], abortSignal: signal }),
    close: () => client.close(),
  };
}

async function connectLangchain({ load }, { command, args, env }) {
  const { MultiServerMCPClient } = await load("@langchain/mcp-adapters");
  let listener;
  const client = new MultiServerMCPClient({
    mcpServers: { skillgate: { transport: "stdio", command, args, env, stderr: "ignore" } },
    onProgress: (progress) => listener?.(progress),
  });
  const tools = await client.getTools();
  return {
    can: ALL,
    list: async () => tools.map(({ name }) => name),
    call: (wanted, input, { signal, onprogress }) => {
      listener = onprogress;
      return tools.find(({ name }) => name === wanted).invoke(input, { signal });
    },
    close: () => client.close(),
  };
}

async function connectMastra({ load }, { command, args, env }) {
  const { MCPClient } = await load("@mastra/mcp");
  const client = new MCPClient({ servers: { skillgate: { command, args, env, stderr: "ignore" } } });
  const tools = await client.listTools();
  const prefix = "skillgate_";
  return {
    can: ["cancel"],
    list: async () => Object.keys(tools).map((name) => name.replace(prefix, "")),
    call: (name, input, { signal }) => tools[`${prefix}${name}`].execute(input, { abortSignal: signal }),
    close: () => client.disconnect(),
  };
}

async function connectAgents({ load }, { command, args, env }) {
  const { MCPServerStdio } = await load("@openai/agents");
  const server = new MCPServerStdio({ name: "skillgate", command, args, env });
  await server.connect();
  return {
    can: ["cancel"],
    list: async () => (await server.listTools()).map(({ name }) => name),
    call: (name, input, { signal }) => server.callTool(name, input, undefined, { signal }),
    close: () => server.close(),
  };
}

async function connectMcporter({ load, home }, { command, args, env }) {
  const { createRuntime } = await load("mcporter");
  const runtime = await createRuntime({
    servers: [{ name: "skillgate", command: { kind: "stdio", command, args, cwd: home }, env }],
  });
  return {
    can: [],
    list: async () => (await runtime.listTools("skillgate")).map(({ name }) => name),
    call: (name, input) => runtime.callTool("skillgate", name, { args: input }),
    close: () => runtime.close(),
  };
}

async function connectMcpClient({ load }, { command, args, env }) {
  const { MCPClient } = await load("mcp-client");
  const client = new MCPClient(INFO);
  await client.connect({ type: "stdio", command, args, env });
  return {
    can: ALL,
    list: async () => (await client.getAllTools()).map(({ name }) => name),
    call: (name, input, { signal, onprogress }) =>
      client.callTool({ name, arguments: input }, { requestOptions: { signal, onprogress } }),
    close: () => client.close(),
  };
}

/** A bridge that the client starts, to the server over HTTP. */
function connectThroughRemote({ home, loadProjects }, { url, env }) {
  const script = join(home, "node_modules/mcp-remote/dist/proxy.js");
  return connectOld(loadProjects, {
    command: process.execPath,
    args: [script, url],
    env: { ...env, HOME: home },
  });
}

function connectThroughProxy({ home, loadProjects }, { command, args, env }) {
  const script = join(home, "node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs");
  const toArgs = (port) => [script, "--port", port, "--host", "127.0.0.1", "--", command, ...args];
  return connectToBridge(loadProjects, toArgs, env);
}

function connectThroughSupergateway({ home, loadProjects }, { command, args, env }) {
  const script = join(home, "node_modules/supergateway/dist/index.js");
  const line = [command, ...args].join(" ");
  const toArgs = (port) => [
    script,
    "--stdio",
    line,
    "--outputTransport",
    "streamableHttp",
    "--stateful",
    "--port",
    port,
  ];
  return connectToBridge(loadProjects, toArgs, env);
}

/** A bridge that starts the server and serves it over HTTP. */
async function connectToBridge(load, toArgs, env) {
  const port = await findFreePort();
  const bridge = spawn(process.execPath, toArgs(String(port)), { env, stdio: "ignore", detached: true });
  const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  await waitUntilItListens(url);
  const client = await useOld(load, new StreamableHTTPClientTransport(url));
  return {
    ...client,
    close: async () => {
      await client.close();
      const exit = once(bridge, "exit");
      process.kill(-Number(bridge.pid), "SIGTERM");
      await exit;
    },
  };
}

async function findFreePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

async function waitUntilItListens(url) {
  for (let left = 100; left > 0; left--) {
    const answer = await fetch(url, { method: "OPTIONS" }).catch(() => undefined);
    if (answer !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the bridge does not listen");
}
