// @module-tag repeated

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { createRuntime } from "../../src/index.ts";
import type { Outcome } from "../../src/model/outcome.ts";
import type { ProvidedSkill } from "../../src/model/skill.ts";
import { hashEntry, type RunRecord, type StoredCall, type RecordEvent } from "../../src/runs/run-record.ts";
import { decodeFromGuest } from "../../src/shared/values/value-encoding.ts";
import { openDatabase, type RunRow } from "../../src/store/index.ts";
import { parseTagged } from "../../sandbox/index.ts";
import { callerFor, LIMITS, type Program, readPrograms, stubSkills, type Traces } from "../support/corpus.ts";
import { takeShare } from "../support/repetitions.ts";

const programs = takeShare(24, readPrograms("benign"), 4);
const folder = mkdtempSync(join(tmpdir(), "skillgate-runs-"));
const traces: Traces = { forbidden: [], reached: [] };
/** Calls whose provider was invoked after the interruption, by run and number, and the records that they continue. */
const invoked = new Set<string>();
const originals = new Map<string, ReadonlyMap<number, StoredCall>>();

const skills = stubSkills(traces);
const options = {
  skillsDir: false,
  typecheck: false,
  store: folder,
  limits: LIMITS,
  workers: 1,
  approve: () => true,
} as const;
const recording = await createRuntime({ ...options, skills, runs: { record: "full" } });
const continuing = await createRuntime({ ...options, skills: skills.map(repeatAnswers), runs: { record: "full" } });
const database = await openDatabase({ folder });

afterAll(async () => {
  await Promise.all([recording.close(), continuing.close(), database.close()]);
  rmSync(folder, { recursive: true, force: true });
});

/** Answers a call as the original run did. */
function repeatAnswers(skill: ProvidedSkill): ProvidedSkill {
  return {
    ...skill,
    async invoke(method, input, context) {
      const [run = "", number = ""] = context.callId.split("/");
      invoked.add(context.callId);
      const answer = originals.get(run)?.get(Number(number))?.answer;
      if (answer?.ok !== true) return skill.invoke(method, input, context);
      if (answer.json === JSON.stringify({ $undefined: 1 })) return undefined;
      return decodeFromGuest(answer.json, answer.tagged === true ? parseTagged : JSON.parse);
    },
  };
}

test.each(programs)("continues $id, interrupted at any event [R2]", { timeout: 120_000 }, async (program) => {
  const original = await recording.run(program.code, { caller: callerFor(program) });
  if (original.kind === "refused" || original.kind === "waiting") return;
  const record = await recording.runs.record(original.runId);
  const row = await database.runs.get(original.runId);
  if (row === undefined) throw new Error("The run was not recorded");
  const events = record.events.filter(({ type }) => type !== "outcome");
  for (let count = 1; count <= events.length; count++)
    await expectSameEnd(original, { row, record, events: events.slice(0, count) }, program);
});

test("has continued runs that made calls, and ended some whose call had begun [R3]", () => {
  expect(count).toBeGreaterThan(100);
  expect(invoked.size).toBeGreaterThan(20);
  expect(ends.get("CALL_END_UNKNOWN")).toBeGreaterThan(10);
  expect(ends.get("completed")).toBeGreaterThan(100);
});

interface Interruption {
  readonly row: RunRow;
  readonly record: RunRecord;
  readonly events: readonly RecordEvent[];
}

async function expectSameEnd(original: Outcome, interruption: Interruption, program: Program): Promise<void> {
  const id = await addInterrupted(interruption);
  const { record, events } = interruption;
  originals.set(id, record.calls);
  const open = findOpenEffects(events);
  const outcome = await continuing.runs.resume(id, { caller: callerFor(program) });
  const end = outcome.kind === "failed" ? outcome.error.code : outcome.kind;
  ends.set(end, (ends.get(end) ?? 0) + 1);
  if (outcome.kind === "failed" && outcome.error.code === "CALL_END_UNKNOWN") expect(open).not.toEqual([]);
  else expect(describe(outcome)).toEqual(describe(original));
  const ended = events.flatMap((event) => (event.type === "end" ? [event.id] : []));
  const repeated = [...ended, ...open].filter((number) => invoked.has(`${id}/${number}`));
  expect(repeated).toEqual([]);
}

/** Stores the beginning of a run under a new id, as a process leaves it that was killed. */
async function addInterrupted({ row, events }: Interruption): Promise<string> {
  const id = `${row.id.slice(0, 24)}${String(++count).padStart(12, "0")}`;
  const text = JSON.stringify(events);
  const entry = { run: id, seq: 0, events: text, hash: hashEntry("", id, 0, text) };
  const left = { state: "running", ended: null, claimedBy: null } as const;
  await database.runs.add({ ...row, id, ...left }, entry);
  return id;
}

let count = 0;
/** Numbers of the ends of continued runs. */
const ends = new Map<string, number>();

/** Returns the calls whose provider was invoked and that have no end. */
function findOpenEffects(events: readonly RecordEvent[]): readonly number[] {
  const ended = new Set(events.flatMap((event) => (event.type === "end" ? [event.id] : [])));
  return events.flatMap((event) => (event.type === "begin" && !ended.has(event.id) ? [event.id] : []));
}

function describe(outcome: Outcome): object {
  if (outcome.kind === "completed") {
    const { value, output, calls } = outcome;
    return { value, output, calls: calls.map((call) => ({ ...call, durationMs: 0 })) };
  }
  if (outcome.kind !== "failed") return outcome;
  const { error, output, calls } = outcome;
  return { error, output, calls: calls.map((call) => ({ ...call, durationMs: 0 })) };
}
