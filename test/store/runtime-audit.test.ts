import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { createRuntime, defineSkill, type Runtime } from "../../src/index.ts";
import { findSqlite } from "../../src/store/database/sqlite-program.ts";
import { openDatabase } from "../../src/store/index.ts";

let folder: string;
let opened: Runtime | undefined;
/** Receives each call of `send`, with the records that are committed by then. */
let onSend: () => Promise<void>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "skillgate-audit-"));
  onSend = async () => {};
});
afterEach(async () => {
  await opened?.close();
  await rm(folder, { recursive: true });
});

const TEXT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;

const MailSkill = defineSkill({
  name: "MailSkill",
  description: "Sends mail",
  methods: {
    read: { description: "Read", input: TEXT, run: async ({ text }) => text },
    count: { description: "Count the mails", readOnly: true, run: () => 5 },
    fail: {
      description: "Fail",
      input: TEXT,
      run: () => {
        throw new Error("no mail");
      },
    },
    send: {
      description: "Send",
      input: TEXT,
      destructive: true,
      run: async () => {
        await onSend();
        return "sent";
      },
    },
  },
});

async function openRuntime(store: string): Promise<Runtime> {
  const timeouts = { lockMs: 30_000 };
  opened = await createRuntime({
    skillsDir: false,
    skills: [MailSkill],
    store,
    audit: "store",
    typecheck: false,
    timeouts,
  });
  return opened;
}

/** Reads the committed records, as another process does. */
async function readRecords(): Promise<readonly Record<string, unknown>[]> {
  await using database = await openDatabase({ folder });
  expect(await database.audit.verify()).toMatchObject({ kind: "intact" });
  const rows = await database.audit.tail(100);
  return rows.map(({ record }) => JSON.parse(record) as Record<string, unknown>);
}

test("stores the decision on each call and its end, without values, before a run resolves [P8]", async () => {
  const runtime = await openRuntime(folder);
  const outcome = await runtime.run('device.MailSkill.read("a private text")', {
    caller: { id: "ada", permissions: ["call:MailSkill.*"] },
  });
  const facts = {
    argumentsDigest: expect.stringMatching(/^[0-9a-f]{16}$/),
    callId: 1,
    caller: "ada",
    decision: "allowed",
    method: "MailSkill.read",
    runId: outcome.runId,
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  };
  const records = await readRecords();
  expect(records).toEqual([
    { ...facts, event: "decision" },
    { ...facts, event: "end", outcome: "ok", cached: false, durationMs: expect.any(Number) },
  ]);
  expect(JSON.stringify(records)).not.toContain("private");
});

test("stores failed and refused calls [P8]", async () => {
  const runtime = await openRuntime(folder);
  await runtime.run('device.MailSkill.fail("x")');
  await runtime.run('device.MailSkill.read(JSON.parse("5"))');
  await runtime.close();
  const records = await readRecords();
  expect(records.map(({ event, decision, outcome, code }) => [event, decision, outcome, code])).toEqual([
    ["decision", "allowed", undefined, undefined],
    ["end", "allowed", "error", "CALL_FAILED"],
    ["decision", "refused", "refused", "ARGUMENTS_INVALID"],
  ]);
});

test("stores the records of a call without a program before it resolves [P8]", async () => {
  const runtime = await openRuntime(folder);
  await runtime.call("MailSkill.read", { text: "x" });
  expect(await readRecords()).toHaveLength(2);
});

test("commits the decision on a destructive call before it is made [P8]", async () => {
  let committed: readonly Record<string, unknown>[] = [];
  onSend = async () => {
    committed = await readRecords();
  };
  await (await openRuntime(folder)).run('device.MailSkill.send("x")');
  expect(committed.map(({ event, method }) => [event, method])).toEqual([["decision", "MailSkill.send"]]);
});

test("lets no outcome of a call that only reads wait for the log, and commits its records soon [P8]", async () => {
  const runtime = await openRuntime(folder);
  const writing = findSqlite()?.connect(join(folder, "skillgate.db"));
  writing?.exec("BEGIN IMMEDIATE");
  expect(await runtime.run("device.MailSkill.count()")).toMatchObject({ kind: "completed", value: 5 });
  expect(await readRecords()).toEqual([]);
  let isSent = false;
  const sending = runtime.run('device.MailSkill.send("x")').finally(() => (isSent = true));
  expect(await runtime.run("device.MailSkill.count()")).toMatchObject({ kind: "completed", value: 5 });
  expect(isSent).toBe(false);
  writing?.exec("COMMIT");
  writing?.close();
  expect(await sending).toMatchObject({ kind: "completed", value: "sent" });
  const methods = (await readRecords()).map(({ method }) => String(method));
  expect(methods.slice(0, 2)).toEqual(["MailSkill.count", "MailSkill.count"]);
  // The other two runs are independent: each of them may make its call first.
  const others = ["MailSkill.count", "MailSkill.count", "MailSkill.send", "MailSkill.send"];
  expect(methods.slice(2).toSorted()).toEqual(others);
});

test("commits the records of calls that only read without a further call [P8]", async () => {
  const runtime = await openRuntime(folder);
  await using other = await openDatabase({ folder });
  const changed = new Promise<void>((resolve) => {
    const stop = other.watch(() => {
      stop();
      resolve();
    });
  });
  await runtime.run("device.MailSkill.count()");
  await changed;
  expect(await readRecords()).toHaveLength(2);
});

test("makes no call while records cannot be stored, and says so [P8]", async () => {
  const file = join(folder, "file");
  await writeFile(file, "");
  let sent = 0;
  onSend = async () => void sent++;
  const runtime = await openRuntime(join(file, "store"));
  expect(runtime.problems.map(({ source }) => source)).toEqual(["store"]);
  for (let n = 0; n < 2; n++)
    expect(await runtime.run('device.MailSkill.send("x")')).toMatchObject({
      kind: "failed",
      error: { code: "AUDIT_FAILED" },
    });
  expect(sent).toBe(0);
  await rm(file);
  expect(await runtime.run('device.MailSkill.send("x")')).toMatchObject({ kind: "completed", value: "sent" });
  expect(sent).toBe(1);
});

test("stores no records by default, and needs a place for them", { tags: "rest" }, async () => {
  opened = await createRuntime({ skillsDir: false, skills: [MailSkill], store: folder });
  await opened.run('device.MailSkill.read("x")');
  await expect(createRuntime({ skillsDir: false, audit: "store" })).rejects.toThrow(
    "Cannot use this option: audit: store needs store, a folder (OPTION_INVALID)",
  );
  expect(await readRecords()).toEqual([]);
});

test("loads no database driver for a run that stores nothing", { tags: "rest" }, () => {
  const args = ["-r", "./test/fixtures/store/report-sqlite.cjs", "dist/src/bin.js"];
  const run = (...words: readonly string[]): ReturnType<typeof spawnSync> =>
    spawnSync(process.execPath, [...args, ...words], {
      encoding: "utf8",
      env: { ...process.env, XDG_STATE_HOME: folder },
    });
  expect(run("run", "-e", "1 + 1")).toMatchObject({ stdout: "2\n", stderr: "", status: 0 });
  expect(run("store", "info").stderr).toMatch(/^loads (libsql|node:sqlite)$/m);
});
