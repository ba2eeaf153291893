// What recording adds to calls, and what resuming, replaying and waiting runs take: `node test/bench/store/runs.mjs`.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, defineSkill } from "../../../dist/src/index.js";
import { hashEntry } from "../../../dist/src/runs/record.js";
import { openDatabase } from "../../../dist/src/store/index.js";
import { interleaved, median, table } from "../measure.mjs";

const NUMBER = { type: "object", properties: { value: { type: "number" } }, required: ["value"] };
const double = async ({ value }) => 2 * value;

const NoteSkill = defineSkill({
  name: "NoteSkill",
  description: "Writes numbers",
  methods: {
    read: { description: "Read a number", input: NUMBER, readOnly: true, run: double },
    write: { description: "Write a number", input: NUMBER, run: double },
    ask: { description: "Write a number after a yes", input: NUMBER, approval: "user", run: double },
  },
});

const CALLS = 100;
const WAITING = 10_000;
const MB = 1 << 20;

export async function benchRuns() {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-bench-"));
  try {
    const rows = [];
    for (const [method, wanted] of [
      ["read", "0"],
      ["write", "10"],
    ])
      rows.push([`a call that ${method}s`, ...(await measureCalls(folder, method)), wanted]);
    table(`Recording: one of ${CALLS} calls in sequence, µs`, ["", "off", "recorded", "difference", "wanted"], rows);
    const resumed = await measureResume(join(folder, "resume"));
    table(
      "Continuing runs, ms",
      ["", "", "wanted"],
      [
        ["resume of a run with 10 calls", resumed.ten, "5"],
        ["replay of 1,000 recorded calls", resumed.thousand, "20"],
      ],
    );
    const waiting = measureWaitingAside(join(folder, "waiting"));
    table(
      `${WAITING} runs that wait for a person, in one process`,
      ["", "", "wanted"],
      [
        ["memory of the process, MB", waiting.memory / MB, "1000"],
        ["on disk for each, KB", waiting.disk / WAITING / 1_024, "100"],
        ["the last 500 of them relative to the first", waiting.growth, "2"],
      ],
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureCalls(folder, method) {
  const open = (record) =>
    createRuntime({ skillsDir: false, skills: [NoteSkill], workers: 1, store: join(folder, record), runs: { record } });
  const runtimes = { off: await open("off"), effects: await open("effects") };
  let n = 0;
  const job = (runtime) => async () => {
    const source = `let n = ${n++ % 50}; for (let i = 0; i < ${CALLS}; i++) n += (await device.NoteSkill.${method}(i)) - 2 * i; n`;
    const { kind, text, usage } = await runtime.run(source);
    if (kind !== "completed" || usage.calls !== CALLS) throw new Error(text);
  };
  const times = await interleaved({ off: job(runtimes.off), effects: job(runtimes.effects) }, 20, 5);
  await Promise.all(Object.values(runtimes).map((runtime) => runtime.close()));
  const [off, recorded] = [times.off, times.effects].map((milliseconds) => (milliseconds * 1_000) / CALLS);
  return [off, recorded, recorded - off];
}

/** Resumes copies of the records of runs without their ends, as a process leaves them that was killed. */
async function measureResume(store) {
  const runtime = await createRuntime({ skillsDir: false, skills: [NoteSkill], workers: 1, store });
  const database = await openDatabase({ folder: store });
  const measure = async (calls) => {
    const { runId } = await runtime.run(
      `let n = 0; for (let i = 0; i < ${calls}; i++) n += await device.NoteSkill.write(i); n`,
    );
    const row = await database.runs.get(runId);
    const { events } = await runtime.runs.record(runId);
    const text = JSON.stringify(events.slice(0, -1));
    const times = [];
    for (let round = 0; round < 30; round++) {
      const id = `${runId}-${round}`;
      const left = { state: "running", ended: null, claimedBy: null };
      await database.runs.add(
        { ...row, id, ...left },
        { run: id, seq: 0, events: text, hash: hashEntry("", id, 0, text) },
      );
      const since = performance.now();
      const outcome = await runtime.runs.resume(id);
      times.push(performance.now() - since);
      if (outcome.kind !== "completed") throw new Error(outcome.text);
    }
    return median(times);
  };
  const result = { ten: await measure(10), thousand: await measure(1_000) };
  await runtime.close();
  await database.close();
  return result;
}

/** Measures in a process of its own: the others leave memory behind. */
function measureWaitingAside(store) {
  const output = execFileSync(process.execPath, ["--expose-gc", import.meta.filename, store], { encoding: "utf8" });
  return JSON.parse(output);
}

async function measureWaiting(store) {
  const runtime = await createRuntime({
    skillsDir: false,
    skills: [NoteSkill],
    workers: 1,
    store,
    approvals: { wait: true, holdSeconds: 0.05 },
  });
  const waiting = [];
  const times = [];
  for (let n = 0; n < WAITING; n += 500) {
    const since = performance.now();
    const batch = Array.from({ length: 500 }, (_, i) =>
      runtime.run(`const id = ${n + i}; await device.NoteSkill.ask(id)`),
    );
    for (const outcome of await Promise.all(batch)) {
      if (outcome.kind !== "waiting") throw new Error(outcome.text);
      waiting.push(outcome.runId);
    }
    times.push(performance.now() - since);
  }
  globalThis.gc?.();
  const memory = process.memoryUsage().rss;
  await runtime.close();
  const disk = readdirSync(store).reduce((sum, name) => sum + statSync(join(store, name)).size, 0);
  return { memory, disk, growth: times.at(-1) / times[1] };
}

if (import.meta.filename === process.argv[1]) {
  const [, , store] = process.argv;
  if (store === undefined) await benchRuns();
  else console.log(JSON.stringify(await measureWaiting(store)));
}
