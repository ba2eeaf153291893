// What the store takes for runs on many machines.

import { createAuditWriter } from "../../../dist/src/store/audit/writer.js";
import { openDatabase } from "../../../dist/src/store/index.js";
import { median } from "../measure.mjs";

const WAITING = 10_000;
const COMMITS = 300;
const CALLERS = 64;

/** Measures a commit alone and among others, reading one run, and what a process reads after an answer; in milliseconds. */
export async function measureStore(location) {
  const database = await openDatabase(location);
  const writer = createAuditWriter(
    async () => database.audit,
    (error) => console.error(error),
  );
  const commit = async () => {
    writer.add(createRecord());
    await writer.flush();
  };
  const alone = await measureMedian(commit, COMMITS);
  const since = performance.now();
  await Promise.all(Array.from({ length: CALLERS }, () => repeat(commit, COMMITS)));
  const together = (performance.now() - since) / (CALLERS * COMMITS);
  for (let at = 0; at < WAITING; at++) {
    const entry = { run: `run-${at}`, seq: 0, events: "[]", hash: "0".repeat(64) };
    await database.runs.add(createRow(`run-${at}`), entry);
    await database.approvals.add(createQuestion(at));
  }
  await database.approvals.close("question-17", "cancelled");
  const get = await measureMedian(() => database.runs.get("run-17"), COMMITS);
  const look = await measureMedian(() => readAnswered(database), COMMITS);
  await database.close();
  return { kind: database.kind, alone, together, get, look };
}

/** Reads what each process reads after an answer, until one of them has the run. */
async function readAnswered({ approvals, runs }) {
  const [{ runId }] = await approvals.listClosedAfter(Date.now() - 600_000);
  await approvals.findNextExpiry();
  const row = await runs.get(runId);
  await approvals.listOfRun(runId);
  await runs.entries(runId);
  await runs.claim({ ...row, attempts: -1 }, { by: "host/1/1", until: Date.now(), now: Date.now() });
}

async function measureMedian(job, count) {
  const times = [];
  await repeat(async () => {
    const since = performance.now();
    await job();
    times.push(performance.now() - since);
  }, count);
  return median(times);
}

async function repeat(job, count) {
  for (let at = 0; at < count; at++) await job();
}

function createRecord() {
  const time = new Date().toISOString();
  const facts = { runId: "run", method: "EchoSkill.write", argumentsDigest: "b5dc728a", caller: "owner", callId: 1 };
  return { ...facts, event: "end", time, decision: "allowed", outcome: "ok", durationMs: 1 };
}

function createQuestion(at) {
  const now = Date.now();
  const call = { callId: 1, caller: "owner", path: "EchoSkill.write", description: "", marks: [], digest: "b5dc728a" };
  const texts = {
    arguments: [at],
    plan: null,
    provenance: null,
    scopes: [],
    approver: "user",
    waiter: `run:run-${at}`,
  };
  return { id: `question-${at}`, runId: `run-${at}`, ...call, ...texts, created: now, expires: now + 86_400_000 };
}

function createRow(id) {
  const now = Date.now();
  const counts = { calls: 2, effects: 1, size: 500, attempts: 1 };
  const times = { created: now, updated: now, ended: null };
  return {
    id,
    caller: "owner",
    state: "waiting",
    title: "",
    continues: null,
    claimedBy: "host 1 1",
    ...counts,
    ...times,
  };
}
