import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";

import { RPC_ERRORS } from "../../../src/shared/rpc-errors.ts";
import type { ProvidedSkill } from "../../../src/model/skill.ts";
import { type Parsed, post, serve, slow, whenSlow } from "../serving.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const TRACED = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };

const call = (name: string, args: object = {}, id: unknown = 1): object => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

describe("JSON-RPC errors [V3]", () => {
  const data = (error_type: string, reason: string, more: object = {}): object => ({
    error_type,
    reason,
    trace_id: TRACE,
    suggestions: [],
    retryable: false,
    ...more,
  });
  const unknown = "Unknown method: TestSkill.ad; did you mean TestSkill.add? (METHOD_UNKNOWN)";
  const invalid =
    'Cannot call a method with these arguments: "b" is required; "a" must be at least 0, is -1; use TestSkill.add(a: number, b: number): Promise<{ sum: number }> (ARGUMENTS_INVALID)';

  test.each([
    [
      "{",
      null,
      -32700,
      "Parse error",
      data("ParseError", "The body is not valid JSON", {
        suggestions: [expect.stringContaining("JSON at position 1")],
      }),
    ],
    [[], null, -32600, "Invalid Request", data("InvalidRequest", "A batch must have at least one message")],
    [7, null, -32600, "Invalid Request", data("InvalidRequest", "A message must be an object")],
    [{ id: "x", method: "health" }, "x", -32600, "Invalid Request", data("InvalidRequest", 'jsonrpc must be "2.0"')],
    [{ jsonrpc: "2.0", id: 3 }, 3, -32600, "Invalid Request", data("InvalidRequest", "method must be a string")],
    [
      { jsonrpc: "2.0", id: {}, method: "health" },
      null,
      -32600,
      "Invalid Request",
      data("InvalidRequest", "id must be a string, a number or null"),
    ],
    [
      { jsonrpc: "2.0", id: 4, method: "tools/cal" },
      4,
      -32601,
      "Method not found",
      data("MethodNotFound", "Unknown method: tools/cal; did you mean tools/call or tools/list?", {
        suggestions: ["tools/call", "tools/list"],
      }),
    ],
    [
      { jsonrpc: "2.0", id: 5, method: "__proto__" },
      5,
      -32601,
      "Method not found",
      data("MethodNotFound", "Unknown method: __proto__"),
    ],
    [
      { jsonrpc: "2.0", id: 6, method: "tools/call", params: {} },
      6,
      -32602,
      "Invalid params",
      data("InvalidParams", "name is required", { field: "name" }),
    ],
    [
      { jsonrpc: "2.0", id: 6, method: "tools/call", params: [1] },
      6,
      -32602,
      "Invalid params",
      data("InvalidParams", "params must be an object with named members"),
    ],
    [
      call("TestSkill.add", { a: -1 }),
      1,
      -32001,
      "Validation error",
      data("ValidationError", invalid, { field: "b", suggestions: ["b is required", "a must be at least 0, is -1"] }),
    ],
    [
      call("TestSkill.ad"),
      1,
      -32002,
      "Tool not found",
      data("ToolNotFound", unknown, { suggestions: ["TestSkill.add"] }),
    ],
    [
      call("TestSkill.fail"),
      1,
      -32003,
      "Tool execution error",
      data("ToolExecution", "no luck today", {
        suggestions: ["Read the message; catch the error if the program can continue without it"],
        retryable: true,
      }),
    ],
    [
      call("TestSkill.late"),
      1,
      -32003,
      "Tool execution timeout",
      data("ToolTimeout", "Tool 'TestSkill.late' timed out after 0.05s", {
        tool_name: "TestSkill.late",
        timeout_ms: 50,
        suggestions: ["Ask for less at once", "Raise the timeout of the method"],
        retryable: true,
      }),
    ],
    [
      call("TestSkill.pay"),
      1,
      -32005,
      "Authorization error",
      data(
        "AuthorizationError",
        expect.stringMatching(
          /^Cannot call a method without an approval: caller "owner" calls "TestSkill.pay"; request \w{10} waits for an answer \(APPROVAL_MISSING\)$/,
        ),
        { suggestions: ["Ask the user to approve exactly this call"] },
      ),
    ],
  ])("answers %j with the exact error [V3]", async (body, id, code, message, data) => {
    const { url } = await serve();
    const { json } = await post(`${url}/rpc`, body, TRACED);
    expect(json).toEqual({ jsonrpc: "2.0", id, error: { code, message, data } });
  });

  test("answers a request without a token with AuthenticationError [V3]", async () => {
    const { url } = await serve({}, {}, (token) => token === "right");
    const { json } = await post(`${url}/rpc`, { jsonrpc: "2.0", id: 1, method: "health" }, TRACED);
    expect(json).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: {
        code: -32004,
        message: "Authentication error",
        data: {
          error_type: "AuthenticationError",
          reason: "A valid bearer token is missing",
          trace_id: TRACE,
          suggestions: [
            "Send the header Authorization: Bearer with a key of skillgate keys create, or the token that the server printed at its first start",
            "If the token is lost, create a new one with skillgate serve --http --new-token",
          ],
          retryable: false,
        },
      },
    });
  });

  test("hides the details of an internal error [V3]", async () => {
    const { url, runtime } = await serve();
    Object.defineProperty(runtime, "catalogFor", {
      value: () => {
        throw new Error("/home/secret");
      },
    });
    const { json } = await post(`${url}/rpc`, { jsonrpc: "2.0", id: 1, method: "tools/list" }, TRACED);
    expect(json.error).toEqual({
      code: -32603,
      message: "Internal error",
      data: data("InternalError", "Internal server error", { retryable: true }),
    });
  });

  test("covers every error kind and code [V3]", () => {
    const codes = Object.entries(RPC_ERRORS).map(([kind, { code, retryable }]) => [kind, code, retryable]);
    expect(codes).toEqual([
      ["ParseError", -32700, false],
      ["InvalidRequest", -32600, false],
      ["MethodNotFound", -32601, false],
      ["InvalidParams", -32602, false],
      ["InternalError", -32603, true],
      ["ValidationError", -32001, false],
      ["ToolNotFound", -32002, false],
      ["ToolExecution", -32003, true],
      ["ToolTimeout", -32003, true],
      ["AuthenticationError", -32004, false],
      ["AuthorizationError", -32005, false],
    ]);
  });
});

