// @module-tag rest

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { openDatabase } from "../../../src/store/index.ts";
import { ROOT } from "../../support/mcp/servers.ts";
import { createShop, type ProcessEvent, startProcess } from "../refund-process.ts";

const RESULT = { content: [{ type: "text", text: "done" }] };
const WORKING = { status: "working", pollIntervalMs: 100, pollInterval: 100 };
const COMPLETED = { job: [{ status: "completed", result: RESULT }] };

interface Facts {
  readonly modern?: boolean;
  readonly annotations?: object;
  /** The task of the tool when the second process continues the run. */
  readonly later: Readonly<Record<string, readonly object[]>>;
  /** Changes the entry of the server before the second process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Kills a process that waits for a task; another one continues its run. Returns the requests to the servers of each. */
async function continueAfterKill({ modern = true, annotations = {}, later, env }: Facts): Promise<{
  readonly outcome: ProcessEvent;
  readonly first: readonly string[];
  readonly second: readonly string[];
  readonly state: string | undefined;
}> {
  const shop = createShop();
  const file = join(dirname(shop.log), "server.json");
  const logs = ["first.log", "second.log"].map((name) => join(dirname(shop.log), name));
  const [firstLog = "", secondLog = ""] = logs;
  const tool = { name: "job", annotations, execution: { taskSupport: "required" } };
  const capabilities = { tools: {}, tasks: { requests: { tools: { call: {} } } } };
  const describe = (log: string, tasks: object): void =>
    writeFileSync(file, JSON.stringify({ modern, tools: [tool], log, tasks, ...(!modern && { capabilities }) }));
  const entry = { command: process.execPath, args: [join(ROOT, "test/fixtures/mcp/described-server.js"), file] };
  const withServer = (server: object) => ({ MCP_SERVERS: JSON.stringify({ jobs: server }) });
  const readLog = (log: string): readonly string[] =>
    (existsSync(log) ? readFileSync(log, "utf8").split("\n") : []).filter((line) => /^(?:tools.call|tasks)/.test(line));

  describe(firstLog, { job: [WORKING] });
  const first = startProcess(shop, ["run", "await device.JobsMCP.job()"], withServer(entry));
  await expect.poll(() => readLog(firstLog), { timeout: 30_000 }).toContain("tasks/get");
  await first.kill("SIGKILL");
  describe(secondLog, later);
  const second = startProcess(shop, ["follow"], withServer({ ...entry, ...(env && { env }) }));
  const outcome = await second.next("outcome");
  await using database = await openDatabase({ folder: shop.store });
  const [row] = await database.runs.list({});
  return { outcome, first: readLog(firstLog), second: readLog(secondLog), state: row?.state };
}

const isMade = (method: string): boolean => method === "tools/call";

test.each([
  [true, ["tasks/get"]],
  [false, ["tasks/get", "tasks/result"]],
])(
  "waits for the task of a call after kill -9, and makes no other call (2026: %s) [R3] [M3]",
  async (modern, asked) => {
    const { outcome, first, second } = await continueAfterKill({ modern, later: COMPLETED });
    expect(outcome).toMatchObject({ kind: "completed", value: "done" });
    expect(first.filter(isMade)).toHaveLength(1);
    expect(second).toEqual(asked);
  },
);

test("continues to wait for a task that works, and gets its error [R3] [M3]", async () => {
  const failed = { status: "failed", error: { code: -32_603, message: "no disk" } };
  const { outcome, second, state } = await continueAfterKill({ later: { job: [WORKING, WORKING, failed] } });
  expect(outcome).toMatchObject({ kind: "failed", text: expect.stringContaining("no disk") });
  expect(second.filter((method) => method !== "tasks/get")).toEqual([]);
  expect(state).toBe("failed");
});

test.each<[string, Facts, readonly string[]]>([
  ["that the server does not know", { later: {} }, ["tasks/get"]],
  ["of another entry", { later: COMPLETED, env: { OTHER: "1" } }, []],
  ["that is not the one that was asked for", { later: { job: [{ taskId: "other", ...WORKING }] } }, ["tasks/get"]],
])("never repeats a call with a task %s [R3] [S5]", async (_what, facts, asked) => {
  const { outcome, second, state } = await continueAfterKill(facts);
  expect(outcome).toMatchObject({ kind: "failed", text: expect.stringContaining("JobsMCP.job, call 1") });
  expect(outcome.text).toContain("CALL_END_UNKNOWN");
  expect(second).toEqual(asked);
  expect(state).toBe("unknown");
});

test("makes a harmless call again whose task the server does not know [R3]", async () => {
  const { outcome, second } = await continueAfterKill({ annotations: { idempotentHint: true }, later: {} });
  expect(outcome).toMatchObject({ kind: "completed" });
  expect(second).toEqual(["tasks/get", "tools/call"]);
});
