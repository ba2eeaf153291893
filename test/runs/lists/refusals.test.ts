import { expect, onTestFinished, test } from "vitest";

import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { type Caller, OWNER } from "../../../src/model/caller.ts";
import { DEFAULT_LIMITS } from "../../../src/model/limits.ts";
import { createRefusalRecorder } from "../../../src/runtime/refusals/record-refusals.ts";
import type { RuntimeOptions } from "../../../src/runtime/options.ts";
import { createRuntime, type Runtime } from "../../../src/runtime.ts";
import { createLazyDatabase } from "../../../src/store/index.ts";
import { project, skillgate } from "../../surfaces/cli/command.ts";
import { createFolder } from "../../approvals/mail.ts";

const input = { type: "object", properties: { to: { type: "string" } }, required: ["to"] } as const;
const MailSkill = defineSkill({
  name: "MailSkill",
  description: "Sends mail",
  methods: { send: { description: "Sends a mail", input, run: ({ to }) => ({ to }) } },
});
const HiddenSkill = defineSkill({
  name: "HiddenSkill",
  description: "Is seen by few",
  methods: { erase: { description: "Erases", input, run: () => "erased" } },
});

async function open(options: RuntimeOptions = {}): Promise<Runtime> {
  const runtime = await createRuntime({ skillsDir: false, skills: [MailSkill, HiddenSkill], workers: 1, ...options });
  onTestFinished(() => runtime.close());
  return runtime;
}

/** Runs programs of which each is refused, and waits until the last one is recorded. */
async function refuse(runtime: Runtime, sources: readonly string[], caller?: Caller): Promise<void> {
  const { runs } = runtime;
  const before = await runs.count({ state: "refused" });
  for (const source of sources)
    expect(await runtime.run(source, caller && { caller })).toMatchObject({
      kind: "refused",
      runId: expect.any(String),
    });
  await expect.poll(() => runs.count({ state: "refused" })).toBe(before + sources.length);
}

test("records a refused program with its caller, first line, reasons and frames, and shows it as a run [R1, G8]", async () => {
  const runtime = await open();
  await refuse(runtime, ["// a remark\nreturn device.MailSkill.sned({ to: 'ada' })"]);
  const [run] = await runtime.runs.list();
  expect(run).toMatchObject({
    state: "refused",
    caller: "owner",
    title: "return device.MailSkill.sned({ to: 'ada' })",
  });
  const { content } = await runtime.runs.show(run?.id ?? "");
  expect(content?.record.header.source).toBe("// a remark\nreturn device.MailSkill.sned({ to: 'ada' })");
  expect(content?.outcome).toMatchObject({
    kind: "refused",
    violations: [
      { code: "METHOD_UNKNOWN", line: 2, frame: expect.stringContaining("> 2 | return device.MailSkill.sned") },
    ],
  });
});

test("repeats a refused program to its recorded outcome [R5]", async () => {
  const runtime = await open();
  await refuse(runtime, ["return nothing"]);
  const [{ id } = { id: "" }] = await runtime.runs.list();
  const recorded = await runtime.runs.outcome(id);
  expect(recorded).toMatchObject({ kind: "refused", violations: [{ code: "GLOBAL_UNKNOWN" }] });
  expect(await runtime.runs.replay(id)).toEqual(recorded);
});

test("groups refusals by mistake and method, and says what would help [R1]", async () => {
  const runtime = await open();
  const noArgument = "return await device.MailSkill.send({ too: 'ada' })";
  await refuse(runtime, [noArgument, noArgument, "return device.MailSkill.sned({})", "return require('fs')"]);
  const { programs, hidden, groups, counts, times } = await runtime.runs.refusals();
  expect({ programs, hidden, sum: counts.reduce((all, each) => all + each, 0), spans: times.length }).toEqual({
    programs: 4,
    hidden: 0,
    sum: 4,
    spans: 24,
  });
  expect(groups.map(({ code, name, programs: number }) => [code, name, number])).toEqual([
    ["ARGUMENTS_INVALID", "MailSkill.send", 2],
    ["MODULE_FORBIDDEN", "fs", 1],
    ["METHOD_UNKNOWN", "MailSkill.sned", 1],
  ]);
  expect(groups[0]?.help).toEqual({
    text: "Models do not see how MailSkill.send is called. Show it with an example",
    where: "the description of MailSkill.send",
    edit: "Sends a mail\n@example await device.MailSkill.send({ to: 'ada' })",
  });
  expect(groups[2]?.help.edit).toBe("Sends a mail. Also called sned.");
});

test.each([
  [false, 200],
  [true, 205],
])("keeps the newest 200 refused programs, or all if all runs are recorded: %s [R1]", async (keepsAll, count) => {
  const database = createLazyDatabase({}, { warn: () => {} });
  onTestFinished(() => database.close());
  const open = (): ReturnType<typeof database.open> => database.open();
  const recorder = createRefusalRecorder({ open, keepsAll, warn: (text) => expect.fail(text) });
  for (let at = 0; at < 205; at++) {
    const outcome = { kind: "refused", runId: `run-${at}`, violations: [], text: "" } as const;
    recorder.add({ source: `program ${at}`, outcome, caller: OWNER, limits: DEFAULT_LIMITS });
    if (at % 50 === 0) await recorder.flush();
  }
  await recorder.flush();
  const { runs } = await database.open();
  expect(await runs.count({ state: "refused" })).toBe(count);
  expect(await runs.get("run-204")).toMatchObject({ title: "program 204" });
});

