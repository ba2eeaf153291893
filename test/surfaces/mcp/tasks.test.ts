import { describe, expect, test } from "vitest";
import { z } from "zod";

import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { createKeys } from "../../../src/keys/index.ts";
import { newClient, serve, slow, whenSlow } from "../serving.ts";
import { connectHttp, TASKS_EXTENSION } from "./task-client.ts";

/** A method that goes on when the test says so. */
function gateSkill() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const wait = async <Value>(value: Value): Promise<Value> => {
    await opened;
    return value;
  };
  const skill = defineSkill({
    name: "GateSkill",
    description: "Waits for the test",
    methods: {
      wait: { description: "Waits", run: () => wait("waited") },
      fail: { description: "Waits, then fails", run: () => opened.then(() => Promise.reject(new Error("no luck"))) },
      job: { description: "Is always a task", taskSupport: "required", run: () => "done" },
      never: { description: "Is never a task", taskSupport: "forbidden", run: () => wait("waited") },
      ask: {
        description: "Waits, then asks twice at once",
        run: async (_input, { client }) => {
          await new Promise((resolve) => setTimeout(resolve, 600));
          const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
          const ask = () => client?.ask("elicitation/create", { message: "Who?", requestedSchema }, "who");
          const answers = (await Promise.all([ask(), ask()])) as { content: { name: string } }[];
          return answers.map(({ content }) => content.name).join(" and ");
        },
      },
    },
  });
  return { skill, open };
}

describe("a client that declares the tasks extension", () => {
  test("gets a task for a call that lasts, with its progress, and then the result [R9]", async () => {
    const { skill, open } = gateSkill();
    const { url } = await serve({ expose: "tools" }, { skills: [skill] });
    const client = await connectHttp(url);
    const task = await client.call("GateSkill__wait");
    expect(task).toEqual({
      resultType: "task",
      taskId: expect.any(String),
      status: "working",
      createdAt: expect.any(String),
      lastUpdatedAt: expect.any(String),
      ttlMs: expect.any(Number),
      pollIntervalMs: 500,
      _meta: expect.anything(),
    });
    const id = String(task["taskId"]);
    expect(await client.get(id)).toMatchObject({ taskId: id, status: "working" });
    open();
    const done = await client.waitUntil(id, ({ status }) => status === "completed");
    expect(done.result).toEqual({ content: [{ type: "text", text: "waited" }] });
    await client.cancel(id);
    expect(await client.get(id)).toMatchObject({ status: "completed" });
  });

  test("gets a result for a call that ends soon [R9]", async () => {
    const { url } = await serve({ expose: "tools" });
    const client = await connectHttp(url);
    expect(await client.call("TestSkill__add", { a: 1, b: 2 })).toMatchObject({ structuredContent: { sum: 3 } });
  });

  test("gets the failure of a tool as a completed task [R9]", async () => {
    const { skill, open } = gateSkill();
    const { url } = await serve({ expose: "tools" }, { skills: [skill] });
    const client = await connectHttp(url);
    const id = String((await client.call("GateSkill__fail"))["taskId"]);
    open();
    expect(await client.waitUntil(id, ({ status }) => status !== "working")).toMatchObject({
      status: "completed",
      result: { isError: true, content: [{ text: expect.stringContaining("no luck") }] },
    });
  });

  test("cancels a task, and with it the call [R9]", async () => {
    const { url } = await serve({ expose: "tools" });
    const client = await connectHttp(url);
    const aborted = whenSlow("aborted");
    const id = String((await client.call("TestSkill__slow"))["taskId"]);
    const waiting = await client.waitUntil(id, ({ statusMessage }) => statusMessage === "waiting");
    expect(waiting).toMatchObject({ status: "working" });
    expect(await client.cancel(id)).toEqual(expect.not.objectContaining({ taskId: expect.anything() }));
    await aborted;
    expect(await client.waitUntil(id, ({ status }) => status !== "working")).toMatchObject({
      status: "cancelled",
      statusMessage: expect.stringContaining("CALL_CANCELLED"),
    });
    slow.aborted = () => {};
  });

  test("polls a run by its id, and reads the progress of its calls [R9]", async () => {
    const { skill, open } = gateSkill();
    const { url } = await serve({ expose: "code" }, { skills: [skill] });
    const client = await connectHttp(url);
    const code = "const text = await device.GateSkill.wait(); text + '!'";
    const id = String((await client.call("run_code", { code }))["taskId"]);
    const waiting = await client.waitUntil(id, ({ statusMessage }) => statusMessage === "GateSkill.wait …");
    expect(waiting).toMatchObject({ status: "working" });
    open();
    expect(await client.waitUntil(id, ({ status }) => status === "completed")).toMatchObject({
      result: { structuredContent: { kind: "completed", runId: id, value: "waited!" } },
    });
  });

  test("cancels a run by its task [R9]", async () => {
    const { url, runtime } = await serve({ expose: "code" });
    const client = await connectHttp(url);
    const id = String((await client.call("run_code", { code: "await device.TestSkill.slow()" }))["taskId"]);
    // A run is recorded from its first call on.
    await client.waitUntil(id, ({ statusMessage }) => statusMessage !== undefined);
    await client.cancel(id);
    await client.waitUntil(id, ({ status }) => status === "cancelled");
    expect(await runtime.runs.get(id)).toMatchObject({ state: "cancelled" });
  });

  test("answers the questions of a task one by one, each with a key of its own [R9]", async () => {
    const { skill } = gateSkill();
    const { url } = await serve({ expose: "tools" }, { skills: [skill] });
    const client = await connectHttp(url);
    const id = String((await client.call("GateSkill__ask"))["taskId"]);
    const asking = await client.waitUntil(id, ({ inputRequests = {} }) => Object.keys(inputRequests).length === 2);
    const [first = "", second = ""] = Object.keys(asking.inputRequests ?? {});
    expect(asking).toMatchObject({
      status: "input_required",
      inputRequests: { [first]: { params: { message: "Who?" } } },
    });
    const answer = (name: string) => ({ action: "accept", content: { name } });
    await client.update(id, { [first]: answer("Ada"), unknown: answer("Eve"), [second]: { action: "accept" } });
    expect(Object.keys((await client.get(id)).inputRequests ?? {})).toEqual([second]);
    await client.update(id, { [second]: answer("Bob"), [first]: answer("Eve") });
    expect(await client.waitUntil(id, ({ status }) => status === "completed")).toMatchObject({
      result: { content: [{ text: "Ada and Bob" }] },
    });
  });

  test("gets a task also for a call that ends soon if its method requires it, and never if it forbids it [R9]", async () => {
    const { skill, open } = gateSkill();
    const { url } = await serve({ expose: "tools" }, { skills: [skill] });
    const client = await connectHttp(url);
    const id = String((await client.call("GateSkill__job"))["taskId"]);
    expect(await client.get(id)).toMatchObject({ status: "completed", result: { content: [{ text: "done" }] } });
    const never = client.call("GateSkill__never");
    const task = await client.call("GateSkill__wait"); // lasts as long as the other call
    expect(task).toMatchObject({ resultType: "task" });
    open();
    expect(await never).toMatchObject({ content: [{ text: "waited" }] });
  });
});

