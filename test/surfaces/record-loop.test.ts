// @module-tag rest

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Json } from "../../src/model/json.ts";
import { createRuntime, type Runtime } from "../../src/runtime.ts";
import type { Database } from "../../src/store/index.ts";
import { createConsole } from "../../src/surfaces/console/index.ts";
import { type HttpServer, SERVER_DEFAULTS, serveHttp } from "../../src/surfaces/http/index.ts";
import { canProbe, LoopProbe, requireShortTurns } from "../support/loop-probe.ts";

const SKILL = `
/** Gives what a hostile server gives. */
export class HostileSkill {
  /** Give members. @readonly */
  wide() { return Object.fromEntries(Array.from({ length: 60_000 }, (_, id) => ["name" + id, id])); }
  /** Repeat a text. @param {string} text @param {number} units @returns {string} */
  repeat(text, units) { return text.repeat(Math.ceil(units / text.length)); }
  /** Pay. @approval user */
  pay() { return 1; }
  /** Take a value. @param {{ value?: unknown }} input @returns {number} @readonly */
  take(input) { return 1; }
}`;

const LIMITS = { cpuMs: 30_000, wallMs: 60_000 };

const COUNT_INPUT = "Object.keys(await device.input()).length";

const nest = (depth: number): unknown => (depth === 0 ? 1 : [nest(depth - 1)]);

/** Programs whose records are as large as records can be, and their inputs. */
const RUNS: readonly (readonly [name: string, code: string, input: unknown])[] = [
  [
    "fifty texts of 1 MB",
    'return (await Promise.all(Array.from({ length: 50 }, () => device.HostileSkill.repeat("some text", 1e6)))).length',
    undefined,
  ],
  [
    "hundreds of texts that a page shows",
    'return (await Promise.all(Array.from({ length: 450 }, () => device.HostileSkill.repeat("a:b ", 25_000)))).length',
    undefined,
  ],
  [
    "hundreds of arguments that a page shows",
    'await Promise.all(Array.from({ length: 450 }, (_, id) => device.HostileSkill.take({ value: ("a:b " + id).repeat(4_000) }))); return 1',
    undefined,
  ],
  ["many members", "return Object.keys(await device.HostileSkill.wide()).length", undefined],
  ["an input with many members", COUNT_INPUT, Object.fromEntries(numbers(60_000, (id) => [`name${id}`, id]))],
  ["an input with a member that has many", COUNT_INPUT, { all: Object.fromEntries(numbers(15_000, (id) => [id, id])) }],
  ["an input of many lists", COUNT_INPUT, { lists: numbers(350_000, () => []) }],
  ["an input of deep lists", COUNT_INPUT, { lists: numbers(400, () => nest(150)) }],
  ["an input of equal rows", COUNT_INPUT, { rows: numbers(9_000, (id) => ({ id, tags: ["a"], at: { x: 1 } })) }],
];

let folder: string;
let runtime: Runtime;
let server: HttpServer;
let probe: LoopProbe;

beforeAll(async () => {
  if (!canProbe) return;
  folder = mkdtempSync(join(tmpdir(), "skillgate-record-loop-"));
  writeFileSync(join(folder, "hostile.mjs"), SKILL);
  const options = { cwd: folder, env: { PATH: process.env["PATH"], HOME: folder } };
  runtime = await createRuntime({
    ...options,
    skillsDir: folder,
    mcpServers: {},
    store: join(folder, "store"),
    runs: { record: "full" },
    approvals: { wait: false },
    typecheck: false,
  });
  await runtime.ready;
  const pages = createConsole(runtime, {
    config: {
      options: { ...options, home: folder },
      settingsFile: join(folder, "settings.yaml"),
      skillsFolder: folder,
    },
  });
  const settings = { ...SERVER_DEFAULTS, port: 0, auth: false as const, drainSeconds: 0 };
  server = await serveHttp(runtime, settings, undefined, { pages });
  probe = new LoopProbe();
  const id = await start("return 1");
  for (let count = 0; count < 3; count++) for (const use of Object.values(USES)) await use(id);
}, 60_000);

afterAll(async () => {
  if (!canProbe) return;
  probe.close();
  await server.close();
  await runtime.close();
  rmSync(folder, { recursive: true });
});

/** What callers and browsers ask for. */
const USES: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
  show: (id) => runtime.runs.show(id),
  compare: (id) => runtime.runs.compare(id, id),
  replay: (id) => runtime.runs.replay(id),
  save: (id) => save(id).catch(() => undefined), // a large one is refused
  page: (id) => get(`/runs/${id}`),
  comparison: (id) => get(`/runs/${id}/diff/${id}`),
};

describe.runIf(canProbe)("keeps the turns of the event loop short for what is done with a record [P4, R1]", () => {
  test.each(RUNS)("of %s", async (_name, code, input) => {
    const id = await start(code, input);
    for (const use of Object.values(USES)) await requireShortTurns(probe, () => use(id));
  });

  test("of a thousand questions with long arguments", async () => {
    const { approvals } = await runtime.database();
    const text = "x".repeat(60_000);
    for (let id = 0; id < 1_000; id++) await approvals.add(createQuestion(`q${id}`, { text }));
    const uses = [
      () => runtime.approvals.list("pending"),
      () => get("/overview"),
      () => get("/approvals"),
      () => get("/approvals?state=pending"),
      () => fetch(`${server.url}/approvals`).then((response) => response.text()),
      () => runtime.run("return device.HostileSkill.pay()"),
    ];
    for (const use of uses) await requireShortTurns(probe, use);
    expect(await runtime.approvals.list("pending")).toHaveLength(1_000);
  });

  test("finds a use that takes long", async () => {
    const id = await start(RUNS[0]?.[1] ?? "");
    const work = async (): Promise<void> => {
      const { calls } = await runtime.runs.record(id);
      await probe.takeLongest();
      for (let count = 0; count < 2; count++) JSON.parse(JSON.stringify([...calls.values()]));
    };
    await expect(requireShortTurns(probe, work)).rejects.toThrow("to be less than or equal to 50");
  });
});

async function start(code: string, input?: unknown): Promise<string> {
  const outcome = await runtime.run(code, { limits: LIMITS, ...(input !== undefined && { input }) });
  expect(outcome).toMatchObject({ kind: "completed" });
  return outcome.runId;
}

function createQuestion(id: string, input: Json): Parameters<Database["approvals"]["add"]>[0] {
  return {
    id,
    runId: `run-${id}`,
    callId: 1,
    caller: "ada",
    path: "HostileSkill.pay",
    description: "Pay",
    marks: [],
    approver: "user",
    arguments: input,
    digest: id,
    plan: [],
    provenance: [],
    scopes: ["once"],
    waiter: null,
    created: Date.now(),
    expires: Date.now() + 600_000,
  };
}

function save(id: string): Promise<unknown> {
  const names = { name: "SavedSkill", method: "run", description: undefined, cassetteFile: "saved.cassette.json" };
  return runtime.savedSkills.save(id, { ...names, parameters: [] });
}

async function get(path: string): Promise<void> {
  const answer = await fetch(`${server.url}/console/api${path}`);
  expect(answer.status).toBe(200);
  await answer.arrayBuffer();
}

function numbers<Item>(length: number, make: (id: number) => Item): Item[] {
  return Array.from({ length }, (_, id) => make(id));
}