test(
  "keeps 200 refused programs in a store in memory, also if all runs are recorded [R1]",
  { tags: "rest" },
  async () => {
    const runtime = await open({ runs: { record: "full" } });
    const { runs } = runtime;
    for (let at = 0; at < 205; at++) {
      const { runId } = await runtime.run("(");
      await expect.poll(() => runs.get(runId), { interval: 1 }).toMatchObject({ state: "refused" });
    }
    await expect.poll(() => runs.count({ state: "refused" })).toBe(200);
  },
);

test("drops refused programs while 100 wait for the store [R1]", async () => {
  const database = createLazyDatabase({}, { warn: () => {} });
  onTestFinished(() => database.close());
  const recorder = createRefusalRecorder({ open: () => database.open(), keepsAll: true, warn: () => {} });
  for (let at = 0; at < 120; at++) {
    const outcome = { kind: "refused", runId: `run-${at}`, violations: [], text: "" } as const;
    recorder.add({ source: "", outcome, caller: OWNER, limits: DEFAULT_LIMITS });
  }
  await recorder.flush();
  expect(await (await database.open()).runs.count({})).toBe(100);
});

test("cuts the text of a refused program at 16,384 characters, and lists 20 of its violations [R1]", async () => {
  const runtime = await open();
  await refuse(runtime, [Array.from({ length: 40 }, (_, at) => `unknown${at}("${"x".repeat(500)}");`).join("\n")]);
  const [run] = await runtime.runs.list();
  const { content } = await runtime.runs.show(run?.id ?? "");
  expect(content?.record.header.source).toHaveLength(16_384);
  expect(content?.outcome).toMatchObject({ kind: "refused", violations: { length: 20 } });
  expect(run?.size).toBeLessThan(120_000);
});

test("records no refused program with runs.record: off [R1]", async () => {
  const store = createFolder();
  const runtime = await open({ store, runs: { record: "off" } });
  await runtime.run("return nothing");
  await runtime.close();
  expect(await (await open({ store })).runs.count()).toBe(0);
});

test("writes the record of a refused program before the runtime has closed, for other processes [R1]", async () => {
  const store = createFolder();
  const runtime = await open({ store });
  await runtime.run("return nothing");
  await runtime.close();
  expect(await (await open({ store })).runs.list()).toMatchObject([{ state: "refused", title: "return nothing" }]);
});

test("hides the refused programs of others from callers that may not read every method [P2]", async () => {
  const runtime = await open();
  const viewer: Caller = { id: "viewer", permissions: ["call:MailSkill.*", "admin:Read"] };
  await refuse(runtime, ["return device.HiddenSkill.erase({ too: 1 })", "return device.HiddenSkil.erase()"]);
  await refuse(runtime, ["return device.HiddenSkill.erase({ to: 1 })"], viewer);
  const view = runtime.viewFor(viewer);
  const report = await view.runs.refusals();
  expect({ programs: report.programs, hidden: report.hidden }).toEqual({ programs: 3, hidden: 2 });
  expect(report.groups.map(({ code, name }) => [code, name])).toEqual([["SKILL_UNKNOWN", "HiddenSkill"]]);
  expect(JSON.stringify(report)).not.toContain("erase(too");
  const listed = await view.runs.list({ state: "refused" });
  expect(listed.map(({ caller, title }) => [caller, title])).toEqual([
    ["viewer", "return device.HiddenSkill.erase({ to: 1 })"],
    ["owner", ""],
    ["owner", ""],
  ]);
  expect((await view.runs.show(listed[1]?.id ?? "")).content).toBeUndefined();
  const stranger = runtime.viewFor({ id: "stranger", permissions: ["call:*"] });
  expect((await stranger.runs.refusals()).programs).toBe(0);
});

test(
  "shows on the command line what models get wrong, with a text for the file of the skill [R1]",
  { tags: "rest" },
  async () => {
    const cwd = project({
      "skills/mail.ts": "/** Sends a mail. */\nexport function send(to: string): string { return to; }\n",
    });
    for (let at = 0; at < 2; at++) await skillgate(["run", "-e", "device.MailSkill.send({ too: 1 })"], { cwd });
    const { exit, stdout } = await skillgate(["runs", "refusals"], { cwd });
    expect({ exit, stdout: stdout.replace(/\d{4}-.* UTC|show [\da-f]{8}/g, "…") }).toEqual({
      exit: 0,
      stdout: expect.stringContaining("2 refused programs, the most frequent mistakes first"),
    });
    expect(stdout).toContain("ARGUMENTS_INVALID MailSkill.send 2 programs of 1 caller");
    expect(stdout).toContain("Show it with an example in the comment of MailSkill.send in mail.ts:");
    expect(stdout).toContain("@example await device.MailSkill.send(");
    const { stdout: listed } = await skillgate(["runs", "list", "--state", "refused", "--json"], { cwd });
    expect(JSON.parse(listed).runs).toHaveLength(2);
  },
);
