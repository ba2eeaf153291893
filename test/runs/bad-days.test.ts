import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, onTestFinished, test } from "vitest";

import {
  type Caller,
  createKeys,
  createRuntime,
  defineSkill,
  type Runtime,
  type RuntimeOptions,
} from "../../src/index.ts";
import { hashEntry } from "../../src/runs/run-record.ts";
import { type Database, openDatabase } from "../../src/store/index.ts";
import { followQuestions } from "../approvals/mail.ts";

const TO = { type: "object", properties: { to: { type: "string" } }, required: ["to"] } as const;
const SEND = `const first = await device.MailSkill.note("a"); [first, await device.MailSkill.send("bob")]`;

interface Post {
  readonly runtime: Runtime;
  readonly sent: string[];
}

/** A run that waits for a person in no process. */
interface WaitingRun {
  readonly id: string;
  readonly question: string;
}

/** A runtime on a store with a skill that notes at once, and sends after a yes. */
async function openPost(store: string, options: RuntimeOptions = {}, description = "Send a mail"): Promise<Post> {
  const sent: string[] = [];
  const send = ({ to }: { readonly to: string }): string => `${sent.push(to)} ${to}`;
  const MailSkill = defineSkill({
    name: "MailSkill",
    description: "Sends mail",
    methods: {
      note: { description: "Note an address", input: TO, run: send },
      send: { description, approval: "user", destructive: true, input: TO, run: send },
    },
  });
  const approvals = { wait: true, ...options.approvals };
  const runtime = await createRuntime({
    skillsDir: false,
    skills: [MailSkill],
    workers: 1,
    store,
    ...options,
    approvals,
  });
  onTestFinished(() => runtime.close());
  return { runtime, sent };
}

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-runs-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Begins a run that waits for a person, and closes its runtime. Returns the ids of the run and of its question. */
async function leaveWaiting(
  store: string,
  options: { caller?: Caller; runtime?: RuntimeOptions } = {},
): Promise<WaitingRun> {
  const { runtime } = await openPost(store, { ...options.runtime });
  const next = followQuestions(runtime);
  const outcome = runtime.run(SEND, { ...(options.caller && { caller: options.caller }) });
  const question = await next();
  await runtime.close();
  await outcome;
  return { id: question.runId, question: question.id };
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

let template: Promise<WaitingRun & { readonly store: string }> | undefined;

/** Returns a store of its own with a run that waits for a person: a copy of one in which such a run was left. */
async function copyWaiting(): Promise<WaitingRun & { readonly store: string }> {
  const create = async (): Promise<WaitingRun & { readonly store: string }> => {
    const store = mkdtempSync(join(tmpdir(), "skillgate-runs-"));
    folders.push(store);
    return { store, ...(await leaveWaiting(store)) };
  };
  const original = await (template ??= create());
  const store = createFolder();
  cpSync(original.store, store, { recursive: true });
  return { ...original, store };
}

async function openStore(folder: string): Promise<Database> {
  const database = await openDatabase({ folder });
  onTestFinished(() => database.close());
  return database;
}

test("continues a run that was answered with no: the program can catch it [R2]", async () => {
  const { store, id, question } = await copyWaiting();
  const { runtime, sent } = await openPost(store);
  await runtime.approvals.answer(question, { approve: false });
  expect(await runtime.runs.resume(id)).toMatchObject({ kind: "failed", error: { code: "APPROVAL_MISSING" } });
  expect(sent).toEqual([]);
});

test("continues a run whose question has expired with a sentence of its own [R2]", async () => {
  const store = createFolder();
  const { id } = await leaveWaiting(store, { runtime: { approvals: { expireSeconds: 0.001 } } });
  const { runtime, sent } = await openPost(store);
  expect(await runtime.runs.resume(id)).toMatchObject({ kind: "failed", error: { code: "APPROVAL_EXPIRED" } });
  expect(sent).toEqual([]);
  await expect(
    runtime.approvals.answer((await runtime.approvals.list())[0]?.id ?? "", { approve: true }),
  ).rejects.toMatchObject({
    code: "APPROVAL_CLOSED",
  });
});

test("keeps a question open for a month [R2]", async () => {
  const store = createFolder();
  const month = 30 * 24 * 3_600;
  const { id, question } = await leaveWaiting(store, { runtime: { approvals: { expireSeconds: month } } });
  const { runtime, sent } = await openPost(store);
  const { created, expires } = (await runtime.approvals.get(question)) ?? { created: 0, expires: 0 };
  expect(expires - created).toBe(month * 1_000);
  await runtime.approvals.answer(question, { approve: true });
  expect(await runtime.runs.resume(id)).toMatchObject({ kind: "completed", value: ["1 a", "1 bob"] });
  expect(sent).toEqual(["bob"]);
});

test("refuses a method that has changed since, unless the owner accepts it [R2]", async () => {
  const { store, id, question } = await copyWaiting();
  const changed = await openPost(store, {}, "Send a mail to all");
  await changed.runtime.approvals.answer(question, { approve: true });
  const copy = await copyRun(await openStore(store), id);
  expect(await changed.runtime.runs.resume(copy)).toMatchObject({
    kind: "failed",
    error: { code: "METHOD_CHANGED", message: expect.stringContaining("MailSkill.send") },
  });
  expect(changed.sent).toEqual([]);
  const outcome = await changed.runtime.runs.resume(id, { acceptsChanges: true });
  expect(outcome).toMatchObject({ kind: "completed", value: ["1 a", "1 bob"] });
});

test("refuses a method that is gone [R2]", async () => {
  const { store, id, question } = await copyWaiting();
  const runtime = await createRuntime({ skillsDir: false, skills: [], store, workers: 1 });
  onTestFinished(() => runtime.close());
  await runtime.approvals.answer(question, { approve: true });
  expect(await runtime.runs.resume(id)).toMatchObject({ kind: "failed", error: { code: "METHOD_UNKNOWN" } });
});

test("lets one of two processes continue a run [R2]", async () => {
  const { store, id, question } = await copyWaiting();
  const posts = await Promise.all([openPost(store), openPost(store), openPost(store)]);
  await posts[0].runtime.approvals.answer(question, { approve: true });
  const ends = await Promise.allSettled(posts.map(({ runtime }) => runtime.runs.resume(id)));
  const codes = ends.map((end) =>
    end.status === "fulfilled" ? end.value.kind : (end.reason as { code: string }).code,
  );
  expect(codes.filter((code) => code !== "RUN_BUSY" && code !== "completed")).toEqual([]);
  expect(posts.flatMap(({ sent }) => sent)).toEqual(["bob"]);
});

test("gives requests of one process at the same moment the one outcome, and cancels a run that is continued [R2, R9]", async () => {
  const { store, id, question } = await copyWaiting();
  const { runtime, sent } = await openPost(store);
  await runtime.approvals.answer(question, { approve: true });
  const outcomes = await Promise.all([1, 2, 3].map(() => runtime.runs.resume(id)));
  expect(outcomes.map(({ kind }) => kind)).toEqual(["completed", "completed", "completed"]);
  expect(sent).toEqual(["bob"]);
  const other = await copyWaiting();
  const { runtime: second, sent: none } = await openPost(other.store);
  const [outcome] = await Promise.all([second.runs.resume(other.id), second.runs.cancel(other.id)]);
  expect(outcome).toMatchObject({ kind: "failed", error: { code: "CANCELLED" } });
  expect(none).toEqual([]);
});

describe("a record that was changed", () => {
  test.each([
    ["a call", (text: string) => text.replace('[\\"a\\"]', '[\\"b\\"]'), "entry 0 was changed"],
    ["its text", () => "no JSON", "entry 0 was changed"],
  ])("%s: is not continued [R1]", async (_name, change, message) => {
    const { store, id } = await copyWaiting();
    const copy = await copyRun(await openStore(store), id, change);
    const { runtime, sent } = await openPost(store);
    await expect(runtime.runs.resume(copy)).rejects.toMatchObject({
      code: "RUN_DAMAGED",
      message: expect.stringContaining(`run ${copy}: ${message}`),
    });
    expect(sent).toEqual([]);
  });
});

test("does not continue the run of a key that was revoked [R2]", async () => {
  const store = createFolder();
  const database = await openStore(store);
  const keys = createKeys(database);
  const { text } = await keys.create({ name: "ada", permissions: ["call:*"] });
  const caller = await keys.authenticate(text);
  if (caller === undefined) throw new Error("The key is not valid");
  const { id, question } = await leaveWaiting(store, { caller });
  await keys.revoke("ada");
  const { runtime, sent } = await openPost(store);
  await runtime.approvals.answer(question, { approve: true });
  await expect(runtime.runs.resume(id)).rejects.toMatchObject({ code: "CANCELLED" });
  expect(sent).toEqual([]);
  expect(await runtime.runs.get(id)).toMatchObject({ state: "cancelled" });
});

test("hides the runs of other callers [R2]", async () => {
  const { store, id } = await copyWaiting();
  const { runtime } = await openPost(store);
  const caller: Caller = { id: "eve", permissions: ["call:*"] };
  expect(await runtime.runs.list({ caller })).toEqual([]);
  for (const use of ["get", "resume", "cancel", "record"] as const)
    await expect(runtime.runs[use](id, { caller })).rejects.toMatchObject({
      code: "RUN_NOT_FOUND",
      message: expect.not.stringContaining("MailSkill"),
    });
});

test("makes no call with an effect while its record cannot be written [R1]", async () => {
  const store = createFolder();
  const { runtime, sent } = await openPost(store);
  expect(await runtime.run(`await device.MailSkill.note("a")`)).toMatchObject({ kind: "completed" });
  const database = await runtime.database();
  execFileSync(process.execPath, ["test/fixtures/runs/drop-table.mjs", join(store, "skillgate.db")]);
  const outcome = await runtime.run(`try { await device.MailSkill.note("b") } catch (error) { error.code }`);
  expect(outcome).toMatchObject({ kind: "completed", value: "RECORD_FAILED" });
  expect(sent).toEqual(["a"]);
  expect(database.kind).toBe("sqlite");
});

test("cancels a run that waits in no process [R2]", async () => {
  const { store, id, question } = await copyWaiting();
  const { runtime } = await openPost(store);
  await runtime.runs.cancel(id);
  expect(await runtime.runs.get(id)).toMatchObject({ state: "cancelled", isOpen: false });
  expect(await runtime.runs.resume(id)).toMatchObject({ kind: "failed", error: { code: "CANCELLED" } });
  await expect(runtime.approvals.answer(question, { approve: true })).rejects.toMatchObject({
    code: "APPROVAL_CLOSED",
  });
});

test("makes no call of a run that was cancelled while its caller did not wait for it, also after a yes [R2, P6]", async () => {
  const { runtime, sent } = await openPost(createFolder(), { approvals: { holdSeconds: 0.1 } });
  const { kind, runId } = await runtime.run(SEND);
  expect(kind).toBe("waiting");
  const [{ id } = { id: "" }] = await runtime.approvals.list("pending");
  await runtime.runs.cancel(runId);
  await expect(runtime.approvals.answer(id, { approve: true })).rejects.toMatchObject({ code: "APPROVAL_CLOSED" });
  expect(sent).toEqual(["a"]);
  expect(await runtime.runs.get(runId)).toMatchObject({ state: "cancelled", isOpen: false });
  expect(await runtime.runs.resume(runId)).toMatchObject({ kind: "failed", error: { code: "CANCELLED" } });
});

test("tells the caller of a run that waits, when its runtime closes, that another process continues it [R2]", async () => {
  const { runtime, sent } = await openPost(createFolder());
  const next = followQuestions(runtime);
  const outcome = runtime.run(SEND);
  const { id, runId } = await next();
  await runtime.close();
  expect(await outcome).toMatchObject({ kind: "waiting", runId, approvals: [id] });
  expect(sent).toEqual(["a"]);
  await expect(runtime.call("MailSkill.note", { to: "b" })).rejects.toMatchObject({ code: "RUNTIME_CLOSED" });
  const calls = [{ path: "MailSkill.note", input: { to: "b" } }];
  await expect(runtime.callAll(calls)).rejects.toMatchObject({ code: "RUNTIME_CLOSED" });
  expect(sent).toEqual(["a"]);
});

test("refuses a second run with the id of one that waits [R1]", async () => {
  const { runtime } = await openPost(createFolder());
  const next = followQuestions(runtime);
  const first = runtime.run(SEND, { runId: "same" });
  const { id } = await next();
  await expect(runtime.run(SEND, { runId: "same" })).rejects.toMatchObject({ code: "RECORD_FAILED" });
  await runtime.approvals.answer(id, { approve: true });
  expect(await first).toMatchObject({ kind: "completed" });
});

test("takes no run that has ended elsewhere since it was looked at [R2]", async () => {
  const { store, id, question } = await copyWaiting();
  const { runtime } = await openPost(store);
  const { runs } = await openStore(store);
  const row = await runs.get(id);
  await runtime.approvals.answer(question, { approve: true });
  expect(await runtime.runs.resume(id)).toMatchObject({ kind: "completed" });
  expect(await runs.claim(row!, { by: "another process", now: Date.now() })).toBe(false);
});

/** Copies a run, with its first entry changed but not its hash. */
async function copyRun(database: Database, id: string, change = (text: string): string => text): Promise<string> {
  const row = await database.runs.get(id);
  const copy = `${id.slice(0, -4)}copy`;
  if (row === undefined) throw new Error("The run was not recorded");
  let lastHash = "";
  for (const { seq, events } of await database.runs.entries(id)) {
    const hash = hashEntry(lastHash, copy, seq, events);
    const entry = { run: copy, seq, events: seq === 0 ? change(events) : events, hash };
    if (seq === 0) await database.runs.add({ ...row, id: copy }, entry);
    else await database.runs.append(entry);
    lastHash = hash;
  }
  return copy;
}
