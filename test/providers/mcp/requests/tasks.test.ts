import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { expect, onTestFinished, test, vi } from "vitest";

import { toServerConfig } from "../../../../src/config/index.ts";
import type { CallContext } from "../../../../src/model/skill.ts";
import type { McpProvider } from "../../../../src/providers/mcp/index.ts";
import { serve } from "../../../support/mcp/http-servers.ts";
import { connected, createContext, installed, ROOT } from "../../../support/mcp/servers.ts";

interface Received {
  readonly method: string;
  readonly taskId?: string;
  readonly inputResponses?: object;
}

const DONE = { content: [{ type: "text", text: "done" }] };
const FAST = { pollIntervalMs: 1 };

/** A server of 2026-07-28 whose tool `job` is a task with these states. */
async function withTask(states: readonly object[]): Promise<{
  readonly run: (context?: Partial<CallContext>) => Promise<unknown>;
  readonly received: () => Promise<readonly Received[]>;
}> {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-tasks-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "server.json");
  writeFileSync(file, JSON.stringify({ modern: true, tools: [{ name: "job" }], tasks: { job: states } }));
  const args = ["test/fixtures/mcp/described-server.js", file];
  const provider = await connected([toServerConfig("tasks", { command: process.execPath, args }, { cwd: ROOT })]);
  const call = (tool: string, context: Partial<CallContext> = {}): Promise<unknown> =>
    provider.call("tasks", tool, {}, createContext(context));
  return {
    run: (context) => call("job", context),
    received: async () => ((await call("received")) as { readonly received: readonly Received[] }).received,
  };
}

async function findCancelled(received: () => Promise<readonly Received[]>): Promise<Received | undefined> {
  return (await received()).find(({ method }) => method === "tasks/cancel");
}

test("waits for a task of a server, with its progress [M3]", async () => {
  const { run, received } = await withTask([
    { ...FAST, statusMessage: "queued" },
    { status: "working", statusMessage: "half", ...FAST },
    { status: "working", statusMessage: "half", ...FAST },
    { status: "completed", result: DONE },
  ]);
  const progress: unknown[] = [];
  expect(await run({ progress: (...steps) => void progress.push(steps) })).toBe("done");
  expect(progress).toEqual([
    [1, undefined, "queued"],
    [2, undefined, "half"],
  ]);
  expect(await findCancelled(received)).toBeUndefined();
});

test.each([
  [{ status: "completed", result: { ...DONE, isError: true } }, "done"],
  [{ status: "failed", error: { code: -32_603, message: "broken" } }, "broken"],
  [{ status: "failed", statusMessage: "no disk" }, "no disk"],
  [{ status: "failed", error: 5 }, "the task has failed"],
  [{ status: "cancelled" }, "the server has cancelled the task"],
])("fails as the task %j [M3]", async (state, message) => {
  const { run, received } = await withTask([FAST, state]);
  await expect(run()).rejects.toThrow(message);
  expect(await findCancelled(received)).toBeUndefined();
});

test.each([
  [[FAST, { status: "done" }], 'is "done"'],
  [[FAST, {}], "is undefined"],
  [[FAST, { taskId: "other", status: "working" }], "for another task"],
  [[FAST, { status: "completed" }], "without a result"],
  [[FAST, { status: "completed", result: "text" }], "without a result"],
  [[FAST, { status: "input_required", inputRequests: { a: { method: "tools/call" } } }], "which no client answers"],
  [[FAST, { status: "input_required", inputRequests: { a: null } }], "which no client answers"],
])("refuses the task %j, and cancels it [M3] [S5]", { tags: "rest" }, async (states, message) => {
  const { run, received } = await withTask(states);
  await expect(run()).rejects.toThrow(message);
  await vi.waitFor(async () => expect(await findCancelled(received)).toBeDefined());
});

test.each([[{ taskId: 5 }], [{ taskId: "" }], [{ taskId: "x".repeat(1_025) }]])(
  "refuses a task with a bad id [S5]",
  { tags: "rest" },
  async (first) => {
    const { run } = await withTask([first]);
    await expect(run()).rejects.toThrow("a text of 1 to 1024 characters");
  },
);