const ANY = z.looseObject({});

test("refuses a client that does not declare the extension [R9]", async () => {
  const { skill } = gateSkill();
  const { url } = await serve({ expose: "tools" }, { skills: [skill] });
  const tasks = await connectHttp(url);
  const id = String((await tasks.call("GateSkill__job"))["taskId"]);
  const client = await newClient(url);
  const lacking = { code: -32_021, data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } } };
  await expect(client.callTool({ name: "GateSkill__job", arguments: {} })).rejects.toMatchObject(lacking);
  await expect(client.request({ method: "tasks/get", params: { taskId: id } }, ANY)).rejects.toMatchObject(lacking);
  await expect(client.request({ method: "tasks/cancel", params: { taskId: id } }, ANY)).rejects.toMatchObject(lacking);
  const old = await newClient(url, {}, "/mcp", "legacy");
  expect(await old.callTool({ name: "GateSkill__job", arguments: {} })).toMatchObject({ content: [{ text: "done" }] });
});

test("answers the same for a task of another caller as for one that does not exist [R9]", async () => {
  const { skill } = gateSkill();
  const { url, runtime } = await serve({ expose: "both" }, { skills: [skill] }, () => false);
  const keys = createKeys(await runtime.database());
  const connectAs = async (name: string) => {
    const { text } = await keys.create({ name, permissions: ["call:*"] });
    return connectHttp(url, { headers: { authorization: `Bearer ${text}` } });
  };
  const [ada, eve] = [await connectAs("ada"), await connectAs("eve")];
  const job = String((await ada.call("GateSkill__job"))["taskId"]);
  const run = String((await ada.call("run_code", { code: "await device.GateSkill.wait()" }))["taskId"]);
  for (const id of [job, run, "missing"]) {
    const error = { code: -32_602, message: expect.stringContaining(`Unknown task: "${id}"`) };
    await expect(eve.get(id)).rejects.toMatchObject(error);
    await expect(eve.update(id, {})).rejects.toMatchObject(error);
    await expect(eve.cancel(id)).rejects.toMatchObject(error);
  }
  expect(await ada.get(job)).toMatchObject({ status: "completed" });
  expect(await ada.get(run)).toMatchObject({ status: "working" });
});

test(
  "deletes a task that has ended after its time, and gives up a question without an answer [R9]",
  { tags: "rest" },
  async () => {
    const { skill } = gateSkill();
    const { url } = await serve({ expose: "tools" }, { skills: [skill] }, undefined, { taskTtlMs: 200 });
    const client = await connectHttp(url);
    const task = await client.call("GateSkill__job");
    expect(task).toMatchObject({ ttlMs: expect.toSatisfy((ms: number) => ms >= 200) });
    const expired = { code: -32_602, message: expect.stringContaining("Unknown task") };
    await expect(client.waitUntil(String(task["taskId"]), () => false)).rejects.toMatchObject(expired);
    const asking = String((await client.call("GateSkill__ask"))["taskId"]);
    expect(await client.waitUntil(asking, ({ status }) => status === "cancelled")).toMatchObject({
      statusMessage: expect.stringContaining("the client did not answer"),
    });
  },
);
