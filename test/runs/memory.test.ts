import { expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill, type Runtime } from "../../src/index.ts";

const TO = { type: "object", properties: { to: { type: "string" } }, required: ["to"] } as const;

async function openMemory(): Promise<Runtime> {
  const MailSkill = defineSkill({
    name: "MailSkill",
    description: "Sends mail",
    methods: { send: { description: "Send a mail", input: TO, run: ({ to }) => `sent to ${to}` } },
  });
  const runtime = await createRuntime({ skillsDir: false, skills: [MailSkill], workers: 1 });
  onTestFinished(() => runtime.close());
  return runtime;
}

test("stores no run that completed in a store that ends with the process [R1]", async () => {
  const runtime = await openMemory();
  expect(await runtime.run(`await device.MailSkill.send("bob")`)).toMatchObject({ kind: "completed" });
  expect(await runtime.runs.list()).toEqual([]);
});

test("stores at most 1,000 failed runs in a store that ends with the process [R1]", { tags: "rest" }, async () => {
  const runtime = await openMemory();
  for (let n = 0; n < 1_010; n++)
    await runtime.run(`await device.MailSkill.send("bob"); throw new Error("after the call")`);
  const runs = await runtime.runs.list({ limit: 2_000 });
  expect(runs.length).toBeLessThanOrEqual(1_000);
  expect(runs[0]).toMatchObject({ state: "failed", effects: 1 });
  const { calls } = await runtime.runs.record(runs[0]?.id ?? "");
  expect([...calls.values()]).toMatchObject([{ path: "MailSkill.send", state: "ended" }]);
});
