// What the store takes for runs on many machines.

import { createAuditWriter } from "../../../dist/src/store/audit/writer.js";
import { openDatabase } from "../../../dist/src/store/index.js";
import { median } from "../measure.mjs";

const WAITING = 10_000;
const COMMITS = 300;
const CALLERS = 64;

/** Measures a commit alone and among others, reading one run, and reading all runs that wait; in milliseconds. */
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
  }
  const get = await measureMedian(() => database.runs.get("run-17"), COMMITS);
  const list = await measureMedian(() => database.runs.list({ ended: null }), 10);
  await database.close();
  return { kind: database.kind, alone, together, get, list };
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

function createRow(id) {
  const now = Date.now();
  const counts = { calls: 2, effects: 1, size: 500, attempts: 1 };
  const times = { created: now, updated: now, ended: null, claimedUntil: now + 60_000 };
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
