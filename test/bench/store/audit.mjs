// What the audit log adds to runs and served calls: `node test/bench/store/audit.mjs`.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createRuntime, defineSkill } from "../../../dist/src/index.js";
import { createAuditWriter } from "../../../dist/src/store/audit/writer.js";
import { openDatabase } from "../../../dist/src/store/index.js";
import { interleaved, median, table } from "../measure.mjs";

const BIN = join(import.meta.dirname, "../../../dist/src/bin.js");
const RECORDS = 20_000;
const CALLERS = 100;

const ECHO_FILE = `/** Repeats a text. */
export class EchoSkill {
  /**
   * Repeat a text.
   * @readonly
   */
  echo(text: string): string {
    return text;
  }
}
`;

const TEXT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

const EchoSkill = defineSkill({
  name: "EchoSkill",
  description: "Repeats a text",
  methods: {
    echo: { description: "Repeat a text", input: TEXT, readOnly: true, run: async ({ text }) => text },
    note: { description: "Write a text", input: TEXT, run: async ({ text }) => text },
    erase: { description: "Erase a text", input: TEXT, destructive: true, run: async ({ text }) => text },
  },
});

export async function benchAudit() {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-bench-"));
  try {
    const opening = await measureOpening(folder);
    const rate = await measureAppends(join(folder, "appends"));
    table(
      "Store and audit log",
      ["", "", "wanted"],
      [
        ["opening a new store, ms", opening.created, ""],
        ["opening a store again, ms", opening.again, ""],
        [`records committed a second, ${CALLERS} callers at once`, rate, "5000"],
      ],
    );
    const rows = [];
    for (const [method, effect] of METHODS) {
      const { off, store } = await measureRuns(folder, method);
      rows.push([`runtime.run, one call that ${effect}`, off, store, store - off, store / off]);
    }
    const calls = await measureServedCalls(folder);
    table(
      "With the audit log beside without it, ms",
      ["", "without", "with", "difference", "ratio"],
      [
        ...rows,
        [
          "tools/call at /rpc, a call that reads",
          calls.off,
          calls.store,
          calls.store - calls.off,
          calls.store / calls.off,
        ],
      ],
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureOpening(folder) {
  const times = { created: [], again: [] };
  for (let round = 0; round < 20; round++) {
    for (const list of [times.created, times.again]) {
      const since = performance.now();
      const database = await openDatabase({ folder: join(folder, `opened-${round}`) });
      list.push(performance.now() - since);
      await database.close();
    }
  }
  return { created: median(times.created), again: median(times.again) };
}

/** Each caller waits until its record is committed before it adds the next one. */
async function measureAppends(folder) {
  const database = await openDatabase({ folder });
  const writer = createAuditWriter(
    async () => database.audit,
    (error) => console.error(error),
  );
  const since = performance.now();
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      for (let callId = 0; callId < RECORDS / CALLERS; callId++) {
        writer.add(createRecord(`caller-${caller}`, callId));
        await writer.flush();
      }
    }),
  );
  const seconds = (performance.now() - since) / 1_000;
  const { kind, records } = await database.audit.verify();
  await database.close();
  if (kind !== "intact" || records !== RECORDS) throw new Error(`The log is ${kind} with ${records} records`);
  return RECORDS / seconds;
}

function createRecord(caller, callId) {
  const time = new Date().toISOString();
  const facts = {
    runId: "4982f1d4-5a7b-4b0e-9f5e-0c1d2e3f4a5b",
    method: "EchoSkill.echo",
    argumentsDigest: "b5dc728a",
  };
  return { ...facts, event: "end", time, caller, callId, decision: "allowed", outcome: "ok", durationMs: 1 };
}

const METHODS = [
  ["echo", "reads"],
  ["note", "may change something"],
  ["erase", "is destructive"],
];

/** Runs that follow each other without a pause, so that the commits that come after an outcome are measured, too. */
const RUNS = 200;

/** Both runtimes have a store, so that only the records differ. */
async function measureRuns(folder, method) {
  const open = (audit) =>
    createRuntime({ skillsDir: false, skills: [EchoSkill], store: join(folder, `runs-${method}-${audit}`), audit });
  const [off, store] = [await open("off"), await open("store")];
  let n = 0;
  const run = async (runtime) => {
    const { value } = await runtime.run(`const r${n} = await device.EchoSkill.${method}({ text: "${n}" }); r${n}`);
    if (value !== String(n++)) throw new Error(`A run gives ${value}`);
  };
  const runAll = async (runtime) => {
    const since = performance.now();
    for (let each = 0; each < RUNS; each++) await run(runtime);
    return { tookMs: (performance.now() - since) / RUNS };
  };
  const medians = await interleaved({ off: () => runAll(off), store: () => runAll(store) }, 40, 1);
  await Promise.all([off.close(), store.close()]);
  return medians;
}

async function measureServedCalls(folder) {
  const [off, store] = [await startServer(folder, "off"), await startServer(folder, "store")];
  try {
    return await interleaved({ off: off.call, store: store.call }, 30);
  } finally {
    for (const { child } of [off, store]) child.kill();
    await Promise.all([off, store].map(({ exited }) => exited));
  }
}

async function startServer(folder, audit) {
  const place = join(folder, `served-${audit}`);
  mkdirSync(join(place, "skills"), { recursive: true });
  writeFileSync(join(place, "skills/echo.ts"), ECHO_FILE);
  writeFileSync(join(place, "settings.yaml"), `audit: ${audit}\nstore: { dir: state }\n`);
  const options = { cwd: place, env: { PATH: process.env.PATH, HOME: place }, stdio: ["ignore", "ignore", "pipe"] };
  const child = spawn(process.execPath, [BIN, "serve", "--http", "--port", "0", "--no-auth"], options);
  child.stderr.resume();
  const exited = once(child, "exit");
  const [line] = await once(createInterface({ input: child.stderr }), "line");
  const url = new URL("/rpc", /http:\S+\/mcp/.exec(line)[0]);
  const params = { name: "EchoSkill.echo", arguments: { text: "2" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  return {
    child,
    exited,
    call: async () => {
      const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
      const { result, error } = await answer.json();
      if (result?.data !== "2") throw new Error(JSON.stringify(error ?? result));
    },
  };
}

if (process.argv[1] === import.meta.filename) await benchAudit();
