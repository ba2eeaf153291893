import { expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill, type Runtime } from "../../src/index.ts";
import { post, serve } from "../surfaces/serving.ts";

/** A skill whose method needs an approval. */
const PaySkill = defineSkill({
  name: "PaySkill",
  description: "Pays",
  methods: { pay: { description: "Pay", approval: "user", run: () => "paid" } },
});

const OPTIONS = { skills: [PaySkill], approvals: { wait: true, holdSeconds: 0.5 } };

const CODE = "await device.PaySkill.pay()";

/** Approves the only open question. */
async function approve({ approvals }: Runtime): Promise<void> {
  const [question] = await approvals.list("pending");
  await approvals.answer(question?.id ?? "", { approve: true });
}

test("waits for a run with resume_run at POST /tools and at /rpc [R9]", { tags: "rest" }, async () => {
  const { url, runtime } = await serve({}, OPTIONS);
  const call = (id: number, name: string, args: unknown) =>
    post(`${url}/rpc`, { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });
  const waiting = await post(`${url}/tools/run_code`, { code: CODE });
  expect(waiting.json.data).toMatchObject({ kind: "waiting", approvals: [expect.any(String)] });
  const { runId } = waiting.json.data;
  expect((await post(`${url}/tools/resume_run`, { run_id: runId })).json.data).toMatchObject({
    kind: "waiting",
    runId,
  });
  expect((await call(1, "resume_run", { run_id: runId })).json.result.data).toMatchObject({ kind: "waiting", runId });
  await approve(runtime);
  const ended = await post(`${url}/tools/resume_run`, { run_id: runId });
  expect(ended.json.data).toMatchObject({ kind: "completed", value: "paid" });
  expect((await call(2, "resume_run", { run_id: runId })).json.result.data).toMatchObject({ value: "paid" });
  expect((await call(3, "resume_run", { run_id: "missing" })).json.error.data.reason).toContain("Unknown run: missing");
  expect((await post(`${url}/tools/resume_run`, {})).status).toBe(400);
});

test("waits for a run with resume_run of runtime.tools() [R9]", async () => {
  const runtime = await createRuntime({ skillsDir: false, workers: 1, ...OPTIONS });
  onTestFinished(() => runtime.close());
  const tools = new Map(runtime.tools().map((tool) => [tool.name, tool]));
  const waiting = await tools.get("run_code")?.execute({ code: CODE });
  const id = /Run (\S+) waits for/.exec(waiting?.text ?? "")?.[1];
  const ended = tools.get("resume_run")?.execute({ run_id: id });
  await approve(runtime);
  expect(await ended).toMatchObject({ text: "paid", value: "paid", isError: false });
  expect(await tools.get("resume_run")?.execute({ run_id: "missing" })).toMatchObject({
    isError: true,
    text: expect.stringContaining("Unknown run: missing"),
  });
});
