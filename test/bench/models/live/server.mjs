// A stdio MCP server for one service of the world: `node server.mjs shop`.

import { createInterface } from "node:readline";
import { makeTools } from "./world.mjs";

const [service] = process.argv.slice(2);
const tools = makeTools(service);

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: service, version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: tools.map(({ run: _run, ...listed }) => listed) }),
  "tools/call": ({ name, arguments: args = {} }) => {
    try {
      const value = tools.find((tool) => tool.name === name).run(args);
      return { content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }] };
    } catch (error) {
      return { isError: true, content: [{ type: "text", text: error.message }] };
    }
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = Object.hasOwn(METHODS, method)
    ? { result: METHODS[method](params ?? {}) }
    : { error: { code: -32_601, message: "Method not found" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
