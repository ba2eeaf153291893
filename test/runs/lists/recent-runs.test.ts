import { expect, onTestFinished, test } from "vitest";

import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { OWNER } from "../../../src/model/caller.ts";
import { DEFAULT_LIMITS } from "../../../src/model/limits.ts";
import { createRecentRuns } from "../../../src/runs/index.ts";
import { createRuntime, type Runtime } from "../../../src/runtime.ts";
import { createFolder } from "../../approvals/mail.ts";

const input = { type: "object", properties: { to: { type: "string" } }, required: ["to"] } as const;
const MailSkill = defineSkill({
  name: "MailSkill",
  description: "Sends mail",
  methods: { send: { description: "Sends a mail", input, run: ({ to }) => ({ to }) } },
});

async function open(): Promise<Runtime> {
  const runtime = await createRuntime({ skillsDir: false, skills: [MailSkill], workers: 1, store: createFolder() });
  onTestFinished(() => runtime.close());
  return runtime;
}

test("lists the newest runs without a record among the recorded ones, in parts of any size [O2]", async () => {
  const runtime = await open();
  const recorded = async (): Promise<unknown> => runtime.run('return await device.MailSkill.send({ to: "ada" })');
  for (let at = 0; at < 9; at++) {
    await (at % 3 === 0 ? recorded() : runtime.run(`return ${at}`));
    await new Promise((resolve) => setTimeout(resolve, 2)); // the order is that of the times
  }
  const { runs } = runtime.viewFor(OWNER);
  expect([await runs.count(), await runs.count({ withUnrecorded: true })]).toEqual([3, 9]);
  const whole = await runs.list({ withUnrecorded: true });
  expect(whole.map(({ size, title }) => (size === 0 ? title : "recorded"))).toEqual([
    "return 8",
    "return 7",
    "recorded",
    "return 5",
    "return 4",
    "recorded",
    "return 2",
    "return 1",
    "recorded",
  ]);
  for (const limit of [1, 2, 4, 20])
    for (let offset = 0; offset < 12; offset++)
      expect(await runs.list({ withUnrecorded: true, limit, offset }), `${offset}+${limit}`).toEqual(
        whole.slice(offset, offset + limit),
      );
  expect(await runs.count({ withUnrecorded: true, title: "return 7" })).toBe(1);
  expect(await runs.count({ withUnrecorded: true, since: whole[2]?.created ?? 0 })).toBe(3);
});

test("filters and sorts recorded runs and those without a record together, with the neighbours of each [O2]", async () => {
  const runtime = await open();
  const send = 'await device.MailSkill.send({ to: "ada" });';
  for (const source of ["return 1", `${send} return 2`, `${send}${send} return 3`, "return 1"]) {
    await runtime.run(source);
    await new Promise((resolve) => setTimeout(resolve, 2)); // the order is that of the times
  }
  const { runs } = runtime.viewFor(OWNER);
  const list = async (options: Parameters<typeof runs.list>[0]): Promise<readonly string[]> => {
    const rows = await runs.list({ withUnrecorded: true, ...options });
    const ids = rows.map(({ id }) => id);
    expect(await runs.count({ withUnrecorded: true, ...options })).toBe(rows.length);
    for (const [at, id] of ids.entries())
      expect(await runs.neighbours(id, { withUnrecorded: true, ...options })).toEqual({
        previous: ids[at - 1] ?? null,
        next: ids[at + 1] ?? null,
      });
    return rows.map(({ title }) => title.slice(-1));
  };
  expect(await list({})).toEqual(["1", "3", "2", "1"]);
  expect(await list({ order: "calls", ascending: true })).toEqual(["1", "1", "2", "3"]);
  expect(await list({ order: "calls" })).toEqual(["3", "2", "1", "1"]);
  expect(await list({ method: "MailSkill" })).toEqual(["3", "2"]);
  expect(await list({ method: "MailSkill.find" })).toEqual([]);
  expect(await list({ minDuration: 600_000 })).toEqual([]);
  expect(await list({ state: ["failed", "refused"] })).toEqual([]);
  const [first] = await runs.list({ withUnrecorded: true });
  expect(first).toMatchObject({ duration: (first?.ended ?? 0) - (first?.created ?? 0) });
  expect(await list({ program: first?.program ?? "" })).toEqual(["1", "1"]);
  expect(await list({ until: first?.created ?? 0 })).toEqual(["3", "2", "1"]);
});

test("shows a run without a record to those who may see it, with its program and its error [O2, P2]", async () => {
  const runtime = await open();
  const { runId } = await runtime.run("const text = 'x'; return text.nothing.more");
  const { content } = await runtime.viewFor(OWNER).runs.show(runId, { withUnrecorded: true });
  expect(content?.record.header.source).toBe("const text = 'x'; return text.nothing.more");
  expect(content?.outcome).toMatchObject({ kind: "failed", error: { name: "TypeError" } });
  await expect(runtime.runs.show(runId)).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  const stranger = runtime.viewFor({ id: "stranger", permissions: ["call:*"] });
  await expect(stranger.runs.show(runId, { withUnrecorded: true })).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  expect(await stranger.runs.list({ withUnrecorded: true })).toEqual([]);
});

test("keeps 200 runs without a record, each with 16,384 characters of its program and without its result [O2]", () => {
  const recent = createRecentRuns();
  const usage = { cpuMs: 0, wallMs: 0, memoryBytes: 0, calls: 0 };
  for (let at = 0; at < 205; at++) {
    const outcome = { kind: "completed", runId: `run-${at}`, value: "v".repeat(9), output: "o", text: "t" } as const;
    const rest = { program: { paths: [], readOnly: [] }, caller: OWNER, limits: DEFAULT_LIMITS, started: at };
    recent.add({
      id: `run-${at}`,
      source: "s".repeat(20_000),
      outcome: { ...outcome, notes: [], calls: [], usage },
      ...rest,
    });
  }
  expect(recent.list().map(({ row }) => row.id)).toEqual(Array.from({ length: 200 }, (_, at) => `run-${204 - at}`));
  const { record } = recent.get("run-204") ?? {};
  expect(record?.header.source).toHaveLength(16_384);
  expect(record?.outcome).not.toHaveProperty("value");
});

test("has no neighbours of a run without a record for a caller that may not see it [P2]", async () => {
  const runtime = await open();
  const { runId } = await runtime.run("return 1");
  const { runs } = runtime.viewFor({ id: "eve", permissions: ["call:*"] });
  await expect(runs.neighbours(runId, { withUnrecorded: true })).rejects.toThrow("RUN_NOT_FOUND");
  expect(await runtime.viewFor(OWNER).runs.neighbours(runId, { withUnrecorded: true })).toEqual({
    previous: null,
    next: null,
  });
});
