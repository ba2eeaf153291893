// @module-tag rest

import { createHmac } from "node:crypto";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { setTimeout as wait } from "node:timers/promises";
import { writeFileSync } from "node:fs";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime } from "../../src/index.ts";
import { createKeys } from "../../src/keys/index.ts";
import { getUserStateDir } from "../../src/runtime/user-state-dir.ts";
import { getProjectStateDir } from "../../src/shared/files/project-state-dir.ts";
import { findSqlite, type SqliteConnection } from "../../src/store/database/sqlite-program.ts";
import type { OccurrenceRow } from "../../src/store/index.ts";
import { startApiServer } from "../support/servers/api-server.ts";
import { environment, project, start } from "../surfaces/cli/command.ts";

const SECRET = "secret-of-the-test";

const PROGRAM = `await device.input();
await device.ReceiverAPI.post({ text: "first" });
await device.ReceiverAPI.count();
await device.ReceiverAPI.post({ text: "second" });
`;

const TRIGGERS = {
  slot: { schedule: { every: "1h", catchUp: "one" } },
  delivery: { webhook: { verify: "github", secrets: ["${HOOK_SECRET}"] } },
} as const;

type Kind = keyof typeof TRIGGERS;

/** A server that writes down what it does, and can hold an answer back. */
interface Receiver {
  readonly origin: string;
  /** The texts in the order in which they came; with idempotency keys, each key once. */
  readonly texts: readonly string[];
  /** Holds the answers to a text from now on, or those of `count`; resolves when one is held. */
  holdAnswer(text: string): Promise<void>;
  release(): void;
}

async function startReceiver(): Promise<Receiver> {
  const texts: string[] = [];
  const keys = new Set<unknown>();
  let held: { readonly text: string; readonly reach: () => void } | undefined;
  const { origin } = await startApiServer(({ url, method, body, headers }, response) => {
    response.setHeader("content-type", "application/json");
    if (url === "/openapi.json") return response.end(describeReceiver(origin));
    const { text } = method === "GET" ? { text: "count" } : (JSON.parse(body) as { readonly text: string });
    const key = headers["idempotency-key"];
    if (method === "POST" && !keys.has(key)) texts.push(text);
    if (key !== undefined) keys.add(key);
    if (text === held?.text) return held.reach();
    return response.end(JSON.stringify({ text }));
  });
  return {
    origin,
    texts,
    holdAnswer: (text) => new Promise((reach) => (held = { text, reach })),
    release: () => (held = undefined),
  };
}

function describeReceiver(origin: string): string {
  const body = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  const responses = { 200: { description: "Done", content: { "application/json": { schema: { type: "object" } } } } };
  const get = { operationId: "count", summary: "Count the texts", responses };
  const post = {
    operationId: "post",
    summary: "Post a text",
    requestBody: { required: true, content: { "application/json": { schema: body } } },
    responses,
  };
  return JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Receiver", version: "1" },
    servers: [{ url: origin }],
    paths: { "/texts": { get, post } },
  });
}

interface Project {
  readonly runtime: Runtime;
  readonly receiver: Receiver;
  readonly connection: SqliteConnection;
  /** Sets the clocks of the servers to five minutes after the next slot. */
  passSlot(): void;
  startServer(): Server;
}

interface Server {
  /** Rejects if the process ends before. */
  readonly url: Promise<string>;
  kill(): Promise<void>;
}

/** A project with an accepted automation, which its servers run by a schedule of one slot an hour, or by a webhook. */
async function openProject(kind: Kind, source: object = {}): Promise<Project> {
  const receiver = await startReceiver();
  const cwd = project({
    "settings.yaml": JSON.stringify({
      server: { auth: false },
      sources: { receiver: { openapi: `${receiver.origin}/openapi.json`, private: true, ...source } },
    }),
  });
  const env = environment(cwd, { HOOK_SECRET: SECRET });
  const store = getProjectStateDir(cwd, env);
  // In the state of the user, so that the servers need not compile the document again.
  const mcp = { stateDir: getUserStateDir(env) ?? false } as const;
  const runtime = await createRuntime({ cwd, env, store, settings: "settings.yaml", skillsDir: false, mcp });
  onTestFinished(() => runtime.close());
  await runtime.ready;
  await createKeys(await runtime.database()).create({ name: "poster", permissions: ["call:ReceiverAPI.*"] });
  await runtime.automations.save({ name: "report", key: "poster", from: { source: PROGRAM }, ...TRIGGERS[kind] });
  await runtime.automations.accept("report");
  const clock = join(cwd, "clock");
  const preload = pathToFileURL(resolve("test/automations/shifted-clock.mjs")).href;
  const connection = findSqlite()?.connect(join(store, "skillgate.db"));
  if (connection === undefined) throw new Error("no SQLite");
  onTestFinished(() => void connection.close());
  connection.exec("PRAGMA busy_timeout = 0");
  return {
    runtime,
    receiver,
    connection,
    passSlot: () => writeFileSync(clock, String(HOUR_MS - (Date.now() % HOUR_MS) + 300_000)),
    startServer: () => startServer(cwd, { ...env, CLOCK_FILE: clock, NODE_OPTIONS: `--import=${preload}` }),
  };
}

