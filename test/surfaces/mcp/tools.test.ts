import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import type { ProvidedSkill } from "../../../src/model/skill.ts";
import type { ElicitResult } from "@modelcontextprotocol/client";

import { READY_MS } from "../../../src/surfaces/mcp/tools/tool-calls.ts";
import {
  folder,
  newClient,
  oldClient,
  onElicitation,
  onToolsChanged,
  post,
  serve,
  shareRuntime,
  whenSlow,
} from "../serving.ts";

const CLIENTS = [
  ["the first generation", oldClient],
  ["the second generation", newClient],
] as const;

const serveShared = shareRuntime();

describe.each(CLIENTS)("a client of %s [V1]", (_name, connect) => {
  test("lists and calls the built-in tools [V1]", async () => {
    const { url } = await serveShared({ expose: "code" });
    const client = await connect(url);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["search_skills", "describe_function", "run_code"]);
    const found = await client.callTool({ name: "search_skills", arguments: { query: "add numbers" } });
    expect(found.structuredContent).toMatchObject({ paths: expect.arrayContaining(["TestSkill.add"]) });
    const listed = await client.callTool({ name: "search_skills", arguments: { limit: 100 } });
    const rest = await client.callTool({ name: "search_skills", arguments: { limit: 2, offset: 2 } });
    const { paths } = listed.structuredContent as { paths: readonly string[] };
    expect(rest.structuredContent).toEqual({ paths: paths.slice(2, 4) });
    expect(getText(rest)).toMatch(/^Found \d+ result\(s\), starting with number 3:\n/);
    const described = await client.callTool({ name: "describe_function", arguments: { path: "TestSkill.add" } });
    expect(getText(described)).toContain("add(a: number, b: number): Promise<{ sum: number }>");
    const code = "const { sum } = await device.TestSkill.add(2, 3); print('adding'); sum";
    const ran = await client.callTool({ name: "run_code", arguments: { code } });
    expect(getText(ran)).toBe("adding\n5");
    expect(ran.structuredContent).toEqual({ kind: "completed", runId: expect.any(String), value: 5, calls: 1 });
  });

  test("lists three tools without waiting for servers if the methods exceed the budget already [V1]", async () => {
    const silent = { command: process.execPath, args: ["-e", "process.stdin.resume()"] };
    const { url } = await serve({ expose: "auto", budgetTokens: 10 }, { mcpServers: { silent } });
    const client = await connect(url);
    const { tools } = await client.listTools({}, { timeout: READY_MS - 500 });
    expect(tools.map(({ name }) => name)).toEqual(["search_skills", "describe_function", "run_code"]);
  });

  test.each(["code", "tools", "both", "auto"] as const)(
    "names in the instructions and prompts only tools that it lists when exposed as %s [V1]",
    async (expose) => {
      const { url } = await serveShared({ expose });
      const client = await connect(url);
      const { tools } = await client.listTools();
      const names = new Set(tools.map(({ name }) => name));
      const { prompts } = await client.listPrompts();
      const instructions = client.getInstructions() ?? "";
      for (const name of ["search_skills", "describe_function", "run_code"])
        expect(instructions.includes(name)).toBe(names.has(name));
      expect(prompts.some(({ name }) => name === "use_skills")).toBe(names.has("run_code"));
      expect(/tool of its own/.test(instructions)).toBe(expose !== "code");
      expect(/a tool of its own: call that for a single step, and run_code/.test(instructions)).toBe(expose === "both");
      const own = client.getPrompt({ name: "use_skills" });
      if (expose === "tools") await expect(own).rejects.toThrow("Unknown prompt: use_skills");
      else expect((await own).messages).toHaveLength(1);
    },
  );

  test("returns a refused program as a result with the reasons [V3]", async () => {
    const { url } = await serveShared();
    const client = await connect(url);
    const refused = await client.callTool({ name: "run_code", arguments: { code: "device.TestSkill.ad(1, 2)" } });
    expect(refused.isError).toBe(true);
    expect(getText(refused)).toContain("Refused; nothing was called.");
    expect(refused.structuredContent).toMatchObject({
      kind: "refused",
      error_type: "ValidationError",
      field: "code",
      suggestions: expect.arrayContaining(["TestSkill.add"]),
      retryable: false,
    });
  });

  test("calls a method as a tool [V1]", async () => {
    const { url } = await serveShared({ expose: "tools" });
    const client = await connect(url);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      ["add", "chatty", "fail", "greet", "large", "late", "pay", "picture", "rare", "slow"].map(
        (name) => `TestSkill__${name}`,
      ),
    );
    expect(tools[0]).toMatchObject({
      description: "Add two numbers",
      outputSchema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
      annotations: { readOnlyHint: true, idempotentHint: true },
    });
    const added = await client.callTool({ name: "TestSkill__add", arguments: { a: 1, b: 2 } });
    expect(added.structuredContent).toEqual({ sum: 3 });
    expect(getText(added)).toBe('{"sum":3}');
    const picture = await client.callTool({ name: "TestSkill__picture", arguments: {} });
    expect(picture.content).toEqual([
      { type: "text", text: "a picture" },
      { type: "image", data: "AQID", mimeType: "image/png" },
    ]);
  });

  test("returns a failed tool as a result with the data of the error [V3]", async () => {
    const { url } = await serveShared({ expose: "tools" });
    const client = await connect(url);
    const failed = await client.callTool({ name: "TestSkill__fail", arguments: {} });
    expect(failed).toMatchObject({
      isError: true,
      structuredContent: { error_type: "ToolExecution", reason: "no luck today", retryable: true },
    });
    expect(getText(failed)).toMatch(/^no luck today/);
    const late = await client.callTool({ name: "TestSkill__late", arguments: {} });
    expect(late.structuredContent).toMatchObject({
      error_type: "ToolTimeout",
      tool_name: "TestSkill__late",
      timeout_ms: 50,
    });
    const invalid = await client.callTool({ name: "TestSkill__add", arguments: { a: -1, c: 2 } });
    expect(invalid).toMatchObject({ isError: true, _meta: { "skillgate/error": { error_type: "ValidationError" } } });
    expect(getText(invalid)).toContain('"b" is required');
  });

  test("answers an unknown tool with an error that suggests the nearest name [V1]", async () => {
    const { url } = await serveShared();
    const client = await connect(url);
    await expect(client.callTool({ name: "run_cod", arguments: {} })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("Unknown tool: run_cod"),
      data: { error_type: "ToolNotFound", suggestions: ["run_code"] },
    });
  });

  test("receives progress of a method, and of the calls in a program [V1]", async () => {
    const { url } = await serveShared({ expose: "both" });
    const client = await connect(url);
    const steps: unknown[] = [];
    const onprogress = (step: unknown): unknown => steps.push(step);
    await call(client, "TestSkill__chatty", {}, { onprogress });
    expect(steps).toEqual([
      { progress: 1, total: 2, message: "half" },
      { progress: 2, total: 2 },
    ]);
    steps.length = 0;
    await call(client, "run_code", { code: "await device.TestSkill.add(1, 2)" }, { onprogress });
    expect(steps).toEqual([
      { progress: 1, message: "TestSkill.add …" },
      { progress: 2, message: expect.stringMatching(/^TestSkill\.add ok \(\d+ ms\)$/) },
    ]);
  });

  test("asks the user at the client a method's questions [V1]", async () => {
    const { url } = await serveShared({ expose: "tools" });
    const client = await connect(url);
    const asked: unknown[] = [];
    const answer = (params: unknown): ElicitResult => {
      asked.push(params);
      return { action: "accept", content: { name: "Ada" } };
    };
    onElicitation(client, answer);
    expect(getText(await client.callTool({ name: "TestSkill__greet", arguments: {} }))).toBe("Hello, Ada!");
    expect(asked).toMatchObject([{ message: "Who?" }]);
  });

  test(
    "asks the user at the client the questions of a folder's skill, as a tool and in a program [L3]",
    { tags: "rest" },
    async () => {
      const skillsDir = folder();
      writeFileSync(join(skillsDir, "seats.ts"), ASKING);
      const { url } = await serve({ expose: "both" }, { skillsDir });
      const client = await connect(url);
      onElicitation(client, ({ message }) => ({ action: "accept", content: { seat: `${message} 12A` } }));
      expect(getText(await client.callTool({ name: "SeatsSkill__choose", arguments: {} }))).toBe("Which seat? 12A");
      const code = "const seat = await device.SeatsSkill.choose(); `You sit at ${seat}`";
      const ran = await client.callTool({ name: "run_code", arguments: { code } });
      expect(getText(ran)).toBe("You sit at Which seat? 12A");
    },
  );

  test("pauses the program's clock while the user decides [S7]", { tags: "rest" }, async () => {
    const { url, runtime } = await serve({}, { limits: { wallMs: 1_500 } });
    const client = await connect(url);
    const code = "const hello = await device.TestSkill.greet(); `${hello} ${await device.TestSkill.pay()}`";
    // Each answer is sent after another program, started after the question, has exceeded its time limit.
    const thinks = async (): Promise<void> =>
      expect(await runtime.run("await device.TestSkill.slow()")).toMatchObject({ error: { code: "WALL_LIMIT" } });
    onElicitation(client, async ({ message }) => {
      await thinks();
      return { action: "accept", content: message === "Who?" ? { name: "Ada" } : { answer: "once" } };
    });
    expect(getText(await client.callTool({ name: "run_code", arguments: { code } }))).toBe("Hello, Ada! paid");
  });

  test("asks the user at the client to approve a call [P6]", async () => {
    const { url } = await serveShared({ expose: "both" });
    const client = await connect(url);
    const messages: string[] = [];
    let chosen = "once";
    const answer = ({ message }: { message: string }): ElicitResult => {
      messages.push(message);
      return { action: "accept", content: { answer: chosen } };
    };
    onElicitation(client, answer);
    expect(getText(await client.callTool({ name: "TestSkill__pay", arguments: {} }))).toBe("paid");
    const ran = await client.callTool({ name: "run_code", arguments: { code: "await device.TestSkill.pay()" } });
    expect(getText(ran)).toBe("paid");
    chosen = "no";
    const refused = await client.callTool({ name: "TestSkill__pay", arguments: {} });
    expect(refused.structuredContent).toMatchObject({ error_type: "AuthorizationError" });
    expect(messages).toHaveLength(3);
    for (const message of messages)
      expect(message).toContain('Allow this call?\n"owner" asks to call TestSkill.pay with\n{}\n  Pays\n');
  });

  test("stops the method of a cancelled call [V1]", async () => {
    const { url } = await serveShared({ expose: "both" });
    const client = await connect(url);
    const began = whenSlow("began");
    const aborted = whenSlow("aborted");
    const controller = new AbortController();
    const calling = call(client, "TestSkill__slow", {}, { signal: controller.signal });
    await began;
    controller.abort(new Error("not wanted any more"));
    await expect(calling).rejects.toThrow("not wanted any more");
    await aborted;
    expect(getText(await client.callTool({ name: "TestSkill__add", arguments: { a: 1, b: 1 } }))).toBe('{"sum":2}');
  });

  test("ends a cancelled program and the calls that it waits for [V1]", async () => {
    const { url } = await serveShared({ expose: "code" });
    const client = await connect(url);
    const began = whenSlow("began");
    const aborted = whenSlow("aborted");
    const controller = new AbortController();
    const calling = call(client, "run_code", { code: "await device.TestSkill.slow()" }, { signal: controller.signal });
    await began;
    controller.abort(new Error("not wanted any more"));
    await expect(calling).rejects.toThrow("not wanted any more");
    await aborted;
  });

  test("receives a notification when a tool is added [V1]", async () => {
    const { url, runtime } = await serve({ expose: "tools" });
    const client = await connect(url);
    await client.listTools();
    const changed = new Promise<void>((resolve) => {
      onToolsChanged(client, resolve);
    });
    if ("listen" in client) await client.listen({ toolsListChanged: true });
    runtime.register(oneMethodSkill("NewSkill"));
    await changed;
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("NewSkill__only");
  });
});