test("calls, validates, describes, lists and reads [V2]", async () => {
  const { url } = await serve();
  const rpc = async (method: string, params: object = {}): Promise<Parsed> =>
    (await post(`${url}/rpc`, { jsonrpc: "2.0", id: "i", method, params })).json.result;
  expect(await rpc("tools/call", { name: "TestSkill.add", arguments: { a: 1, b: 2 } })).toEqual({
    success: true,
    data: { sum: 3 },
    execution_time: expect.any(Number),
    tool_name: "TestSkill.add",
  });
  expect((await rpc("tools/call", { name: "TestSkill__add", arguments: { a: 1, b: 2 } })).data).toEqual({ sum: 3 });
  expect((await rpc("tools/call", { name: "add", arguments: { a: 1, b: 2 } })).data).toEqual({ sum: 3 });
  const ran = await rpc("tools/call", { name: "run_code", arguments: { code: "1 + 1" } });
  expect(ran.data).toMatchObject({ kind: "completed", value: 2, calls: [] });
  expect(await rpc("tools/validate", { name: "TestSkill.add", arguments: { a: -1, c: 1 } })).toEqual({
    valid: false,
    errors: [
      { field: "b", type: "field_missing", reason: "is required", suggestions: [] },
      { field: "a", type: "below_minimum", reason: "must be at least 0, is -1", suggestions: [] },
      { field: "c", type: "unknown_field", reason: "is not an argument, valid are a, b", suggestions: [] },
    ],
  });
  expect(await rpc("tools/validate", { name: "run_code", arguments: { code: "1" } })).toEqual({
    valid: true,
    errors: [],
  });
  const { schema, examples, metadata } = await rpc("tools/schema", { name: "TestSkill.add" });
  expect(schema).toMatchObject({ name: "TestSkill.add", inputSchema: { required: ["a", "b"] } });
  expect(examples).toHaveLength(1);
  expect(metadata).toEqual({ category: "general", version: "1.0.0", deprecated: false, author: "" });
  const { tools, generated_at } = await rpc("tools/list");
  expect(tools.map(({ name }: { name: string }) => name).slice(0, 4)).toEqual([
    "search_skills",
    "describe_function",
    "run_code",
    "TestSkill.add",
  ]);
  expect(new Date(generated_at).toISOString()).toBe(generated_at);
  const { resources } = await rpc("resources/list");
  expect(resources.map(({ uri }: { uri: string }) => uri)).toContain("skillgate://skills/TestSkill");
  const page = await rpc("resources/read", { uri: "skillgate://skills/TestSkill" });
  expect(page.contents[0].text).toContain("Use it in tests only.");
  expect(await rpc("health")).toEqual({
    status: "healthy",
    uptime_seconds: expect.any(Number),
    tools_count: 13,
    request_count: 10,
  });
});

