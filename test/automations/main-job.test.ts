// @module-tag rest

import type { ChildProcess } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { setTimeout as wait } from "node:timers/promises";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime, type RuntimeOptions } from "../../src/index.ts";
import { createKeys } from "../../src/keys/index.ts";
import { getProjectStateDir } from "../../src/shared/files/project-state-dir.ts";
import { type ApiServer, type ReceivedRequest, startApiServer } from "../support/servers/api-server.ts";
import { usePostgres } from "../support/databases.ts";
import { environment, project, start } from "../surfaces/cli/command.ts";
import {
  type ConsoleServer,
  hasChromium,
  openConsole,
  serveConsole,
  useBrowser,
  writeProgram,
} from "../surfaces/console/browser.ts";

/** How long the servers are killed and their clocks moved; ten minutes by hand. */
const MINUTES = Number(process.env["SKILLGATE_MAIN_JOB_MINUTES"] ?? 1.2);

const SECRET = "whsec-of-the-test";

const PROGRAM = `
const { slot, delivery } = await device.input();
const issues = await device.TrackerAPI.listIssues({ state: "open" });
const hours = issues.reduce((sum, { hours }) => sum + hours, 0);
await device.TrackerAPI.postMessage({ text: \`\${slot ?? delivery}: \${issues.length} issues, \${hours} hours\` });
`;

/** The input of the run in the playground. */
const FIRST = { delivery: "first" };

function createDocument(origin: string, parameters: readonly unknown[] = []): string {
  const issue = { type: "object", properties: { title: { type: "string" }, hours: { type: "number" } } };
  const state = { name: "state", in: "query", schema: { type: "string" } };
  const answer = (schema: unknown): unknown => ({
    200: { description: "Done", content: { "application/json": { schema } } },
  });
  const body = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  return JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Tracker", version: "1" },
    servers: [{ url: origin }],
    paths: {
      "/issues": {
        get: {
          operationId: "listIssues",
          summary: "List issues",
          parameters: [state, ...parameters],
          responses: answer({ type: "array", items: issue }),
        },
      },
      "/messages": {
        post: {
          operationId: "postMessage",
          summary: "Post a message",
          requestBody: { required: true, content: { "application/json": { schema: body } } },
          responses: answer({ type: "object", properties: { id: { type: "number" } } }),
        },
      },
    },
  });
}

interface Tracker extends ApiServer {
  /** The texts of the messages by their idempotency keys: the receiver takes each key once. */
  readonly messages: Map<string, string>;
  readonly alerts: readonly ReceivedRequest[];
  document: string;
  isBroken: boolean;
}

async function startTracker(): Promise<Tracker> {
  const messages = new Map<string, string>();
  const state = { document: "", isBroken: false, messages };
  const alerts: ReceivedRequest[] = [];
  const server = await startApiServer(async (request, response) => {
    const { url, method, headers, body } = request;
    response.setHeader("content-type", "application/json");
    if (url === "/openapi.json") return response.end(state.document);
    if (url === "/alerts") return response.end(JSON.stringify(alerts.push(request)));
    if (state.isBroken) return response.writeHead(500).end('{"error":"out of order"}');
    if (method === "GET") return response.end('[{"title":"a","hours":2},{"title":"b","hours":3}]');
    // Long enough to be killed in the middle.
    await wait(300);
    const { text } = JSON.parse(body) as { readonly text: string };
    messages.set(String(headers["idempotency-key"]), text);
    return response.end(JSON.stringify({ id: messages.size }));
  });
  state.document = createDocument(server.origin);
  return Object.assign(state, server, { alerts });
}

interface Server {
  readonly url: string;
  kill(): Promise<void>;
}

const postgres = usePostgres();
useBrowser();

