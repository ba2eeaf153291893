import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, onTestFinished, test } from "vitest";

import { defineSkill } from "../../../../src/authoring/define-skill.ts";
import { createOccurrence } from "../../../../src/automations/index.ts";
import { createKeys } from "../../../../src/keys/index.ts";
import type {
  AutomationCalendar,
  AutomationCheck,
  AutomationDetail,
  AutomationFileText,
  AutomationHistory,
  AutomationList,
  OccurrenceInput,
} from "../../../../src/surfaces/console/automation-messages.ts";
import {
  BOTH_COLOURS,
  checkViews,
  type ConsoleServer,
  type ConsoleServerOptions,
  findViolations,
  goTo,
  hasChromium,
  openConsole,
  serveConsole,
  takeScreenshot,
  TOKEN,
  useBrowser,
  writeProgram,
} from "../browser.ts";

const SECRET = "hook-secret-5b1c0a7e44";

const INPUT = {
  type: "object",
  properties: { text: { type: "string", description: "what it posts" } },
  required: ["text"],
} as const;

const SOURCE = `const { text } = device.input();\nreturn await device.BoardSkill.post({ text });`;

interface BoardServer extends ConsoleServer {
  readonly posts: string[];
  /** Writes the file of an automation. */
  readonly write: (name: string, changes?: Readonly<Record<string, unknown>>) => void;
}

/** A board on which posts of "no" fail. */
async function serveBoard(onEnd: ConsoleServerOptions["onEnd"] = onTestFinished): Promise<BoardServer> {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-board-"));
  onEnd(async () => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "automations"));
  const posts: string[] = [];
  const post = ({ text }: { readonly text: string }): number => {
    if (text === "no" && !posts.includes("yes")) throw new Error("the board refuses it");
    return posts.push(text);
  };
  const board = defineSkill({
    name: "BoardSkill",
    description: "A board",
    methods: { post: { description: "Posts a text", input: INPUT, run: post } },
  });
  const env = { HOME: folder, HOOK_SECRET: SECRET };
  const server = await serveConsole({
    settings: { auth: true },
    runtime: { cwd: folder, store: join(folder, "state"), skills: [board], typecheck: false, env },
    onEnd,
  });
  await createKey(server, "poster", ["call:BoardSkill.*"]);
  const write: BoardServer["write"] = (name, changes = {}) => {
    const file = { description: `Posts as ${name}`, key: "poster", input: INPUT, source: SOURCE, ...changes };
    writeFileSync(join(folder, "automations", `${name}.yaml`), JSON.stringify(file));
  };
  return Object.assign(server, { posts, write });
}

const closers: (() => Promise<void>)[] = [];
let shared: Promise<BoardServer> | undefined;

/** Returns the board of the tests without a secret: once a runtime knows one, it masks it in all that it shows. */
function shareBoard(): Promise<BoardServer> {
  return (shared ??= serveBoard((close) => void closers.unshift(close)));
}

/** Removes what a test has left on the shared board. */
async function clearBoard(): Promise<void> {
  if (shared === undefined) return;
  const { posts, runtime } = await shared;
  posts.length = 0;
  for (const { name } of await runtime.automations.list()) await runtime.automations.remove(name);
  const keys = createKeys(await runtime.database());
  for (const { id, name, revoked } of await keys.list())
    if (name !== "poster" && revoked === null) await keys.revoke(id);
}

async function createKey(server: ConsoleServer, name: string, permissions: readonly string[]): Promise<string> {
  const { text } = await createKeys(await server.runtime.database()).create({ name, permissions });
  return text;
}

interface Answer<Value> {
  readonly status: number;
  readonly json: Value;
}