test("answers with the whole of a large result of a program, at /rpc and /tools [V2]", async () => {
  const { url } = await serve();
  const input = { code: "({ rows: Array.from({ length: 2_000 }, (_, id) => ({ id, name: `row $& ${id}` })) })" };
  const { json: answer } = await post(`${url}/rpc`, call("run_code", input));
  const { rows } = answer.result.data.value;
  expect([rows.length, rows[1_999]]).toEqual([2_000, { id: 1_999, name: "row $& 1999" }]);
  const { json: tool } = await post(`${url}/tools/run_code`, input);
  expect(tool.data.value).toEqual({ rows });
});

test("answers batches and notifications as JSON-RPC specifies, and echoes ids as sent [V2]", async () => {
  const { url } = await serve();
  const notification = { jsonrpc: "2.0", method: "health" };
  expect(await post(`${url}/rpc`, notification)).toMatchObject({ status: 204, json: undefined });
  expect(await post(`${url}/rpc`, [notification, notification])).toMatchObject({ status: 204, json: undefined });
  const ids = ["a", 0, 1.5, null, ""];
  const batch = [...ids.map((id) => ({ ...notification, id })), notification, { jsonrpc: "2.0" }];
  const { json } = await post(`${url}/rpc`, batch);
  expect(json.map(({ id }: { id: unknown }) => id)).toEqual([...ids, null]);
  expect(json.at(-1).error.code).toBe(-32600);
  const many = await post(
    `${url}/rpc`,
    Array.from({ length: 101 }, () => notification),
  );
  expect(many.json.error.data.reason).toBe("A batch may have at most 100 messages, this one has 101");
});

test("accepts a token beside the parameters of a message [V2]", async () => {
  const { url } = await serve({}, {}, (token) => token === "right");
  const message = (token: unknown): object => ({
    jsonrpc: "2.0",
    id: 1,
    method: "health",
    auth: { type: "bearer", token },
  });
  expect((await post(`${url}/rpc`, message("right"))).json.result.status).toBe("healthy");
  expect((await post(`${url}/rpc`, message("wrong"))).json.error.code).toBe(-32004);
  expect((await post(`${url}/rpc`, message(["right"]))).json.error.code).toBe(-32004);
});

test("streams notifications of a call, and a large result in parts [V5]", async () => {
  const { url } = await serve();
  const headers = { "content-type": "application/json", accept: "text/event-stream" };
  const chatty = await fetch(`${url}/rpc`, {
    method: "POST",
    headers,
    body: JSON.stringify(call("TestSkill.chatty", {}, 9)),
  });
  expect(events(await chatty.text())).toEqual([
    notice("tools/progress", { tool: "TestSkill.chatty", state: "running", progress: 1, total: 2, message: "half" }),
    notice("tools/log", { tool: "TestSkill.chatty", level: "warn", text: "look out" }),
    notice("tools/progress", { tool: "TestSkill.chatty", state: "running", progress: 2, total: 2 }),
    { event: "message", data: { jsonrpc: "2.0", id: 9, result: expect.objectContaining({ data: "done" }) } },
  ]);
  const large = await fetch(`${url}/tools/TestSkill.large`, { method: "POST", headers, body: '{"size": 150000}' });
  const sent = events(await large.text());
  const parts = sent.filter(({ event }) => event === "part").map(({ data }) => data.text);
  expect(JSON.parse(parts.join(""))).toBe("x".repeat(150_000));
  expect(sent.at(-1)).toMatchObject({ event: "result", data: { success: true, data: null, parts: 3 } });
});