test.each(postgres === undefined ? ["SQLite"] : ["SQLite", "PostgreSQL"])(
  "a program runs by its schedule and its webhook while servers are killed and clocks move, each time once: %s",
  { timeout: (MINUTES + 5) * 60_000 },
  async (kind) => {
    const tracker = await startTracker();
    const cwd = createProject(tracker, kind === "PostgreSQL" ? postgres?.url() : undefined);
    const env = environment(cwd, {
      HOOK_SECRET: SECRET,
      ALERT_SECRET: `whsec_${randomBytes(24).toString("base64")}`,
    });
    await writeInPlayground(cwd, env);
    expect([...tracker.messages.values()]).toEqual(["first: 2 issues, 5 hours"]);
    tracker.messages.clear();
    const runtime = await openRuntime(cwd, env);
    const begin = Date.now();
    expect(await runtime.automations.get("report")).toMatchObject({ state: "enabled" });

    const servers = await Promise.all([0, 1].map((at) => startServer(cwd, env, at)));
    const sent = await sendAndKill(servers, cwd, env, begin + MINUTES * 60_000);
    for (const at of [0, 1]) moveClock(cwd, at, 0);
    const end = Date.now();
    const rows = await whenDone(runtime);

    const texts = [...tracker.messages.values()];
    const ids = texts.map((text) => text.split(": ")[0] ?? "");
    expect(texts.every((text) => text.endsWith(": 2 issues, 5 hours"))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
    expect(sent.filter((id) => !ids.includes(id))).toEqual([]);
    const slots = listMinutes(begin, end);
    expect(slots.filter((slot) => !rows.some(({ id }) => id === slot))).toEqual([]);
    expect(rows.filter(({ state }) => state !== "completed" && state !== "missed")).toEqual([]);
    const completed = rows.filter(({ state }) => state === "completed").map(({ id }) => id);
    expect(new Set(completed)).toEqual(new Set(ids));

    // A change of the document holds it.
    tracker.document = createDocument(tracker.origin, [
      { name: "labels", in: "query", required: true, schema: { type: "string" } },
    ]);
    await runtime.refreshApi("tracker");
    await expect(runtime.automations.run("report")).rejects.toThrow(/TrackerAPI\.listIssues has changed since/);
    expect(await runtime.automations.get("report")).toMatchObject({ state: "held" });

    // Failures pause it, and an alert says so.
    tracker.document = createDocument(tracker.origin);
    await runtime.refreshApi("tracker");
    await runtime.automations.accept("report");
    tracker.isBroken = true;
    for (let at = 0; at < 5; at++) await runtime.automations.whenEnded(await runtime.automations.run("report"));
    expect(await runtime.automations.get("report")).toMatchObject({ state: "paused" });
    await expect
      .poll(() => tracker.alerts.map(({ body }) => (JSON.parse(body) as { readonly type: string }).type))
      .toContain("automation.paused");
  },
);

function createProject({ origin }: Tracker, url: string | undefined): string {
  return project({
    "settings.yaml": JSON.stringify({
      server: { auth: false },
      ...(url !== undefined && { store: { url } }),
      sources: { tracker: { openapi: `${origin}/openapi.json`, private: true, idempotencyHeader: "Idempotency-Key" } },
      alerts: { url: `${origin}/alerts`, secret: "${ALERT_SECRET}", private: true },
    }),
  });
}

const TRIGGERS = `schedule: { cron: "* * * * *", catchUp: all, overlap: queue }
limits: { runsPerHour: 10000 }
`;

/** Runs the program in the playground, saves it for the deliveries of a webhook, adds a schedule, and accepts it. */
async function writeInPlayground(cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const server = await serveConsole({ project: cwd, settings: { auth: true }, runtime: describeRuntime(cwd, env) });
  await server.runtime.ready;
  await createKeys(await server.runtime.database()).create({ name: "reporter", permissions: ["call:TrackerAPI.*"] });
  if (hasChromium) await saveInBrowser(server);
  else await saveByLibrary(server.runtime);
  await server.close();
}

async function saveInBrowser(server: ConsoleServer): Promise<void> {
  const { page, faults } = await openConsole(server, "#/playground");
  await writeProgram(page, PROGRAM);
  await page.getByLabel(/^Input/).fill(JSON.stringify(FIRST));
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("button", { name: "Save as an automation …" }).click();
  const dialog = page.getByRole("dialog", { name: "Save as an automation" });
  await dialog.getByLabel(/^Name/).fill("report");
  await dialog.getByLabel(/^Key/).selectOption("reporter");
  await dialog.getByLabel("It runs").selectOption("for deliveries to a webhook");
  await dialog.getByLabel(/^Secret/).fill("${HOOK_SECRET}");
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Edit …" }).click();
  const editor = page.getByRole("dialog", { name: "Edit report" });
  await editor.getByText("TrackerAPI.postMessage", { exact: true }).waitFor();
  await writeProgram(page, TRIGGERS + (await server.runtime.automations.readText("report")).text);
  await editor.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("every minute").waitFor();
  await page.getByRole("button", { name: "Accept …" }).click();
  await page.getByRole("button", { name: "Accept", exact: true }).click();
  await page.getByText("enabled", { exact: true }).waitFor();
  expect(faults).toEqual([]);
}

/** What the pages do, on a machine without Chromium. */
async function saveByLibrary(runtime: Runtime): Promise<void> {
  const { automations } = runtime;
  const outcome = await runtime.run(PROGRAM, { input: FIRST });
  const webhook = { verify: "github", secrets: ["${HOOK_SECRET}"] };
  await automations.save({ name: "report", key: "reporter", webhook, from: { run: outcome.runId } });
  const { text, digest } = await automations.readText("report");
  await automations.replaceText("report", { text: TRIGGERS + text, digest });
  await automations.accept("report");
}

function describeRuntime(cwd: string, env: NodeJS.ProcessEnv): RuntimeOptions {
  return {
    cwd,
    env,
    settings: join(cwd, "settings.yaml"),
    skillsDir: false,
    skills: [],
    store: getProjectStateDir(cwd, env),
  };
}

async function openRuntime(cwd: string, env: NodeJS.ProcessEnv): Promise<Runtime> {
  const runtime = await createRuntime(describeRuntime(cwd, env));
  onTestFinished(() => runtime.close());
  await runtime.ready;
  return runtime;
}

function moveClock(cwd: string, at: number, ms: number): void {
  writeFileSync(join(cwd, `clock-${at}`), String(ms));
}

async function startServer(cwd: string, env: NodeJS.ProcessEnv, at: number): Promise<Server> {
  const clock = pathToFileURL(resolve("test/automations/shifted-clock.mjs")).href;
  const own = { ...env, CLOCK_FILE: join(cwd, `clock-${at}`), NODE_OPTIONS: `--import=${clock}` };
  mkdirSync(cwd, { recursive: true });
  const child = start(["serve", "--http", "--port", "0"], { cwd, env: own });
  const url = await readUrl(child);
  return {
    url,
    async kill() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

function readUrl(child: ChildProcess): Promise<string> {
  let text = "";
  return new Promise((settle, reject) => {
    child.once("exit", () => reject(new Error(`the server has ended: ${text}`)));
    child.stderr?.on("data", (chunk) => {
      text += String(chunk);
      const [, url] = /MCP at (http:\S+)\/mcp/.exec(text) ?? [];
      if (url !== undefined) settle(url);
    });
  });
}

/** Sends deliveries as a service does, until they are taken, while servers are killed and their clocks move. */
async function sendAndKill(
  servers: Server[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  until: number,
): Promise<readonly string[]> {
  const sent: string[] = [];
  for (let step = 0; Date.now() < until; step++) {
    const at = step % 2;
    sent.push(await deliver(servers, { number: step }));
    // Within the tolerance of signed times, and beyond the slot of the next minute.
    moveClock(cwd, at, [0, 90_000, -90_000][step % 3] ?? 0);
    await wait(step % 4 === 0 ? 200 : 3_000);
    if (step % 3 !== 2) continue;
    await servers[at]?.kill();
    servers[at] = await startServer(cwd, env, at);
  }
  return sent;
}

/** Returns the id of the delivery. */
async function deliver(servers: readonly Server[], payload: unknown): Promise<string> {
  const body = JSON.stringify(payload);
  const signature = `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`;
  const headers = { "content-type": "application/json", "x-github-event": "issues", "x-hub-signature-256": signature };
  for (let attempt = 0; ; attempt++) {
    const { url } = servers[attempt % servers.length] as Server;
    try {
      const response = await fetch(`${url}/hooks/report`, { method: "POST", headers, body });
      if (response.ok) return ((await response.json()) as { readonly delivery: string }).delivery;
      if (attempt > 20) throw new Error(`${response.status}: ${await response.text()}`);
    } catch (error) {
      if (attempt > 20) throw error; // the server was killed, so the next one gets it
    }
    await wait(250);
  }
}

/** Waits until no occurrence is open. */
async function whenDone(runtime: Runtime): ReturnType<Runtime["automations"]["history"]> {
  for (;;) {
    const rows = await runtime.automations.history("report", { limit: 1_000 });
    if (rows.every(({ ended }) => ended !== null)) return rows;
    await wait(500);
  }
}

/** The minutes that have begun within a time. */
function listMinutes(begin: number, end: number): readonly string[] {
  const slots: string[] = [];
  for (let slot = Math.ceil(begin / 60_000) * 60_000; slot <= end - 10_000; slot += 60_000)
    slots.push(new Date(slot).toISOString());
  return slots;
}