test.each([[0], [-5], ["soon"], [1e12], [null]])(
  "polls a task with the interval %j within limits, and cancels it when the call is stopped [M3] [S5]",
  { tags: "rest" },
  async (pollIntervalMs) => {
    const { run, received } = await withTask([{ pollIntervalMs }, { status: "working", pollIntervalMs }]);
    const stop = new AbortController();
    const running = run({ signal: stop.signal });
    running.catch(() => {});
    if (pollIntervalMs === 1e12)
      await vi.waitFor(async () => expect(await received()).toContainEqual({ method: "tools/call" }));
    else
      await vi.waitFor(async () => expect(await received()).toContainEqual({ method: "tasks/get", taskId: "job" }), {
        timeout: 5_000,
      });
    stop.abort(new Error("stopped"));
    await expect(running).rejects.toThrow("stopped");
    await vi.waitFor(async () => expect(await findCancelled(received)).toMatchObject({ taskId: "job" }));
    const polls = (await received()).filter(({ method }) => method === "tasks/get").length;
    expect(polls).toBeLessThan(60);
  },
);

test("answers each question of a task once, by the client of its call [M3]", async () => {
  const question = (message: string) => ({ method: "elicitation/create", params: { message, requestedSchema: {} } });
  const asks = (...keys: string[]) => ({
    status: "input_required",
    inputRequests: Object.fromEntries(keys.map((key) => [key, question(key)])),
    ...FAST,
  });
  const { run, received } = await withTask([
    FAST,
    asks("a:1"),
    asks("a:1", "b"),
    { status: "completed", result: DONE },
  ]);
  const asked: unknown[] = [];
  const client = {
    can: () => true,
    ask: async (_request: string, { message }: Readonly<Record<string, unknown>>) => {
      asked.push(message);
      return { action: "accept", content: { is: message } };
    },
  };
  expect(await run({ client })).toBe("done");
  expect(asked).toEqual(["[tasks asks] a:1", "[tasks asks] b"]);
  const updates = (await received()).flatMap(({ inputResponses }) => inputResponses ?? []);
  expect(updates).toEqual(
    ["a:1", "b"].map((key) => ({ [key]: { action: "accept", content: { is: `[tasks asks] ${key}` } } })),
  );
});

test(
  "calls a tool of 2025-11-25 that runs only as a task, and answers its question [M3]",
  { tags: "rest", timeout: 60_000 },
  async () => {
    const client = {
      can: () => true,
      ask: async () => ({ action: "accept", content: { interpretation: "technical" } }),
    };
    const provider: McpProvider = await connected([installed("everything")], { client });
    const progress: unknown[] = [];
    const input = { topic: "python", ambiguous: true };
    const context = createContext({ client, progress: (...steps) => void progress.push(steps[2]) });
    const value = await provider.call("everything", "simulate-research-query", input, context);
    expect(JSON.stringify(value)).toContain("# Research Report: python");
    expect(progress.length).toBeGreaterThan(0);
  },
);

test("says of a task whose session has ended that it has begun, not to call again [M3]", async () => {
  const asked: string[] = [];
  const task = { taskId: "t1", status: "working", pollInterval: 100 };
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
      serverInfo: { name: "bank", version: "1" },
    },
    "tools/list": {
      tools: [{ name: "pay", inputSchema: { type: "object" }, execution: { taskSupport: "required" } }],
    },
    "tools/call": { task },
  };
  const server = await serve(async (request, response) => {
    const { id, method } = JSON.parse((await text(request)) || "{}") as { id?: number; method?: string };
    if (method?.startsWith("to") === true || method?.startsWith("ta") === true) asked.push(method);
    if (method === undefined) return void response.writeHead(405).end();
    if (id === undefined) return void response.writeHead(202).end();
    const result = results[method];
    if (result === undefined) return void response.writeHead(404).end();
    const headers = { "content-type": "application/json", "mcp-session-id": "s1" };
    response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  const provider = await connected([toServerConfig("bank", { url: server.url, protocol: "legacy" })]);
  await expect(provider.call("bank", "pay", {}, createContext())).rejects.toMatchObject({
    code: "CALL_FAILED",
    message: expect.stringContaining("the task has begun, and the server says no more of it (HTTP 404)") as string,
  });
  expect(asked.filter((method) => method === "tools/call")).toHaveLength(1);
});