test("sends output of a program as it is printed [V1]", async () => {
  const { url } = await serveShared({ expose: "code" });
  const client = await oldClient(url);
  const { LoggingMessageNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const printed = new Promise((resolve) => {
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => resolve(params));
  });
  const began = whenSlow("began");
  const controller = new AbortController();
  const code = "print('on my way'); await device.TestSkill.slow()";
  const running = call(client, "run_code", { code }, { signal: controller.signal });
  await began;
  expect(await printed).toEqual({ level: "info", logger: "run_code", data: "on my way" });
  controller.abort(new Error("seen enough"));
  await expect(running).rejects.toThrow("seen enough");
});

test("lets a client lower the owner's time limit but not raise it [S7]", async () => {
  const { url } = await serve({ expose: "code" }, { limits: { wallMs: 200 } });
  const client = await newClient(url);
  const code = "await new Promise(() => setTimeout(() => {}, 10_000))";
  for (const [timeoutMs, timeout] of [
    [50, 50],
    [60_000, 200],
  ]) {
    const result = await client.callTool({ name: "run_code", arguments: { code, timeoutMs } });
    const facts = { kind: "failed", error_type: "ToolTimeout", tool_name: "run_code", timeout_ms: timeout };
    expect(result.structuredContent).toMatchObject(facts);
    expect(getText(result)).toContain(`the run took ${timeout} ms`);
  }
});

