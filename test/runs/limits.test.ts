import { expect, onTestFinished, test } from "vitest";

import type { Runtime, RuntimeOptions } from "../../src/index.ts";
import { type Database, openDatabase, type RunRow } from "../../src/store/index.ts";
import { hashEntry } from "../../src/runs/run-record.ts";
import { createFolder, followQuestions, openMail } from "../approvals/mail.ts";

const TWO_MAILS = `print("first"); await device.MailSkill.send("bob"); await device.MailSkill.send("eve")`;

async function openStore(folder: string): Promise<Database> {
  const database = await openDatabase({ folder });
  onTestFinished(() => database.close());
  return database;
}

/** Begins a run that waits for a person, closes its runtime, and changes the facts of the run. */
async function leaveWaiting(folder: string, facts: Partial<RunRow>): Promise<{ id: string; question: string }> {
  const { runtime } = await openMail({ store: folder });
  const next = followQuestions(runtime);
  const outcome = runtime.run(TWO_MAILS);
  const { id: question, runId: id } = await next();
  await runtime.close();
  await outcome;
  const database = await openStore(folder);
  await database.runs.update(id, facts);
  return { id, question };
}

/** Follows the runs of a store, and collects what the runtime warns of. */
async function follow(folder: string, options: RuntimeOptions = {}): Promise<{ runtime: Runtime; warnings: string[] }> {
  const warnings: string[] = [];
  const log = (level: string, text: string): void => void (level === "warn" && warnings.push(text));
  const { runtime } = await openMail({ store: folder, log, ...options });
  await runtime.runs.follow();
  return { runtime, warnings };
}

test("forgets the claims of a run that has asked a person since [R2]", async () => {
  const folder = createFolder();
  const { id, question } = await leaveWaiting(folder, { attempts: 4 });
  const { runtime } = await openMail({ store: folder });
  const next = followQuestions(runtime);
  await runtime.runs.follow();
  await runtime.approvals.answer(question, { approve: true });
  await next();
  await runtime.close();
  const database = await openStore(folder);
  expect(await database.runs.get(id)).toMatchObject({ state: "waiting", attempts: 0 });
});

test("ends a run that was continued five times without progress, with a warning [R2]", async () => {
  const folder = createFolder();
  const { id, question } = await leaveWaiting(folder, { attempts: 5 });
  const database = await openStore(folder);
  await database.approvals.answer(question, {
    state: "approved",
    scope: "once",
    by: "ada",
    as: "user",
    time: Date.now(),
  });
  const { runtime, warnings } = await follow(folder);
  const message = `The run was continued too often without progress: run ${id}, 5 times (RESUME_LIMIT)`;
  await expect.poll(() => warnings).toEqual([`Cannot continue run ${id}: ${message}`]);
  await expect.poll(async () => (await runtime.runs.get(id)).state).toBe("failed");
  const outcome = await runtime.runs.resume(id);
  expect(outcome).toMatchObject({ kind: "failed", error: { code: "RESUME_LIMIT", message } });
  expect(await runtime.runs.replay(id)).toEqual({ ...outcome, usage: expect.anything() });
});

test("closes the questions of a run that it ends [R2]", async () => {
  const folder = createFolder();
  const { id, question } = await leaveWaiting(folder, { attempts: 5 });
  const { runtime } = await openMail({ store: folder });
  expect(await runtime.runs.resume(id)).toMatchObject({ kind: "failed", error: { code: "RESUME_LIMIT" } });
  expect(await runtime.approvals.get(question)).toMatchObject({ state: "cancelled" });
});

test("ends a run whose record is too large to continue it [R1]", async () => {
  const folder = createFolder();
  const { id } = await leaveWaiting(folder, { attempts: 1 });
  const database = await openStore(folder);
  const { seq = 0, hash: lastHash = "" } = (await database.runs.entries(id)).at(-1) ?? {};
  const answer = { ok: false, error: { name: "CallError", code: "RUN_TOO_LARGE" } };
  const end = { type: "end", id: 1, answer, digest: "", durationMs: 1, notes: [], time: 1 };
  const events = JSON.stringify([end]);
  const next = seq + 1;
  await database.runs.append({ run: id, seq: next, events, hash: hashEntry(lastHash, id, next, events) });
  const { runtime } = await openMail({ store: folder });
  expect(await runtime.runs.resume(id)).toMatchObject({ kind: "failed", error: { code: "RUN_INCOMPLETE" } });
  expect(await runtime.runs.get(id)).toMatchObject({ state: "failed" });
});