function startServer(cwd: string, env: NodeJS.ProcessEnv): Server {
  const child = start(["serve", "--http", "--port", "0"], { cwd, env });
  const exited = once(child, "exit");
  let text = "";
  const url = new Promise<string>((settle, reject) => {
    child.once("exit", () => reject(new Error(`the server has ended: ${text}`)));
    child.stderr?.on("data", (chunk) => {
      text += String(chunk);
      const [, found] = /MCP at (http:\S+)\/mcp/.exec(text) ?? [];
      if (found !== undefined) settle(found);
    });
  });
  url.catch(() => {}); // of a process that is killed while it starts
  return {
    url,
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

const HOUR_MS = 3_600_000;

const BODY = JSON.stringify({ number: 1 });

/** Sends a delivery as a service does; undefined without an answer. */
async function deliver({ url }: Server): Promise<number | undefined> {
  const signature = `sha256=${createHmac("sha256", SECRET).update(BODY).digest("hex")}`;
  const headers = { "content-type": "application/json", "x-github-event": "issues", "x-hub-signature-256": signature };
  try {
    return (await fetch(`${await url}/hooks/report`, { method: "POST", headers, body: BODY })).status;
  } catch {
    return undefined;
  }
}

/** Makes the process that reaches a step stay in it: in the transaction that would store the step. */
function blockAt({ connection }: Project, step: string): void {
  connection.exec(
    "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
  );
  connection.exec(`CREATE TRIGGER block BEFORE ${step} BEGIN SELECT count(*) FROM endless; END`);
}

function unblock({ connection }: Project): void {
  connection.exec("DROP TRIGGER block");
  connection.exec("DROP VIEW endless");
}

/** Waits until a process stays in a transaction for half a second: it computes meanwhile. */
async function whenBlocked({ connection }: Project): Promise<void> {
  for (let looks = 0; looks < 10; await wait(50))
    try {
      connection.exec("BEGIN IMMEDIATE");
      connection.exec("ROLLBACK");
      looks = 0;
    } catch {
      looks++;
    }
}

async function whenEffectRecorded({ connection }: Project): Promise<void> {
  const answer = String.raw`"json":"{\"text\":\"first`;
  const recorded = connection.prepare(`SELECT seq FROM run_entries WHERE instr(events, '${answer}') > 0`);
  while (recorded.all().length === 0) await wait(20);
}

async function whenEnded({ runtime }: Project): Promise<readonly OccurrenceRow[]> {
  for (;;) {
    const rows = await runtime.automations.history("report");
    if (rows.length > 0 && rows.every(({ ended }) => ended !== null)) return rows;
    await wait(100);
  }
}

/** What the store has of the occurrence and of its run when the process is killed. */
type Stored = readonly [occurrence: string, run: string];

interface Step {
  readonly name: string;
  /** The statement that stays in its transaction, for SQLite. */
  readonly before?: string;
  /** Or the text whose answer is held. */
  readonly held?: string;
  readonly stored: Stored;
}

const STEPS: readonly Step[] = [
  { name: "before the occurrence is stored", before: "INSERT ON occurrences", stored: ["none", "none"] },
  {
    name: "before the claim",
    before: "UPDATE OF state ON occurrences WHEN new.state = 'running'",
    stored: ["due", "none"],
  },
  { name: "after the claim", before: "INSERT ON runs", stored: ["running", "none"] },
  { name: "after the first effect is recorded, in a read", held: "count", stored: ["running", "running"] },
  {
    name: "after the last effect is recorded",
    before: `INSERT ON run_entries WHEN instr(new.events, '"type":"outcome"') > 0`,
    stored: ["running", "running"],
  },
  {
    name: "after the end of the run",
    before: "UPDATE OF state ON occurrences WHEN new.state = 'completed'",
    stored: ["running", "completed"],
  },
];

const SLOT_STEP: Step = {
  name: "after the occurrence is stored, before the schedule has passed the slot",
  before: "UPDATE OF last_slot ON automations",
  stored: ["due", "none"],
};

/** In these, no record says whether the effect has happened. */
const UNSURE_STEPS: readonly Step[] = [
  { name: "in the middle of an effect", held: "second", stored: ["running", "running"] },
  {
    name: "after an effect, before its end is recorded",
    before: String.raw`INSERT ON run_entries WHEN instr(new.events, '"json":"{\"text\":\"second') > 0`,
    stored: ["running", "running"],
  },
];

const KINDS: readonly Kind[] = ["slot", "delivery"];

/** Each step for slots and for deliveries. */
function listCases(steps: readonly Step[]): readonly (readonly [kind: Kind, name: string, step: Step])[] {
  return KINDS.flatMap((kind) => steps.map((step) => [kind, step.name, step] as const));
}

/** Kills a process at a step, and lets another one end what it has begun. Returns the only occurrence. */
async function killAt(project: Project, kind: Kind, step: Step): Promise<OccurrenceRow> {
  const { receiver } = project;
  if (kind === "slot") {
    project.passSlot();
    if (step.before !== undefined) blockAt(project, step.before);
  }
  const held = step.held === undefined ? undefined : receiver.holdAnswer(step.held);
  const first = project.startServer();
  if (kind === "delivery") {
    await first.url;
    if (step.before !== undefined) blockAt(project, step.before);
    void deliver(first);
  }
  await (held ?? whenBlocked(project));
  // A read does not wait for the record of the effect before it.
  if (step.held === "count") await whenEffectRecorded(project);
  expect(await readStored(project)).toEqual(step.stored);
  await first.kill();
  expect(await readStored(project)).toEqual(step.stored);
  if (step.before !== undefined) unblock(project);
  receiver.release();
  const second = project.startServer();
  // The service has no answer, so it sends the delivery again.
  if (kind === "delivery") expect(await deliver(second)).toBeLessThan(300);
  const [row, ...others] = await whenEnded(project);
  expect(others).toEqual([]);
  if (kind === "delivery") expect(await deliver(second)).toBeLessThan(300);
  await second.kill();
  expect(await project.runtime.automations.history("report")).toEqual([row]);
  return row as OccurrenceRow;
}

async function readStored({ runtime }: Project): Promise<Stored> {
  const database = await runtime.database();
  const [row] = await database.automations.listOccurrences({});
  const run = row === undefined ? undefined : await database.runs.get(row.run);
  return [row?.state ?? "none", run?.state ?? "none"];
}

test.each([...listCases(STEPS), ["slot", SLOT_STEP.name, SLOT_STEP] as const])(
  "has each effect of a %s once when a process is killed %s",
  { timeout: 120_000 },
  async (kind, _name, step) => {
    const project = await openProject(kind);
    expect(await killAt(project, kind, step)).toMatchObject({ state: "completed", error: null });
    expect(project.receiver.texts).toEqual(["first", "second"]);
  },
);

test.each(listCases(UNSURE_STEPS))(
  "does not repeat an effect of a %s, and says so, when a process is killed %s",
  { timeout: 120_000 },
  async (kind, _name, step) => {
    const project = await openProject(kind);
    const { state, error, run } = await killAt(project, kind, step);
    const says = `A call had begun when the process ended, and how it ended is not known: ReceiverAPI.post, call 4, with the arguments [{"text":"second"}]; run ${run} (CALL_END_UNKNOWN)`;
    expect({ state, error }).toEqual({ state: "failed", error: says });
    expect(project.receiver.texts).toEqual(["first", "second"]);
  },
);

test.each(listCases(UNSURE_STEPS))(
  "sends an effect of a %s again with its idempotency key when a process is killed %s",
  { timeout: 120_000 },
  async (kind, _name, step) => {
    const project = await openProject(kind, { idempotencyHeader: "Idempotency-Key" });
    expect(await killAt(project, kind, step)).toMatchObject({ state: "completed", error: null });
    expect(project.receiver.texts).toEqual(["first", "second"]);
  },
);