test("answers a cancelled request [V1]", async () => {
  const { url } = await serveShared({ expose: "tools" });
  const mcp = `${url}/mcp`;
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
  };
  const opened = await post(mcp, initialize);
  const headers = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  const began = whenSlow("began");
  const request = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "TestSkill__slow", arguments: {} } };
  const calling = post(mcp, request, headers);
  await began;
  await post(mcp, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } }, headers);
  expect((await calling).json).toMatchObject({
    jsonrpc: "2.0",
    id: 7,
    error: { code: -32003, data: { reason: expect.stringContaining("(CANCELLED)") } },
  });
});

test("selects the exposure by header or query, and rejects unknown values [V1]", async () => {
  const { url } = await serveShared({ expose: "code" });
  const byHeader = await oldClient(url, { "x-skillgate-expose": "tools" });
  expect((await byHeader.listTools()).tools).toHaveLength(10);
  const byQuery = await newClient(url, {}, "/mcp?expose=both");
  expect((await byQuery.listTools()).tools).toHaveLength(13);
  const wrong = await post(`${url}/mcp?expose=all`, {});
  expect(wrong).toMatchObject({
    status: 400,
    json: {
      error: { code: -32600, data: { field: "expose", suggestions: ["code", "calls", "tools", "both", "auto"] } },
    },
  });
});

