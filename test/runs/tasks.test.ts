// @module-tag rest

import { expect, test } from "vitest";

import { skillgate } from "../surfaces/cli/command.ts";
import { connectHttp, connectStdio, type Task, type TaskClient } from "../surfaces/mcp/task-client.ts";
import { createRefundProject, REFUNDED, serveProject, THREE_REFUNDS } from "./refund-server.ts";

const isAsking = ({ status }: Task): boolean => status === "input_required";
const isCompleted = ({ status }: Task): boolean => status === "completed";

const COMPLETED = { status: "completed", result: { structuredContent: { kind: "completed", value: REFUNDED } } };

/** Begins a run whose question is asked in its task, and returns the id. */
async function beginTask(client: TaskClient): Promise<string> {
  return String((await client.call("run_code", { code: THREE_REFUNDS }))["taskId"]);
}

/** Answers the only question of a task. */
async function answer(client: TaskClient, id: string, choice: string): Promise<void> {
  const { inputRequests = {} } = await client.waitUntil(id, isAsking);
  const [key = ""] = Object.keys(inputRequests);
  expect(inputRequests[key]).toMatchObject({
    method: "elicitation/create",
    params: { message: expect.stringContaining("asks to call OrderSkill.refundLarge") },
  });
  await client.update(id, { [key]: { action: "accept", content: { answer: choice } } });
}

test("asks in a task for the approval that a run waits for, also after kill -9 of the server [R2, R9]", async () => {
  const shop = createRefundProject();
  const first = await serveProject(shop);
  const id = await beginTask(await connectHttp(first.url, { canAsk: false }));
  const before = await connectHttp(first.url);
  const asked = await before.waitUntil(id, isAsking);
  await first.kill("SIGKILL");
  expect(shop.readEffects()).toEqual(["1"]);

  const second = await serveProject(shop);
  const client = await connectHttp(second.url);
  const again = await client.get(id);
  expect(again).toMatchObject({ taskId: id, status: "input_required", createdAt: asked.createdAt });
  expect(Object.keys(again.inputRequests ?? {})).toEqual(Object.keys(asked.inputRequests ?? {}));
  await answer(client, id, "once");
  expect(await client.waitUntil(id, isCompleted)).toMatchObject(COMPLETED);
  expect(shop.readEffects()).toEqual(["1", "2", "3"]);
  await second.kill("SIGKILL");

  const third = await serveProject(shop);
  expect(await (await connectHttp(third.url)).get(id)).toMatchObject(COMPLETED);
});

test("continues the task of a client over stdio after kill -9 of the server [R2, R9]", async () => {
  const shop = createRefundProject();
  const first = await connectStdio(shop.cwd, { canAsk: false });
  const id = await beginTask(first);
  await shop.findQuestion();
  const closed = new Promise<void>((resolve) => (first.client.onclose = resolve));
  process.kill(first.pid, "SIGKILL");
  await closed;
  const second = await connectStdio(shop.cwd);
  await answer(second, id, "no");
  expect(await second.waitUntil(id, isCompleted)).toMatchObject({
    status: "completed",
    result: { isError: true, structuredContent: { kind: "failed" } },
  });
  expect(shop.readEffects()).toEqual(["1"]);
});

test("says in a task what a run waits for, if its client cannot be asked [R9]", async () => {
  const shop = createRefundProject();
  const { url } = await serveProject(shop);
  const client = await connectHttp(url, { canAsk: false });
  const id = await beginTask(client);
  const question = await shop.findQuestion();
  expect(await client.waitUntil(id, ({ statusMessage }) => statusMessage !== undefined)).toMatchObject({
    status: "working",
    statusMessage: `Waits for the approval of OrderSkill.refundLarge (approval ${question})`,
  });
  expect(await skillgate(["approvals", "approve", question], { cwd: shop.cwd })).toMatchObject({ exit: 0 });
  expect(await client.waitUntil(id, isCompleted)).toMatchObject(COMPLETED);
});

test("asks the user of a client in the task that the client began [R9]", async () => {
  const shop = createRefundProject(600);
  const { url } = await serveProject(shop);
  const client = await connectHttp(url, { canAsk: false });
  const id = await beginTask(client);
  const other = await connectHttp(url);
  await answer(other, id, "once");
  expect(await client.waitUntil(id, isCompleted)).toMatchObject(COMPLETED);
});

test("gives a task to a client that resumes a run which waits, and cancels the run with it [R9]", async () => {
  const shop = createRefundProject();
  const { url } = await serveProject(shop);
  const client = await connectHttp(url, { canAsk: false });
  const id = await beginTask(client);
  await shop.findQuestion();
  expect(await client.call("resume_run", { run_id: id })).toMatchObject({ resultType: "task", taskId: id });
  await client.cancel(id);
  await client.waitUntil(id, ({ status }) => status === "cancelled");
  expect(await skillgate(["runs", "list", "--json"], { cwd: shop.cwd })).toMatchObject({
    stdout: expect.stringContaining('"cancelled"'),
  });
  expect(shop.readEffects()).toEqual(["1"]);
});
