import { resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";

import { newClient, oldClient, serve } from "../serving.ts";

const EVERYTHING = {
  command: process.execPath,
  args: [resolve("node_modules/@modelcontextprotocol/server-everything/dist/index.js"), "stdio"],
};

test("returns results of an MCP server unchanged [M5]", { tags: "rest" }, async () => {
  const direct = new Client({ name: "direct", version: "1" });
  await direct.connect(new StdioClientTransport({ ...EVERYTHING, stderr: "ignore" }));
  onTestFinished(() => direct.close());
  const options = { skills: [], mcpServers: { everything: EVERYTHING } };
  const { url } = await serve({ expose: "tools", names: "raw" }, options);
  const calls = [
    { name: "echo", arguments: { message: "hello" } },
    { name: "get-tiny-image", arguments: {} },
    { name: "get-structured-content", arguments: { location: "Chicago" } },
    { name: "get-annotated-message", arguments: { messageType: "error", includeImage: true } },
    { name: "get-resource-links", arguments: { count: 2 } },
    { name: "get-resource-reference", arguments: { resourceType: "Text", resourceId: 1 } },
  ];
  for (const client of [await oldClient(url), await newClient(url)]) {
    const { tools } = await client.listTools();
    const schemas = Object.fromEntries(tools.map(({ name, outputSchema }) => [name, outputSchema]));
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(calls.map(({ name }) => name)));
    for (const call of calls) {
      const through = await client.callTool(call);
      const { content, structuredContent, isError } = await direct.callTool(call);
      expect(withoutTimes([call.name, through.content])).toEqual(withoutTimes([call.name, content]));
      expect([through.structuredContent, through.isError]).toEqual([structuredContent, isError]);
    }
    const original = (await direct.listTools()).tools.find(({ name }) => name === "get-structured-content");
    expect(schemas["get-structured-content"]).toEqual(original?.outputSchema);
  }
});

test("returns text that holds JSON unchanged, though a program gets its value [M5]", async () => {
  const fixture = { command: process.execPath, args: [resolve("test/fixtures/mcp/server.js")] };
  const { url } = await serve({ expose: "both", names: "raw" }, { skills: [], mcpServers: { fixture } });
  const json = '{ "id": 9007199254740993, "rows": [1.0] }';
  for (const client of [await oldClient(url), await newClient(url)]) {
    const { content, structuredContent } = await client.callTool({ name: "says", arguments: { json } });
    expect({ content, structuredContent }).toEqual({ content: [{ type: "text", text: json }] });
    const code = "(await device.FixtureMCP.looks_like_json()).a[0]";
    const { structuredContent: outcome } = await client.callTool({ name: "run_code", arguments: { code } });
    expect(outcome).toMatchObject({ kind: "completed", value: 1 });
  }
});

test("masks a token in the error of an MCP server that a tool passes on [P9]", async () => {
  const fixture = { command: process.execPath, args: [resolve("test/fixtures/mcp/server.js")] };
  const { url } = await serve({ expose: "tools", names: "raw" }, { skills: [], mcpServers: { fixture } });
  const json = `GET /files/abc123?key=AIza${"Sy0-".repeat(9)}: 400`;
  for (const client of [await oldClient(url), await newClient(url)]) {
    const failed = await client.callTool({ name: "says", arguments: { json, isError: true } });
    const text = "GET /files/abc123?key=[redacted]: 400";
    expect(failed).toMatchObject({
      isError: true,
      content: [{ type: "text", text }],
      structuredContent: { data: text },
    });
  }
});

/** Masks the time that the server writes into some of its resources. */
function withoutTimes(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/\d{1,2}:\d{2}:\d{2}[^"\\]*/g, "<time>"));
}