test("lists methods with expose: auto only within the token budget [V1]", async () => {
  const { url } = await serveShared({ expose: "auto" });
  expect((await (await oldClient(url)).listTools()).tools).toHaveLength(13);
  const { url: dear } = await serveShared({ expose: "auto", budgetTokens: 100 });
  expect((await (await oldClient(dear)).listTools()).tools).toHaveLength(3);
});

test("lists the same tools in the same order each time [V1]", async () => {
  const skills = ["B", "A", "C"].map((name) => oneMethodSkill(`${name}Skill`));
  const { url } = await serve({ expose: "tools" }, { skills });
  const { url: other } = await serve({ expose: "tools" }, { skills: skills.toReversed() });
  const first = await (await oldClient(url)).listTools();
  expect((await (await oldClient(other)).listTools()).tools).toEqual(first.tools);
  expect(first.tools.map(({ name }) => name)).toEqual(["ASkill__only", "BSkill__only", "CSkill__only"]);
});

test("uses raw names if they are plain and unique [V1]", async () => {
  const skills = [oneMethodSkill("ASkill"), oneMethodSkill("BSkill"), oneMethodSkill("CSkill", "third")];
  const { url } = await serve({ expose: "tools", names: "raw" }, { skills });
  const { tools } = await (await oldClient(url)).listTools();
  expect(tools.map(({ name }) => name)).toEqual(["ASkill__only", "BSkill__only", "third"]);
});

