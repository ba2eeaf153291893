import { describe, expect, test } from "vitest";

import { newClient, onElicitation, serve } from "../serving.ts";
import { takeShare } from "../../support/repetitions.ts";
import { ERAS } from "./raw-client.ts";

const RICH = { rich: { command: process.execPath, args: ["test/fixtures/mcp/rich-server.js"] } };

describe.each(takeShare(2, ERAS))("exposed as calls, a client of %s", { tags: "repeated" }, (_era, open) => {
  test("finds, describes and calls methods without programs [V1]", async () => {
    const { url } = await serve({ expose: "calls" });
    const client = await open(`${url}/mcp`);
    const { tools } = await client.request("tools/list");
    expect(tools.map(({ name }: { name: string }) => name)).toEqual([
      "search_skills",
      "describe_function",
      "call_method",
    ]);
    expect(tools[2].annotations).toEqual({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    });
    const call = (args: object) => client.request("tools/call", { name: "call_method", arguments: args });
    expect(await call({ path: "TestSkill.add", arguments: { a: 1, b: 2 } })).toMatchObject({
      structuredContent: { sum: 3 },
    });
    expect(await call({ path: "TestSkill.add", arguments: { a: -1, b: 2 } })).toMatchObject({
      isError: true,
      structuredContent: { error_type: "ValidationError", reason: expect.stringContaining("TestSkill.add") },
    });
    expect(await call({ path: "TestSkill.ad" })).toMatchObject({
      isError: true,
      structuredContent: { error_type: "ToolNotFound", suggestions: expect.arrayContaining(["TestSkill.add"]) },
    });
    for (const wrong of [{}, { path: 7 }, { path: "TestSkill.add", arguments: [] }, { path: "TestSkill.add", x: 1 }])
      expect(await call(wrong)).toMatchObject({ isError: true, structuredContent: { error_type: "ValidationError" } });
    await expect(client.request("tools/call", { name: "run_code", arguments: { code: "1" } })).rejects.toThrow(
      "Unknown tool: run_code",
    );
  });

  test("gets the result of a server unchanged, with its errors [M5]", async () => {
    const { url, runtime } = await serve({ expose: "calls" }, { skills: [], mcpServers: RICH });
    await runtime.ready;
    const client = await open(`${url}/mcp`);
    const call = (method: string) =>
      client.request("tools/call", { name: "call_method", arguments: { path: `RichMCP.${method}` } });
    expect(await call("rich")).toMatchObject({
      structuredContent: { n: 1 },
      _meta: { "x.example/page": { next: "2" } },
    });
    await expect(call("refuse")).rejects.toMatchObject({ code: -32031, data: { near: ["Athens"] } });
    expect(await call("fail")).toMatchObject({ isError: true, structuredContent: { tray: 2, left: 0 } });
  });
});

test("call_method asks for the approval of the method, and records it [P6]", async () => {
  const { url, runtime } = await serve({ expose: "calls" });
  const client = await newClient(url);
  const messages: string[] = [];
  onElicitation(client, ({ message }) => {
    messages.push(message);
    return { action: "accept", content: { answer: "once" } };
  });
  const paid = await client.callTool({ name: "call_method", arguments: { path: "TestSkill.pay" } });
  expect(paid.content).toEqual([{ type: "text", text: "paid" }]);
  expect(messages).toEqual([expect.stringContaining('"owner" asks to call TestSkill.pay with')]);
  expect(runtime.audit().map(({ path }) => path)).toContain("TestSkill.pay");
});