async function send<Value = unknown>(
  server: ConsoleServer,
  path: string,
  {
    token = TOKEN,
    body,
    method = body === undefined ? "GET" : "POST",
  }: { readonly token?: string; readonly body?: object; readonly method?: "GET" | "POST" | "PUT" } = {},
): Promise<Answer<Value>> {
  const headers = { authorization: `Bearer ${token}`, "x-skillgate-console": "1", "content-type": "application/json" };
  const response = await fetch(`${server.url}/console/api${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  expect(text).not.toContain(SECRET);
  return { status: response.status, json: (text === "" ? undefined : JSON.parse(text)) as Value };
}

function remove(server: ConsoleServer, name: string, token = TOKEN): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, "x-skillgate-console": "1" };
  return fetch(`${server.url}/console/api/automations/${name}`, { method: "DELETE", headers });
}

/** Stores a proposal of a model. Returns its text. */
async function propose(server: ConsoleServer, name: string, key: string): Promise<string> {
  const text = JSON.stringify({ description: "Posts", key, input: INPUT, source: SOURCE });
  const { automations } = await server.runtime.database();
  const nothing = { reason: null, digest: null, failures: 0, lastSlot: null };
  const row = { ...nothing, name, state: "proposed", by: "a-model", created: 1, updated: Date.now() } as const;
  await automations.put(row, { text, methods: {}, caller: "" });
  return text;
}

/** Stores deliveries that wait because the runs of this hour are reached. Returns when the next run may begin. */
async function addWaiting(server: ConsoleServer, name: string): Promise<number> {
  const { automations } = await server.runtime.database();
  const now = Date.now();
  for (const id of ["a", "b", "c"]) {
    const row = createOccurrence({ automation: name, id, kind: "delivery" }, now);
    await automations.addOccurrence(id === "a" ? { ...row, state: "completed", started: now, ended: now } : row);
  }
  return now + 3_600_000;
}

/** Accepts an automation as the page does. */
async function accept(server: ConsoleServer, name: string): Promise<void> {
  const { json } = await send<AutomationDetail>(server, `/automations/${name}`);
  const body = { digest: json.offer?.digest };
  expect(await send(server, `/automations/${name}/accept`, { body })).toMatchObject({ status: 204 });
}

/** Runs an automation and waits for its end. */
async function run(server: ConsoleServer, name: string, input: unknown): Promise<string> {
  const { status, json } = await send<{ readonly id: string }>(server, `/automations/${name}/run`, { body: { input } });
  expect(status).toBe(201);
  await server.runtime.automations.whenEnded({ automation: name, id: json.id });
  return json.id;
}

describe("the endpoints of automations", () => {
  afterEach(clearBoard);
  afterAll(async () => {
    for (const close of closers) await close();
  });

  test("show an automation, and accept, run, repeat, pause and resume it", { tags: "rest" }, async () => {
    const server = await serveBoard();
    server.write("report", {
      schedule: { cron: "0 9 * * *", zone: "Asia/Tokyo", input: { text: "morning" } },
      webhook: { verify: "github", secrets: ["${HOOK_SECRET}"] },
    });
    const { json: fresh } = await send<AutomationDetail>(server, "/automations/report");
    expect(fresh).toMatchObject({
      state: "unaccepted",
      key: "poster",
      next: null,
      webhook: `${server.url}/hooks/report`,
      hook: { scheme: "github", secrets: ["${HOOK_SECRET}"] },
      timing: { zone: "Asia/Tokyo", overlap: "skip", catchUp: "none" },
      limits: { runsPerHour: 120 },
      example: { text: expect.any(String) },
      isHidden: false,
      offer: { calls: [{ path: "BoardSkill.post", effect: "write" }], source: SOURCE, flaw: null },
      problem: null,
    });
    expect(fresh.timing?.next).toHaveLength(5);
    await accept(server, "report");
    const headers = { "content-type": "application/json", "x-hub-signature-256": `sha256=${"0".repeat(64)}` };
    const refused = await fetch(`${server.url}/hooks/report`, { method: "POST", headers, body: "{}" });
    expect(refused.status).toBe(401);
    expect((await send<AutomationDetail>(server, "/automations/report")).json.hook?.refused).toMatchObject({
      count: 1,
    });
    const id = await run(server, "report", { text: "no" });
    const { json: history } = await send<AutomationHistory>(server, "/automations/report/history");
    expect(history).toMatchObject({ rows: [{ id, kind: "manual", state: "failed", attempt: 1 }], hasMore: false });
    expect(history.rows[0]?.error).toContain("the board refuses it");
    await run(server, "report", { text: "yes" });
    const again = await send(server, "/automations/report/retry", { body: { occurrence: id } });
    expect(again).toMatchObject({ status: 200, json: { id, state: "due", attempt: 2 } });
    await server.runtime.automations.whenEnded({ automation: "report", id });
    expect(server.posts).toEqual(["yes", "no"]);
    const body = { reason: "holiday" };
    expect(await send(server, "/automations/report/pause", { body })).toMatchObject({ status: 204 });
    const { json: list } = await send<AutomationList>(server, "/automations");
    expect(list).toMatchObject({
      rows: [{ name: "report", state: "paused", reason: "holiday", last: { state: "completed", error: null } }],
      total: 1,
      states: { paused: 1 },
    });
    expect(await send(server, "/automations/report/resume", { body: {} })).toMatchObject({ status: 204 });
    expect((await send<AutomationDetail>(server, "/automations/report")).json.state).toBe("enabled");
  });

  test("say which deliveries wait because the runs of an hour are reached", async () => {
    const server = await serveBoard();
    server.write("report", { webhook: { verify: "github", secrets: ["${HOOK_SECRET}"] }, limits: { runsPerHour: 1 } });
    await accept(server, "report");
    const { json: before } = await send<AutomationDetail>(server, "/automations/report");
    expect(before.waiting).toBe(null);
    const waiting = { deliveries: 2, runsPerHour: 1, next: await addWaiting(server, "report") };
    const { json: list } = await send<AutomationList>(server, "/automations");
    expect(list.rows).toMatchObject([{ name: "report", waiting }]);
    const { json: detail } = await send<AutomationDetail>(server, "/automations/report");
    expect(detail.waiting).toEqual(waiting);
  });

  test("accept only the version that was shown, and describe a file that cannot be used", async () => {
    const server = await shareBoard();
    server.write("report");
    const { json } = await send<AutomationDetail>(server, "/automations/report");
    server.write("report", { description: "Posts more" });
    const stale = { digest: json.offer?.digest };
    expect(await send(server, "/automations/report/accept", { body: stale })).toMatchObject({
      status: 409,
      json: { code: "AUTOMATION_HELD", detail: expect.stringContaining("it has changed since you looked at it") },
    });
    expect(await send(server, "/automations/report/accept", { body: {} })).toMatchObject({ status: 400 });
    await accept(server, "report");
    server.write("report", { description: "Posts less" });
    expect((await send<AutomationDetail>(server, "/automations/report")).json).toMatchObject({
      state: "held",
      offer: { difference: { lines: [expect.stringMatching(/^- .*Posts more/), expect.stringMatching(/^\+ /)] } },
    });
    expect(await send(server, "/automations/report/run", { body: {} })).toMatchObject({ status: 409 });
    server.write("report", { cron: 1 });
    expect((await send<AutomationDetail>(server, "/automations/report")).json).toMatchObject({
      state: "held",
      offer: null,
      problem: expect.stringContaining("unknown field cron"),
    });
    expect(await send(server, "/automations/gone")).toMatchObject({
      status: 404,
      json: { code: "AUTOMATION_UNKNOWN" },
    });
  });

  test("check and replace the file of an automation, and replace no version that was not shown", async () => {
    const server = await shareBoard();
    server.write("report");
    await accept(server, "report");
    const { json: file } = await send<AutomationFileText>(server, "/automations/report/text");
    const text = file.text.replace("Posts as report", "Posts better");
    const check = await send<AutomationCheck>(server, "/automations/report/check", { body: { text } });
    expect(check.json).toMatchObject({ problem: null, offer: { flaw: null, calls: [{ path: "BoardSkill.post" }] } });
    expect(check.json.offer?.difference.lines).toHaveLength(2);
    const broken = await send<AutomationCheck>(server, "/automations/report/check", { body: { text: "key: 1" } });
    expect(broken.json).toEqual({ offer: null, problem: expect.stringMatching(/report\.yaml:1: .*description/) });
    const put = (body: object): Promise<Answer<unknown>> =>
      send(server, "/automations/report", { method: "PUT", body });
    expect(await put({ ...file, text: "key: 1" })).toMatchObject({ status: 400 });
    expect(await put({ ...file, text: `${text}***` })).toMatchObject({ status: 400 });
    expect((await send<AutomationDetail>(server, "/automations/report")).json).toMatchObject({ state: "enabled" });
    expect(await put({ ...file, text })).toMatchObject({ status: 204 });
    expect(await put({ ...file, text })).toMatchObject({ status: 409, json: { code: "AUTOMATION_HELD" } });
    expect((await send<AutomationDetail>(server, "/automations/report")).json).toMatchObject({
      description: "Posts better",
      offer: { difference: { lines: [expect.stringMatching(/^- /), expect.stringMatching(/^\+ /)] } },
    });
    server.write("report", { description: 1 });
    const { json: unusable } = await send<AutomationFileText>(server, "/automations/report/text");
    expect(await put({ ...unusable, text })).toMatchObject({ status: 204 });
    expect(await send(server, "/automations/absent/text")).toMatchObject({ status: 404 });
    expect(await send(server, "/automations/..%2Freport/text")).toMatchObject({ status: 404 });
  });

  test("do not show the file of an automation that contains a secret", async () => {
    const server = await serveBoard();
    server.write("report", { description: `Posts ${SECRET}` });
    server.write("hook", { webhook: { verify: "github", secrets: ["${HOOK_SECRET}"] } });
    await accept(server, "hook");
    await server.runtime.automations.receive("hook", { headers: {}, body: Buffer.from(""), address: "::1" });
    const answer = await send(server, "/automations/report/text");
    expect(answer).toMatchObject({ status: 400, json: { detail: expect.stringContaining("edit it in the project") } });
  });

  test(
    "hide the program, its inputs and errors from readers who may not see its methods",
    { tags: "rest" },
    async () => {
      const server = await shareBoard();
      server.write("report");
      await accept(server, "report");
      const id = await run(server, "report", { text: "no" });
      const reader = { token: await createKey(server, "reader", ["admin:Read"]) };
      const seer = { token: await createKey(server, "seer", ["admin:Read", "see:BoardSkill.*"]) };
      const detail = await send<AutomationDetail>(server, "/automations/report", reader);
      expect(detail.json).toMatchObject({ isHidden: true, offer: null, last: { error: null } });
      expect((await send<AutomationHistory>(server, "/automations/report/history", reader)).json.rows[0]).toMatchObject(
        {
          id,
          state: "failed",
          error: null,
        },
      );
      const input = `/automations/report/input?occurrence=${id}`;
      expect(await send(server, input, reader)).toMatchObject({ status: 403, json: { code: "RUN_HIDDEN" } });
      expect((await send<AutomationDetail>(server, "/automations/report", seer)).json).toMatchObject({
        isHidden: false,
        offer: { source: SOURCE },
      });
      expect((await send<OccurrenceInput>(server, input, seer)).json).toEqual({ json: '{"text":"no"}' });
      for (const path of ["accept", "pause", "resume", "run", "retry"]) {
        const body = { digest: "a", occurrence: id };
        const answer = await send(server, `/automations/report/${path}`, { ...seer, body });
        expect(answer, path).toMatchObject({ status: 403, json: { code: "ADMIN_MISSING" } });
      }
      const ada = { token: await createKey(server, "ada", ["call:*"]) };
      for (const path of ["/automations", "/automations/report", "/automations/report/history", input, "/calendar"])
        expect(await send(server, path, ada), path).toMatchObject({ status: 403 });
    },
  );

  test("mask secrets in inputs, and refuse what is too long or unknown", async () => {
    const server = await serveBoard();
    server.runtime.secrets.add([SECRET]);
    server.write("report");
    await accept(server, "report");
    const id = await run(server, "report", { text: `the secret ${SECRET}` });
    const { json } = await send<OccurrenceInput>(server, `/automations/report/input?occurrence=${id}`);
    expect(json.json).toBe('{"text":"the secret [redacted]"}');
    for (const path of [`/automations?text=${"a".repeat(201)}`, "/automations?state=odd", "/automations?limit=501"])
      expect(await send(server, path), path).toMatchObject({ status: 400 });
    for (const reason of [1, "a".repeat(501)])
      expect(await send(server, "/automations/report/pause", { body: { reason } })).toMatchObject({ status: 400 });
    expect(await send(server, "/automations/report/input?occurrence=gone")).toMatchObject({
      status: 404,
      json: { code: "OCCURRENCE_UNKNOWN" },
    });
  });

  test("list the history in parts, and the coming slots of eight days at most", async () => {
    const server = await shareBoard();
    server.write("report", { schedule: { every: "6h", input: { text: "a" } } });
    await accept(server, "report");
    for (const text of ["a", "b", "c"]) await run(server, "report", { text });
    const read = (part: string) => send<AutomationHistory>(server, `/automations/report/history?${part}`);
    expect((await read("limit=2")).json).toMatchObject({ rows: [{}, {}], hasMore: true });
    expect((await read("limit=2&offset=2")).json).toMatchObject({ rows: [{ state: "completed" }], hasMore: false });
    const { json } = await send<AutomationCalendar>(server, `/calendar?until=${Date.now() + 1e12}`);
    expect(json.slots.length).toBeGreaterThanOrEqual(31);
    expect(json.slots.length).toBeLessThanOrEqual(33);
    expect(json.until - json.from).toBe(8 * 86_400_000);
  });

  test("show a proposal of a model whole, and accept it with another key, or remove it", async () => {
    const server = await shareBoard();
    const text = await propose(server, "report", "absent");
    const { json } = await send<AutomationDetail>(server, "/automations/report");
    expect(json).toMatchObject({
      state: "proposed",
      by: "a-model",
      key: "absent",
      offer: { text, flaw: expect.stringContaining("there is no key absent") },
    });
    const offer = await send<{ readonly digest: string }>(server, "/automations/report/offer?key=poster");
    expect(offer.json).toMatchObject({ flaw: null, calls: [{ path: "BoardSkill.post", effect: "write" }] });
    const { digest } = offer.json;
    expect((await send(server, "/automations/report/accept", { body: { digest } })).status).toBe(409);
    expect((await send(server, "/automations/report/accept", { body: { digest, key: "poster" } })).status).toBe(204);
    expect((await send<AutomationDetail>(server, "/automations/report")).json).toMatchObject({
      state: "enabled",
      key: "poster",
    });
    await propose(server, "other", "poster");
    expect((await remove(server, "other")).status).toBe(204);
    expect((await send(server, "/automations/other")).status).toBe(404);
  });

  test("save a run that worked, or its program if it was not recorded, and remove what was saved", async () => {
    const server = await shareBoard();
    const source = 'await device.BoardSkill.post({ text: "hello" })';
    const { runId } = await server.runtime.run(source);
    const body = { name: "daily", key: "poster", run: runId, schedule: { every: "1h" }, parameters: ["text=hello"] };
    const reader = { token: await createKey(server, "reader", ["call:*", "admin:Read"]) };
    expect(await send(server, "/automations", { ...reader, body })).toMatchObject({
      status: 403,
      json: { code: "ADMIN_MISSING" },
    });
    const save = (changes: object) => send(server, "/automations", { body: { ...body, ...changes } });
    for (const changes of [
      { name: "" },
      { key: 1 },
      { schedule: "daily" },
      { parameters: Array.from({ length: 51 }, () => "a") },
      { run: "gone" },
    ])
      expect((await save(changes)).status, JSON.stringify(changes)).toBeGreaterThanOrEqual(400);
    expect(await save({})).toMatchObject({ status: 201, json: { name: "daily", file: "daily.yaml" } });
    expect(await save({})).toMatchObject({ status: 400, json: { code: "OPTION_INVALID" } });
    const { json } = await send<AutomationDetail>(server, "/automations/daily");
    expect(json).toMatchObject({ state: "unaccepted", schedule: "every 1h", input: { required: ["text"] } });
    await accept(server, "daily");
    await run(server, "daily", { text: "again" });
    expect(server.posts).toEqual(["hello", "again"]);
    expect(await save({ name: "other", run: "gone", source: "return 1" })).toMatchObject({
      status: 400,
      json: { detail: expect.stringContaining("leave parameters empty") },
    });
    const unrecorded = { name: "other", run: "gone", source: "return 1", parameters: [] };
    expect(await save(unrecorded)).toMatchObject({ status: 201, json: { name: "other" } });
    expect((await remove(server, "other", reader.token)).status).toBe(403);
    expect((await remove(server, "other")).status).toBe(204);
    expect((await remove(server, "other")).status).toBe(404);
  });

  test("report changes to the browsers of administrators", async () => {
    const server = await shareBoard();
    server.write("report");
    await accept(server, "report");
    const events = await followEvents(server, TOKEN);
    await server.runtime.automations.pause("report");
    await events("automations");
  });
});

describe.skipIf(!hasChromium)("the page of automations", () => {
  useBrowser();

  test("says how to make the first one [O2]", { tags: "rest" }, async () => {
    const server = await serveBoard();
    const { page, faults } = await openConsole(server, "#/automations");
    await page.getByText("No automations").waitFor();
    await page.getByRole("link", { name: "playground", exact: true }).waitFor();
    await goTo(page, "#/automations?view=calendar");
    await page.getByText("Nothing is due in these days").waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("accepts, runs, repeats, pauses and resumes one by keyboard, live [O2]", { tags: "rest" }, async () => {
    const server = await serveBoard();
    server.write("report", { schedule: { cron: "0 9 * * *", zone: "Asia/Tokyo", input: { text: "a" } } });
    const { page, faults } = await openConsole(server, "#/automations");
    await page.getByRole("link", { name: "report", exact: true }).press("Enter");
    await page.getByRole("heading", { level: 1, name: "report" }).waitFor();
    await page.getByRole("button", { name: "Accept …" }).press("Enter");
    const dialog = page.getByRole("dialog", { name: "Accept report" });
    await dialog.getByText("BoardSkill.post", { exact: true }).waitFor();
    await checkViews(page, [...BOTH_COLOURS, ["dark", 360]], async (view) => {
      await takeScreenshot(page, `accept-automation-${view}`);
      expect(await findViolations(page), view).toEqual([]);
    });
    await dialog.getByRole("button", { name: "Accept", exact: true }).press("Enter");
    await page.getByText("at 09:00, every day, in Asia/Tokyo").waitFor();
    await page.getByRole("button", { name: "Run now …" }).press("Enter");
    await page.getByLabel("text (required)").fill("no");
    await page.getByRole("button", { name: "Run", exact: true }).press("Enter");
    await page.getByText("the board refuses it").first().waitFor();
    // The page follows a change that it did not make.
    const { id } = await server.runtime.automations.run("report", { input: { text: "yes" } });
    await server.runtime.automations.whenEnded({ automation: "report", id });
    await page.getByText("completed").first().waitFor();
    await page.getByRole("button", { name: /^Retry/ }).press("Enter");
    await expect.poll(() => server.posts).toEqual(["yes", "no"]);
    await page.getByText("attempt 2").waitFor();
    await page.getByRole("button", { name: "Input" }).first().press("Enter");
    await page.getByRole("dialog", { name: "Input" }).getByText('"no"').waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Pause …" }).press("Enter");
    await page.getByLabel("Reason").fill("holiday");
    await page.keyboard.press("Enter");
    await page.getByText("holiday").waitFor();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    await checkViews(page, [...BOTH_COLOURS, ["light", 360]], async (view) => {
      await takeScreenshot(page, `automation-${view}`);
      expect(await findViolations(page), view).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth"), view).toBeLessThanOrEqual(0);
    });
    await page.getByRole("button", { name: "Resume" }).press("Enter");
    await page.getByText("enabled", { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test("saves a run of the playground, and removes what was saved [O2]", { tags: "rest" }, async () => {
    const server = await serveBoard();
    const { page, faults } = await openConsole(server, "#/playground");
    await writeProgram(page, 'return await device.BoardSkill.post({ text: "hello" })');
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("button", { name: "Save as an automation …" }).press("Enter");
    const dialog = page.getByRole("dialog", { name: "Save as an automation" });
    await dialog.getByLabel(/^Name/).fill("daily");
    await dialog.getByLabel(/^Key/).selectOption("poster");
    await dialog.getByLabel("It runs").selectOption("for deliveries to a webhook");
    await dialog.getByLabel(/^Secret/).fill("plain");
    await page.getByRole("button", { name: "Save", exact: true }).press("Enter");
    await dialog.getByText("a secret must not be in the file").first().waitFor();
    await dialog.getByLabel("It runs").selectOption("at times of the clock (cron)");
    await dialog.getByLabel(/^Cron/).fill("0 9 * * MON-FRI");
    await dialog.getByLabel(/^Zone/).fill("Europe/Berlin");
    await checkViews(page, [...BOTH_COLOURS, ["dark", 360]], async (view) => {
      await takeScreenshot(page, `save-automation-${view}`);
      expect(await findViolations(page), view).toEqual([]);
    });
    await page.getByRole("button", { name: "Save", exact: true }).press("Enter");
    await page.getByRole("heading", { level: 1, name: "daily" }).waitFor();
    await page.getByText("at 09:00, Monday to Friday, in Europe/Berlin").waitFor();
    await page.getByRole("button", { name: "Remove" }).press("Enter");
    await page.getByRole("dialog", { name: "Remove daily?" }).getByRole("button", { name: "Remove" }).press("Enter");
    await page.getByText("No automations").waitFor();
    // The browser notes the refusal of the plain secret.
    expect(faults.filter((fault) => !fault.includes("status of 400"))).toEqual([]);
  });

  test("edits the file of an automation, with its mistakes and its plan [O2]", { tags: "rest" }, async () => {
    const server = await serveBoard();
    server.write("report");
    await accept(server, "report");
    const { page, faults } = await openConsole(server, "#/automations/report");
    await page.getByRole("button", { name: "Edit …" }).press("Enter");
    const dialog = page.getByRole("dialog", { name: "Edit report" });
    await dialog.getByText("BoardSkill.post", { exact: true }).waitFor();
    await writeProgram(page, "key: poster\n");
    await dialog.getByText(/report\.yaml:1: the field description is missing/).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Discard the changes?" }).getByRole("button", { name: "Cancel" }).click();
    const source = "await device.BoardSkill.post({ text: 'edited' });";
    await writeProgram(page, JSON.stringify({ description: "Posts again", key: "poster", source }));
    await dialog.getByText(/the field description is missing/).waitFor({ state: "hidden" });
    await dialog.getByText("BoardSkill.post", { exact: true }).waitFor();
    await checkViews(page, [...BOTH_COLOURS, ["dark", 360]], async (view) => {
      await takeScreenshot(page, `edit-automation-${view}`);
      expect(await findViolations(page), view).toEqual([]);
    });
    await dialog.getByRole("button", { name: "Save", exact: true }).press("Enter");
    await page.getByText("Posts again").first().waitFor();
    await page.getByRole("button", { name: "Accept …" }).press("Enter");
    await page.getByRole("button", { name: "Accept", exact: true }).press("Enter");
    await page.getByRole("button", { name: "Run now" }).press("Enter");
    await expect.poll(() => server.posts).toEqual(["edited"]);
    expect(faults).toEqual([]);
  });

  test("says which deliveries wait for their runs, and until when", { tags: "rest" }, async () => {
    const server = await serveBoard();
    server.write("report", { webhook: { verify: "github", secrets: ["${HOOK_SECRET}"] }, limits: { runsPerHour: 1 } });
    await accept(server, "report");
    await addWaiting(server, "report");
    const { page, faults } = await openConsole(server, "#/automations");
    await page.getByText(/2 deliveries wait: 1 run an hour is reached; the next begins at \d/).waitFor();
    await page.getByRole("link", { name: "report", exact: true }).click();
    await page.getByRole("heading", { name: "When it runs" }).waitFor();
    await page.getByText(/2 deliveries wait: 1 run an hour is reached; the next begins at \d/).waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("shows a proposal whole, and accepts it with a key that a person chooses [O2]", { tags: "rest" }, async () => {
    const server = await serveBoard();
    await propose(server, "report", "absent");
    const { page, faults } = await openConsole(server, "#/automations/report");
    await page.getByRole("button", { name: "Accept …" }).press("Enter");
    const dialog = page.getByRole("dialog", { name: "Accept report" });
    await dialog.getByText("A model has written this").waitFor();
    await dialog.getByText("there is no key absent").waitFor();
    expect(await dialog.getByRole("button", { name: "Accept", exact: true }).count()).toBe(0);
    await dialog.getByLabel(/^Key/).selectOption("poster");
    await dialog.getByRole("button", { name: "Accept", exact: true }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Accept", exact: true }).press("Enter");
    await page.getByText("enabled", { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test("lists and filters them, and shows the week as a table or a list [O2]", { tags: "rest" }, async () => {
    const server = await serveBoard();
    const tokyo = { cron: "30 8,20 * * *", zone: "Asia/Tokyo", input: { text: "a" } };
    server.write("tokyo", { schedule: tokyo });
    server.write("often", { schedule: { every: "5m", input: { text: "a" } } });
    server.write("odd", { cron: 1 });
    for (const name of ["tokyo", "often"]) await accept(server, name);
    const { page, faults } = await openConsole(server, "#/automations");
    await page.getByRole("link", { name: "odd", exact: true }).waitFor();
    await checkViews(page, [...BOTH_COLOURS, ["dark", 360]], async (view) => {
      await takeScreenshot(page, `automations-${view}`);
      expect(await findViolations(page), view).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth"), view).toBeLessThanOrEqual(0);
    });
    await page.getByLabel("State").selectOption("held (1)");
    await page.getByRole("link", { name: "tokyo", exact: true }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "odd", exact: true }).waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole("link", { name: "Calendar" }).press("Enter");
    await page.getByRole("region", { name: "Calendar of the coming days" }).waitFor();
    const table = page.getByRole("table", { name: "Coming slots by hour and day" });
    await table.getByRole("columnheader").nth(6).waitFor();
    expect(await table.getByRole("link", { name: "tokyo" }).count()).toBeGreaterThanOrEqual(12);
    await page.getByRole("heading", { name: "Many times a day" }).waitFor();
    await checkViews(page, BOTH_COLOURS, async (view) => {
      await takeScreenshot(page, `automations-calendar-${view}`);
      expect(await findViolations(page), view).toEqual([]);
    });
    await checkViews(page, [["dark", 360]], async (view) => {
      await table.waitFor({ state: "detached" });
      await page.getByRole("link", { name: "tokyo" }).first().waitFor();
      await takeScreenshot(page, `automations-calendar-${view}`);
      expect(await findViolations(page), view).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth"), view).toBeLessThanOrEqual(0);
    });
    expect(faults).toEqual([]);
  });
});

/** Opens the stream of a caller. Returns the function that waits for an event of a name. */
async function followEvents(server: ConsoleServer, token: string): Promise<(name: string) => Promise<void>> {
  const headers = { authorization: `Bearer ${token}`, "x-skillgate-console": "1" };
  const { body } = await fetch(`${server.url}/console/api/events`, { headers });
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  onTestFinished(() => reader?.cancel());
  let text = "";
  return async (name) => {
    while (!text.includes(`event: ${name}\n`)) {
      const part = await reader?.read();
      if (part === undefined || part.done) throw new Error(`the stream ended: ${text}`);
      text += part.value;
    }
  };
}
