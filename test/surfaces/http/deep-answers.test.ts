// @module-tag rest

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";

import { faultsOfProcess, folder, post, serve } from "../serving.ts";

const DEEP = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "DeepMCP.deep", arguments: {} } };

/** Calls the method with the deep answer; settles when it is answered. */
const CALLS: Readonly<Record<string, (url: string) => Promise<string>>> = {
  "POST /tools": (url) => request(`${url}/tools/DeepMCP.deep`, {}, "application/json"),
  "POST /tools as a stream": (url) => request(`${url}/tools/DeepMCP.deep`, {}, "text/event-stream"),
  "/rpc": (url) => request(`${url}/rpc`, DEEP, "application/json"),
  "/rpc as a stream": (url) => request(`${url}/rpc`, DEEP, "text/event-stream"),
  "/mcp": async (url) => JSON.stringify((await post(`${url}/mcp?expose=tools`, MODERN, MODERN_HEADERS)).json),
  "/ws": async (url) => {
    const socket = new WebSocket(url.replace("http", "ws") + "/ws");
    onTestFinished(() => socket.terminate());
    await once(socket, "open");
    socket.send(JSON.stringify(DEEP));
    for (;;) {
      const [data] = (await once(socket, "message")) as [Buffer];
      if (!data.toString().includes("tools/progress")) return data.toString();
    }
  },
};

test.each(Object.entries(CALLS))(
  "answers %s with an error when a method's value is nested 300,000 deep, and keeps serving [V6]",
  async (_surface, call) => {
    const faults = faultsOfProcess();
    const { url, runtime } = await serve(
      {},
      { mcpServers: { deep: { command: process.execPath, args: [deepServer()] } } },
    );
    await runtime.ready;
    expect(await call(url)).toMatch(/"error"|"isError":true|event: error/);
    const sum = await post(`${url}/tools/run_code`, { code: "20 + 22" });
    expect(sum.json.data).toMatchObject({ value: 42 });
    expect(faults).toEqual([]);
  },
);

async function request(url: string, body: object, accept: string): Promise<string> {
  const headers = { "content-type": "application/json", accept };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return response.text();
}

const MODERN_HEADERS = {
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "DeepMCP__deep",
};

const MODERN = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: {
    name: "DeepMCP__deep",
    arguments: {},
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
};

/** An MCP server with one tool, whose structured content is nested deeper than recursion goes. */
function deepServer(): string {
  const file = join(folder(), "deep-server.mjs");
  writeFileSync(
    file,
    `
import { createInterface } from "node:readline";
const answer = (id, result) => process.stdout.write(\`{"jsonrpc":"2.0","id":\${JSON.stringify(id)},"result":\${result}}\\n\`);
for await (const line of createInterface(process.stdin)) {
  const { id, method } = JSON.parse(line);
  if (method === "initialize")
    answer(id, '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"deep","version":"1"}}');
  else if (method === "tools/list") answer(id, '{"tools":[{"name":"deep","inputSchema":{"type":"object"}}]}');
  else if (method === "tools/call")
    answer(id, '{"content":[],"structuredContent":{"a":' + "[".repeat(300_000) + "]".repeat(300_000) + "}}");
  else if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } }) + "\\n");
}
`,
  );
  return file;
}
