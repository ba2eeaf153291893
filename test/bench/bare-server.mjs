// The least that the SDK makes of one trivial tool: bare-server.mjs stdio | http [port]. Over HTTP, it prints its address.

import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

function make() {
  const server = new McpServer({ name: "bare", version: "1" });
  const inputSchema = z.object({ text: z.string() });
  server.registerTool("echo", { description: "Says it again", inputSchema }, ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  return server;
}

if (process.argv[2] === "stdio") serveStdio(make);
else {
  const answer = toNodeHandler(createMcpHandler(make));
  const server = createServer((request, response) => void answer(request, response));
  server.listen(Number(process.argv[3] ?? 0), "127.0.0.1", () =>
    console.log(`http://127.0.0.1:${server.address().port}/mcp`),
  );
}