test("marks a large result as cut, and serves the rest in parts [V1]", async () => {
  const { url } = await serveShared({ expose: "tools" });
  const client = await oldClient(url);
  const result = await client.callTool({ name: "TestSkill__large", arguments: { size: 300_000 } });
  const [text, note, link] = result.content as { text: string; type: string; uri: string }[];
  expect(text?.text).toHaveLength((256 << 10) + 1);
  expect(note?.text).toMatch(/^Note: the result has 300000 characters and was cut; read the rest in parts at result:/);
  expect(link).toMatchObject({ type: "resource_link", size: 300_000 });
  const part = await client.readResource({ uri: `${link?.uri}?offset=299990&length=100` });
  expect(part.contents).toMatchObject([
    { text: "x".repeat(10), _meta: { "skillgate/part": { offset: 299_990, total: 300_000 } } },
  ]);
});

test("lists at most 1500 tokens of tools with expose: code, whatever the catalog [V1]", async () => {
  const { url } = await serve({ expose: "code" }, { skills: recordedSkills() });
  const { json } = await openAndList(url);
  // A token is about four characters; the definitions of all methods would cost about 50,000 tokens.
  expect(JSON.stringify(json.result.tools).length / 4).toBeLessThan(1_500);
});

const ASKING = `
  /** Lets the user choose a seat. */
  export async function choose(context: CallContext): Promise<string> {
    const requestedSchema = { type: "object", properties: { seat: { type: "string" } }, required: ["seat"] };
    const answer = await context.client?.ask("elicitation/create", { message: "Which seat?", requestedSchema });
    return answer.content.seat;
  }
`;

function oneMethodSkill(name: string, method = "only"): ProvidedSkill {
  return {
    name,
    description: `Is ${name}`,
    source: "code",
    kind: "code",
    methods: [{ name: method, description: "Does one thing", input: { type: "object" } }],
    invoke: () => Promise.resolve("done"),
  };
}

/** The recorded catalogs of real servers, as skills. */
function recordedSkills(): readonly ProvidedSkill[] {
  const folder = "test/fixtures/mcp/tools";
  return readdirSync(folder).map((file) => {
    const { tools } = JSON.parse(readFileSync(join(folder, file), "utf8"));
    return {
      ...oneMethodSkill(`${file.replace(/\W.*/, "")}MCP`),
      methods: tools.map((tool: { name: string; description: string; inputSchema: object }) => ({
        name: tool.name.replaceAll(/\W/g, "_"),
        description: tool.description,
        input: tool.inputSchema,
      })),
    };
  });
}

async function openAndList(url: string) {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  const opened = await post(`${url}/mcp`, { jsonrpc: "2.0", id: 1, method: "initialize", params });
  const headers = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  return post(`${url}/mcp`, { jsonrpc: "2.0", id: 2, method: "tools/list" }, headers);
}

/** Passes request options, which the two generations take in different places. */
function call(
  client: Awaited<ReturnType<(typeof CLIENTS)[number][1]>>,
  name: string,
  args: Record<string, unknown>,
  options: { readonly signal?: AbortSignal; readonly onprogress?: (step: unknown) => unknown },
): Promise<unknown> {
  const request = { name, arguments: args };
  return "listen" in client ? client.callTool(request, options) : client.callTool(request, undefined, options);
}

function getText(result: unknown): string {
  const { content } = result as { content: readonly { type: string; text?: string }[] };
  return content.map(({ text }) => text ?? "").join("\n");
}
