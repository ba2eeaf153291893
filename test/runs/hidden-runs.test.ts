import { expect, onTestFinished, test } from "vitest";

import { type Caller, createRuntime, defineSkill, type Runtime } from "../../src/index.ts";

const INPUT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;
const run = ({ text }: { readonly text: string }): string => `result of ${text}`;

const method = { description: "Does", input: INPUT, run };
const SecretSkill = defineSkill({ name: "SecretSkill", description: "Of others", methods: { see: method } });
const PublicSkill = defineSkill({ name: "PublicSkill", description: "For all", methods: { see: method } });

/** An administrator who sees one skill. */
const ADMIN: Caller = { id: "admin", permissions: ["call:PublicSkill.*", "admin:ManageRuns"] };

async function open(): Promise<{ readonly runtime: Runtime; readonly hidden: string; readonly shown: string }> {
  const options = {
    skillsDir: false,
    workers: 1,
    typecheck: false,

    runs: { record: "full" },
  } as const;
  const runtime = await createRuntime({ ...options, skills: [SecretSkill, PublicSkill] });
  onTestFinished(() => runtime.close());
  const hidden = await runtime.run(`const name = "see"; return await device.SecretSkill[name]({ text: "canary" })`);
  const shown = await runtime.run(`return await device.PublicSkill.see({ text: "open" })`);
  return { runtime, hidden: hidden.runId, shown: shown.runId };
}

test(
  "shows an administrator a run that names hidden methods without program, arguments and results, in every way [P2, R5]",
  { tags: "rest" },
  async () => {
    const { runtime, hidden, shown } = await open();
    const { runs } = runtime.viewFor(ADMIN);
    const list = await runs.list();
    expect(list.map(({ id }) => id).toSorted()).toEqual([hidden, shown].toSorted());
    expect(list.find(({ id }) => id === hidden)?.title).toBe("");
    expect(list.find(({ id }) => id === shown)?.title).toContain("PublicSkill.see");
    expect(await runs.show(hidden)).toMatchObject({ run: { id: hidden, title: "" }, content: undefined });
    expect((await runs.show(shown)).content?.outcome).toMatchObject({ value: "result of open" });
    const refusals = [runs.outcome(hidden), runs.replay(hidden), runs.resume(hidden), runs.compare(shown, hidden)];
    for (const refused of await Promise.allSettled(refusals))
      expect(refused).toMatchObject({ status: "rejected", reason: { code: "RUN_HIDDEN" } });
    await expect(runtime.runs.cassette(hidden, { caller: ADMIN })).rejects.toMatchObject({ code: "RUN_HIDDEN" });
    expect(JSON.stringify([list, await runs.show(hidden), await runs.get(hidden)])).not.toMatch(/canary|SecretSkill/);
    // A search of titles is no way to guess them.
    expect([await runs.list({ title: "canary" }), await runs.count({ title: "canary" })]).toEqual([[], 0]);
    expect(
      await runtime.viewFor({ ...ADMIN, permissions: [...ADMIN.permissions, "see:*"] }).runs.count({ title: "canary" }),
    ).toBe(1);
  },
);

test("counts checks and replays as requests of their caller [P5, R5]", async () => {
  const { runtime, shown } = await open();
  const view = runtime.viewFor({ ...ADMIN, limits: { perHour: 2 } });
  await view.check("return 1");
  expect(await view.runs.replay(shown)).toMatchObject({ value: "result of open" });
  const refusals = await Promise.allSettled([view.check("return 1"), view.runs.replay(shown)]);
  for (const refused of refusals) expect(refused).toMatchObject({ reason: { code: "RATE_LIMIT" } });
});

test("repeats at most two runs of a caller at once, and the next when one has ended [P5, R5]", async () => {
  const { runtime, shown } = await open();
  const { runs } = runtime.viewFor(ADMIN);
  const ends = await Promise.allSettled([
    runs.replay(shown),
    runtime.viewFor(ADMIN).runs.replay(shown),
    runs.replay(shown),
  ]);
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  expect(ends[2]).toMatchObject({ reason: { code: "RATE_LIMIT", message: expect.stringContaining("2 replays") } });
  expect(await runs.replay(shown)).toMatchObject({ value: "result of open" });
});

test("lets only the caller of a run and holders of ManageRuns continue or cancel it [P2, R5]", async () => {
  const { runtime, shown } = await open();
  const { runs } = runtime.viewFor({
    ...ADMIN,
    permissions: ["call:PublicSkill.*", "admin:Read", "admin:AnswerApprovals"],
  });
  expect(await runs.outcome(shown)).toMatchObject({ kind: "completed" });
  for (const refused of await Promise.allSettled([runs.resume(shown), runs.cancel(shown)]))
    expect(refused).toMatchObject({
      reason: { code: "ADMIN_MISSING", message: expect.stringContaining("ManageRuns") },
    });
  expect(await runtime.viewFor(ADMIN).runs.resume(shown)).toMatchObject({ kind: "completed" });
  const stranger = runtime.viewFor({ id: "stranger", permissions: ["call:*"] });
  await expect(stranger.runs.show(shown)).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
});