test("answers calls over a WebSocket with progress, and cancels them when it closes [V2]", async () => {
  const { url } = await serve({}, {}, (token) => token === "right");
  const socket = await openSocket(url, { authorization: "Bearer right" });
  expect(await socket.ask("{")).toMatchObject({ id: null, error: { code: -32700 } });
  expect(await socket.ask(call("TestSkill.add", { a: 1, b: 2 }, "s"))).toMatchObject({
    id: "s",
    result: { data: { sum: 3 } },
  });
  const began = whenSlow("began");
  const aborted = whenSlow("aborted");
  expect(await socket.ask(call("TestSkill.slow", {}, "slow"))).toMatchObject({
    method: "tools/progress",
    params: { id: "slow", progress: 1, total: 10, message: "waiting" },
  });
  await began;
  socket.close();
  await aborted;
  const stranger = await openSocket(url);
  expect(await stranger.ask(call("TestSkill.add", { a: 1, b: 2 }))).toMatchObject({ error: { code: -32004 } });
  await expect(openSocket(url, { host: "evil.example.com" })).rejects.toThrow("403");
  await expect(openSocket(url, { origin: "https://evil.example.com" })).rejects.toThrow("403");
  slow.began = () => {};
});

test(
  "closes a WebSocket with a reason for too large a message, and answers any number of calls [V6]",
  { tags: "rest" },
  async () => {
    const { url } = await serve({ bodyBytes: 10_000 });
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws`);
    const closed = once(socket, "close");
    await once(socket, "open");
    const answers: Parsed[] = [];
    const answered = new Promise<void>((resolve) => {
      socket.on("message", (data) => {
        answers.push(JSON.parse((data as Buffer).toString()));
        if (answers.length === 500) resolve();
      });
    });
    for (let id = 0; id < 500; id++) socket.send(JSON.stringify(call("TestSkill.add", { a: id, b: 1 }, id)));
    await answered;
    expect(answers.every(({ id, result }) => result.data.sum === id + 1)).toBe(true);
    socket.send("x".repeat(20_000));
    expect((await closed)[0]).toBe(1009);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  },
);

test("reads a resource with values that JSON cannot represent over a WebSocket [V2]", async () => {
  const { url } = await serve({}, { skills: [ODD_SKILL] });
  const socket = await openSocket(url);
  const read = { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: "odd://one" } };
  expect(await socket.ask(read)).toMatchObject({ id: 1, result: { contents: [{ uri: "odd://one", size: "10" }] } });
});

const ODD_SKILL: ProvidedSkill = {
  name: "OddSkill",
  description: "Is odd",
  source: "code",
  kind: "code",
  methods: [{ name: "one", description: "Is one", input: { type: "object" } }],
  invoke: async () => 1,
  offers: {
    resources: [{ uri: "odd://one", name: "one" }],
    templates: [],
    prompts: [],
    prompt: async () => ({ messages: [] }),
    read: async (uri) => ({ contents: [{ uri, text: "one", size: 10n }] }),
  },
};

test("answers the calls of a WebSocket before the server closes [V6]", async () => {
  const { url, close } = await serve({ drainSeconds: 5 });
  const socket = await openSocket(url);
  const began = whenSlow("began");
  const code = `await Promise.race([device.TestSkill.slow(), new Promise((resolve) => setTimeout(resolve, 300))]); "answered"`;
  const progress = socket.ask(call("run_code", { code }, 1));
  await began;
  expect(await progress).toMatchObject({ method: "tools/progress" });
  const answered = socket.until(({ id }) => id === 1);
  await close();
  expect(await answered).toMatchObject({ result: { data: { value: "answered" } } });
});

interface SentEvent {
  readonly event: string | undefined;
  readonly data: Parsed;
}

function events(text: string): readonly SentEvent[] {
  return text
    .split("\n\n")
    .filter((part) => part.startsWith("event:"))
    .map((part) => ({
      event: /^event: (.*)$/m.exec(part)?.[1],
      data: JSON.parse(/^data: (.*)$/m.exec(part)?.[1] ?? "null"),
    }));
}

function notice(method: string, params: object): SentEvent {
  return { event: "message", data: { jsonrpc: "2.0", method, params: { id: 9, ...params } } };
}

async function openSocket(url: string, headers: Readonly<Record<string, string>> = {}) {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers });
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  return {
    close: () => socket.close(),
    /** Waits for the first message that matches. */
    until: (fits: (message: Parsed) => boolean): Promise<Parsed> =>
      new Promise((resolve) => {
        socket.on("message", (data) => {
          const message = JSON.parse((data as Buffer).toString());
          if (fits(message)) resolve(message);
        });
      }),
    ask: (message: unknown): Promise<Parsed> =>
      new Promise((resolve) => {
        socket.once("message", (data) => resolve(JSON.parse((data as Buffer).toString())));
        socket.send(typeof message === "string" ? message : JSON.stringify(message));
      }),
  };
}
