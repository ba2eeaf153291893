// A server of both generations on the bare SDK, over stdin and stdout. To a client of 2025 it sends requests while a tool
// runs; since 2026-07-28, where that is impossible, the same tools fail.

import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

import { conformanceMethods } from "./fixtures.mjs";
import { OFFERS } from "./offers.mjs";

serveStdio(({ era }) => {
  const mcp = new McpServer(
    { name: "dual", version: "1.0.0" },
    { capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} } },
  );
  const { server } = mcp;
  const methods = conformanceMethods(() => "changed");
  server.setRequestHandler("tools/list", () => ({
    tools: Object.entries(methods).map(([name, { description, input = { type: "object" } }]) => ({
      name,
      description,
      inputSchema: input,
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params: { name, arguments: input = {}, _meta } }, { mcpReq }) => {
    const progressToken = _meta?.progressToken;
    const context = {
      signal: mcpReq.signal,
      log: (level, data) => mcpReq.notify({ method: "notifications/message", params: { level, data } }),
      progress: (progress, total) =>
        progressToken !== undefined &&
        mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total } }),
      client: {
        can: () => era === "legacy",
        ask: (method, params) =>
          era === "legacy"
            ? mcpReq.send({ method, params })
            : Promise.reject(new Error("this version of the protocol has no requests to clients")),
      },
    };
    try {
      return { content: [await methods[name].run(input, context)].flat().map(toContent) };
    } catch (error) {
      return { isError: true, content: [{ type: "text", text: error.message }] };
    }
  });
  server.setRequestHandler("resources/list", () => ({ resources: OFFERS.resources }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: OFFERS.templates }));
  server.setRequestHandler("resources/read", ({ params: { uri } }) => OFFERS.read(uri));
  for (const method of ["resources/subscribe", "resources/unsubscribe"]) server.setRequestHandler(method, () => ({}));
  server.setRequestHandler("prompts/list", () => ({ prompts: OFFERS.prompts }));
  server.setRequestHandler("prompts/get", ({ params: { name, arguments: args = {} } }) =>
    OFFERS.prompt(name, args, {}),
  );
  server.setRequestHandler("completion/complete", ({ params }) => OFFERS.complete(params));
  return mcp;
});

function toContent(value) {
  return typeof value === "string" ? { type: "text", text: value } : value;
}
