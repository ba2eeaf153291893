import { hash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";

import { createOccurrence } from "../../src/automations/index.ts";
import { createRuntime, defineSkill, type Runtime, type RuntimeOptions } from "../../src/index.ts";
import { createKeys } from "../../src/keys/index.ts";
import type { OccurrenceRow } from "../../src/store/index.ts";

let folder: string;
let runtime: Runtime;
let posts: unknown[];
/** Why the next posts fail, in order. */
let failures: (string | undefined)[];

const POST_INPUT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;

function createBoard(postDescription = "Posts a text"): ReturnType<typeof defineSkill> {
  return defineSkill({
    name: "BoardSkill",
    description: "A board",
    methods: {
      list: { description: "Lists texts", readOnly: true, run: async () => [...posts] },
      post: {
        description: postDescription,
        input: POST_INPUT,
        run: async ({ text }: { text: string }) => {
          const failure = failures.shift();
          if (failure !== undefined) throw new Error(failure);
          posts.push(text);
          return posts.length;
        },
      },
    },
  });
}

async function open(options: RuntimeOptions = {}): Promise<Runtime> {
  return createRuntime({
    cwd: folder,
    skillsDir: false,
    skills: [createBoard()],
    store: join(folder, "state"),
    typecheck: false, // the compiler takes a second of computing to load
    ...options,
  });
}

async function createKey(name: string, permissions: readonly string[]): Promise<void> {
  await createKeys(await runtime.database()).create({ name, permissions });
}

const SOURCE = 'const { text = "hello" } = device.input() ?? {};\nawait device.BoardSkill.post({ text });';

async function write(name: string, changes: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const fields = { description: "Posts", key: "poster", input: { type: "object" }, source: SOURCE, ...changes };
  await writeFile(join(folder, "automations", `${name}.yaml`), JSON.stringify(fields));
}

async function runOnce(input: unknown = { text: "hello" }): Promise<OccurrenceRow> {
  return runtime.automations.whenEnded(await runtime.automations.run("report", { input }));
}

const POSTER = { name: "poster", permissions: ["call:BoardSkill.*"] };

/** Creates a project with a runtime and the key `poster`. */
async function openProject(options: RuntimeOptions = {}): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), "skillgate-automations-"));
  await mkdir(join(folder, "automations"));
  posts = [];
  failures = [];
  runtime = await open(options);
  await createKeys(await runtime.database()).create(POSTER);
}

/** Creates the project of one test, which may close its runtime and open another one. */
async function openOwnProject(options?: RuntimeOptions): Promise<void> {
  await openProject(options);
  onTestFinished(closeProject);
}

async function closeProject(): Promise<void> {
  await runtime.close();
  await rm(folder, { recursive: true });
}

/** Creates one project for the tests of a group, which leave its runtime open. */
function shareProject(): void {
  let shared: { readonly folder: string; readonly runtime: Runtime };
  beforeAll(async () => {
    await openProject();
    shared = { folder, runtime };
  });
  beforeEach(() => {
    ({ folder, runtime } = shared);
    posts = [];
    failures = [];
  });
  // What a test leaves would be there for the next one.
  afterEach(async () => {
    const { automations } = shared.runtime;
    for (const { name } of await automations.list()) await automations.remove(name);
    const keys = createKeys(await shared.runtime.database());
    for (const { id, name } of await keys.list()) if (name !== POSTER.name) await keys.revoke(id);
    if ((await keys.findCaller(POSTER.name))?.state !== "active") await keys.create(POSTER);
    shared.runtime.unregister("BoardSkill");
    shared.runtime.register(createBoard());
  });
  afterAll(async () => {
    ({ folder, runtime } = shared);
    await closeProject();
  });
}

describe("an automation", () => {
  shareProject();

  test("runs under its key once it was accepted, with its input", async () => {
    await write("report");
    expect(await runtime.automations.list()).toMatchObject([{ name: "report", state: "unaccepted", key: "poster" }]);
    await expect(runtime.automations.run("report")).rejects.toThrow(
      /report: it was not accepted; accept it with: skillgate automation accept report \(AUTOMATION_HELD\)/,
    );
    const { review, flaw } = await runtime.automations.offer("report");
    expect(flaw).toBeUndefined();
    expect(review.calls).toEqual([{ path: "BoardSkill.post", effect: "write" }]);
    expect(await runtime.automations.accept("report")).toMatchObject({ state: "enabled", by: "owner" });
    expect(await runOnce({ text: "a" })).toMatchObject({ state: "completed", kind: "manual" });
    expect(posts).toEqual(["a"]);
    const [run] = await runtime.runs.list();
    expect(run?.caller).toMatch(/^key:poster:/);
    expect(await runtime.automations.history("report")).toMatchObject([{ state: "completed", run: run?.id }]);
  });

  test("says how it is started with the input that its program reads", async () => {
    await write("report", { input: undefined });
    await runtime.automations.accept("report");
    const { id } = await runtime.automations.run("report");
    expect(await runtime.automations.whenEnded({ automation: "report", id })).toMatchObject({
      state: "failed",
      error: expect.stringMatching(/start it with one: skillgate automation run report --input .*, or schedule\.input/),
    });
  });

  test.each([
    ["its file changed", async () => write("report", { description: "Posts more" }), /its file has changed/],
    [
      "a method changed",
      async () => {
        runtime.unregister("BoardSkill");
        runtime.register(createBoard("Posts a text to everyone"));
      },
      /BoardSkill\.post has changed since it was accepted/,
    ],
    [
      "its key was revoked",
      async () => void (await createKeys(await runtime.database()).revoke("poster")),
      /the key poster was revoked/,
    ],
    ["its file cannot be read", async () => write("report", { cron: 1 }), /unknown field cron/],
  ])("is held when %s, until it is accepted again", async (_what, change, why) => {
    await write("report");
    await runtime.automations.accept("report");
    await change();
    await expect(runtime.automations.run("report", { input: {} })).rejects.toThrow(why);
    expect(await runtime.automations.get("report")).toMatchObject({ state: "held" });
    await expect(runtime.automations.resume("report")).rejects.toThrow(/accept it with: skillgate automation accept/);
    expect(posts).toEqual([]);
  });

  test("says what has changed, and runs again when it is accepted", async () => {
    await write("report");
    await runtime.automations.accept("report");
    await write("report", { source: 'await device.BoardSkill.list(); await device.BoardSkill.post({ text: "b" });' });
    const { difference, digest } = await runtime.automations.offer("report");
    expect(difference.lines).toMatchObject(
      [/^- \{.*device\.input/, /^\+ \{.*BoardSkill\.list/].map((line): unknown => expect.stringMatching(line)),
    );
    expect(difference.methods).toMatchObject([{ path: "BoardSkill.list", now: expect.stringContaining("list()") }]);
    await write("report", { source: 'await device.BoardSkill.post({ text: "c" });' });
    await expect(runtime.automations.accept("report", { digest })).rejects.toThrow(
      /it has changed since you looked at it/,
    );
    const { digest: shown } = await runtime.automations.offer("report");
    runtime.unregister("BoardSkill");
    runtime.register(createBoard("Posts a text to everyone"));
    await expect(runtime.automations.accept("report", { digest: shown })).rejects.toThrow(
      /has changed since you looked/,
    );
    await runtime.automations.accept("report");
    expect(await runOnce()).toMatchObject({ state: "completed" });
    expect(posts).toEqual(["c"]);
  });

  test.each([
    ["without its key", { key: "absent" }, /there is no key absent; create it/],
    [
      "with the key of an administrator",
      { key: "admin" },
      /has admin:ManageServers; the key of an automation must not/,
    ],
    ["without the right to a method", { key: "reader" }, /its program is refused at line 2: .*BoardSkill\.post/],
    [
      "with a mistake in its program",
      { source: "await device.BoardSkill.pots({})" },
      /its program is refused at line 1/,
    ],
    [
      "with a method that only the run knows",
      { source: "const [found] = await device.search_skills('post a text'); await found.call({ text: 'a' });" },
      /calls a method that is known only when it runs: name the method/,
    ],
    [
      "with another plan",
      { plan: [{ "BoardSkill.post": "read" }] },
      /BoardSkill\.post is read in its plan, and now write/,
    ],
  ])("is not accepted %s", async (_what, changes, why) => {
    await createKey("admin", ["call:*", "admin:ManageServers"]);
    await createKey("reader", ["call:BoardSkill.list"]);
    await write("report", changes);
    await expect(runtime.automations.accept("report")).rejects.toThrow(why);
    expect(await runtime.automations.list()).toMatchObject([{ state: "unaccepted" }]);
  });

  test("is paused after five failures in succession, and resumed by a person", async () => {
    await write("report");
    await runtime.automations.accept("report");
    failures = Array.from({ length: 5 }, () => "the board is full");
    for (let at = 1; at <= 5; at++) {
      expect(await runOnce()).toMatchObject({ state: "failed", error: expect.stringContaining("the board is full") });
      expect(await runtime.automations.get("report")).toMatchObject({
        state: at < 5 ? "failing" : "paused",
        failures: at,
      });
    }
    await expect(runtime.automations.run("report")).rejects.toThrow(/it is paused: 5 failures in succession/);
    expect(await runtime.automations.resume("report")).toMatchObject({ state: "enabled", failures: 0 });
    expect(await runOnce()).toMatchObject({ state: "completed" });
  });

  test("does not do again what a failed run has done, when a person asks for it again", async () => {
    await write("report", {
      source: 'await device.BoardSkill.post({ text: "one" });\nawait device.BoardSkill.post({ text: "two" });',
    });
    await runtime.automations.accept("report");
    failures = [undefined, "no paper"];
    const failed = await runOnce();
    expect(failed.state).toBe("failed");
    expect(posts).toEqual(["one"]);
    const done = await runtime.automations.whenEnded(await runtime.automations.retry("report", failed.id));
    expect(done).toMatchObject({ state: "completed", attempt: 2, id: failed.id });
    expect(posts).toEqual(["one", "two"]);
    await expect(runtime.automations.retry("report", failed.id)).rejects.toThrow(
      /is completed, so it is not run again/,
    );
  });

  test("takes an input only by its schema, and a wrong one is no failure of the automation", async () => {
    const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
    await write("report", { input, schedule: { every: "1d", input: { text: 1 } } });
    await runtime.automations.accept("report");
    await expect(runtime.automations.run("report", { input: { text: 1 } })).rejects.toThrow(/"text" must be a string/);
    const { automations } = await runtime.database();
    const slot = createOccurrence({ automation: "report", id: "slot", kind: "slot" }, Date.now());
    await automations.addOccurrence(slot);
    await runtime.automations.follow();
    const ended = await runtime.automations.whenEnded(slot);
    expect(ended).toMatchObject({ state: "failed", error: expect.stringMatching(/"text" must be a string/) });
    expect(await runtime.automations.get("report")).toMatchObject({ state: "enabled", failures: 0 });
    expect(posts).toEqual([]);
  });

  test("is not run where runs are not recorded", async () => {
    await openOwnProject({ runs: { record: "off" } });
    await write("report");
    await expect(runtime.automations.accept("report")).rejects.toThrow(/runs\.record is off/);
  });

  test("is unknown by another name", async () => {
    await write("report");
    await expect(runtime.automations.get("reprot")).rejects.toThrow(/reprot.*report/);
  });
});

test("leaves what waits to a process that follows automations, when another one accepts or resumes", async () => {
  await openOwnProject();
  await write("report");
  await runtime.automations.accept("report");
  await runtime.automations.pause("report");
  const { automations } = await runtime.database();
  await automations.addOccurrence(
    createOccurrence({ automation: "report", id: "d", kind: "delivery" }, Date.now()),
    "{}",
  );
  await runtime.automations.resume("report");
  await runtime.automations.accept("report");
  await runtime.close(); // what had begun would end first
  expect(posts).toEqual([]);
  runtime = await open();
  await runtime.automations.follow();
  expect(await runtime.automations.whenEnded({ automation: "report", id: "d" })).toMatchObject({ state: "completed" });
  expect(posts).toEqual(["hello"]);
});

test("is held when the requests of an API would go to another server", { tags: "rest" }, async () => {
  await openOwnProject();
  const post = { operationId: "post", summary: "Post", responses: { 200: { description: "Done" } } };
  const document = { openapi: "3.1.0", info: { title: "Board", version: "1" }, paths: { "/posts": { post } } };
  await writeFile(join(folder, "board.json"), JSON.stringify(document));
  const reopen = async (server: string): Promise<void> => {
    await runtime.close();
    runtime = await open({ sources: { board: { openapi: "board.json", server } } });
    await runtime.known;
  };
  await reopen("https://board.example");
  await createKey("api", ["call:BoardAPI.*"]);
  await write("report", { key: "api", source: "await device.BoardAPI.post();" });
  await runtime.automations.accept("report");
  await reopen("https://other.example");
  await expect(runtime.automations.run("report")).rejects.toThrow(/BoardAPI\.post has changed since it was accepted/);
  const { difference } = await runtime.automations.offer("report");
  expect(difference.methods).toMatchObject([
    { before: expect.stringContaining("https://board.example"), now: expect.stringContaining("https://other.example") },
  ]);
});

test("runs the slots of a schedule, each once of two runtimes on one store", async () => {
  await openOwnProject();
  // The slot of each minute would be long to wait for, so the automation was last looked at two minutes ago.
  await write("report", { schedule: { every: "1m", catchUp: "one", input: { text: "slot" } } });
  await runtime.automations.accept("report");
  const { automations } = await runtime.database();
  await automations.update("report", { lastSlot: Date.now() - 180_000, updated: Date.now() });
  const other = await open();
  await Promise.all([runtime.automations.follow(), other.automations.follow()]);
  for (;;) {
    const ended = await automations.listOccurrences({ automation: "report", state: "completed" });
    const open = await automations.countOccurrences({ automation: "report", ended: null });
    if (ended.length > 0 && open === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await other.close();
  const rows = await runtime.automations.history("report");
  const completed = rows.filter(({ state }) => state === "completed");
  expect(posts).toHaveLength(completed.length);
  expect(rows.some(({ state }) => state === "missed")).toBe(true);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
});

describe("a schedule does not end in silence", () => {
  const logs: string[] = [];
  beforeEach(async () => {
    logs.length = 0;
    await openProject({ log: (_level, text) => void logs.push(text) });
    await write("report", { schedule: { every: "365d", input: {} } });
    await runtime.automations.accept("report");
    await runtime.automations.follow();
  });
  afterEach(closeProject);

  test("when its file changes long before its next slot: it is held", async () => {
    await write("report", { schedule: { every: "366d", input: {} } });
    const { automations } = await runtime.database();
    await expect.poll(async () => (await automations.get("report"))?.state, { timeout: 5_000 }).toBe("held");
  });

  test("when its file is gone: the log says so", async () => {
    await rm(join(folder, "automations", "report.yaml"));
    await expect.poll(() => logs.join("\n"), { timeout: 5_000 }).toMatch(/Without their files in .*: report/);
  });
});

test("an automation that another process has removed does not miss its file", async () => {
  const logs: string[] = [];
  await openOwnProject({ log: (_level, text) => void logs.push(text) });
  const schedule = { every: "1m", catchUp: "one", input: { text: "slot" } };
  for (const name of ["report", "other"]) await write(name, { schedule });
  await runtime.automations.accept("report");
  await runtime.automations.follow();
  const person = await open();
  await person.automations.remove("report");
  await person.automations.accept("other");
  await (await person.database()).automations.update("other", { lastSlot: Date.now() - 180_000, updated: Date.now() });
  await person.close();
  await expect.poll(() => posts, { timeout: 10_000 }).toContain("slot"); // the changes were read
  expect(logs.filter((text) => text.startsWith("Without"))).toEqual([]);
});

test("a row that was written while the clock was far ahead hides no later change of another", async () => {
  await openOwnProject();
  await write("report");
  await write("other", { schedule: { every: "1m", catchUp: "one", input: { text: "slot" } } });
  await runtime.automations.accept("report");
  const { automations } = await runtime.database();
  await automations.update("report", { updated: Date.now() + 86_400_000 });
  await runtime.automations.follow();
  await runtime.automations.accept("other");
  await automations.update("other", { lastSlot: Date.now() - 180_000, updated: Date.now() });
  await expect.poll(() => posts, { timeout: 10_000 }).toContain("slot");
});

test("schedules begin as soon as the store works that did not at the start", async () => {
  await openOwnProject();
  await write("report", { schedule: { every: "1m", catchUp: "one", input: { text: "slot" } } });
  await runtime.automations.accept("report");
  await (await runtime.database()).automations.update("report", { lastSlot: Date.now() - 180_000 });
  await runtime.close();
  const [state, away] = [join(folder, "state"), join(folder, "away")];
  await rename(state, away);
  await writeFile(state, "not a folder");
  runtime = await open();
  await runtime.automations.follow();
  await rm(state);
  await rename(away, state);
  await expect.poll(() => posts, { timeout: 15_000 }).toContain("slot");
});

test(
  "is held when the program of a saved skill changed behind the same definition, not when the skill loses its mark",
  { tags: "rest" },
  async () => {
    await openOwnProject();
    await mkdir(join(folder, "skills"));
    const saved = async (text: string): Promise<void> => {
      const skill = {
        format: "skillgate-saved-1",
        name: "GreetSkill",
        description: "Greets",
        method: "greet",
        run: "1f",
        cassette: "greet.cassette.json",
        parameters: {},
        source: `return await device.BoardSkill.post({ text: ${JSON.stringify(text)} });`,
      };
      await writeFile(join(folder, "skills", "greet.saved.yaml"), JSON.stringify(skill));
    };
    await saved("hello");
    await runtime.close();
    runtime = await open({ skillsDir: "skills" });
    await createKey("greeter", ["call:*"]);
    await write("report", { key: "greeter", source: "await device.GreetSkill.greet();" });
    await runtime.automations.accept("report");
    for (let at = 0; at < 6; at++) expect(await runOnce({})).toMatchObject({ state: "completed" });
    await saved("good bye");
    await runtime.close();
    runtime = await open({ skillsDir: "skills" });
    await runtime.ready;
    await expect(runtime.automations.run("report")).rejects.toThrow(
      /GreetSkill\.greet has changed since it was accepted/,
    );
    expect(posts).not.toContain("good bye");
  },
);

describe("an automation whose webhook has the id of another one", () => {
  shareProject();

  const WEBHOOK = { verify: "github", secrets: ["${HOOK_SECRET}"] };
  const WHY =
    "its webhook has the id report, which the automation report has already; write another one, as in webhook: { id: second-hook }";

  test("is not accepted", async () => {
    await write("report", { webhook: WEBHOOK });
    await write("second", { webhook: { ...WEBHOOK, id: "report" } });
    await runtime.automations.accept("report");
    expect((await runtime.automations.offer("second")).flaw).toBe(WHY);
    await expect(runtime.automations.accept("second")).rejects.toThrow(`second: ${WHY} (AUTOMATION_HELD)`);
    await write("second", { webhook: { ...WEBHOOK, id: "second-hook" } });
    expect(await runtime.automations.accept("second")).toMatchObject({ state: "enabled", webhook: "second-hook" });
    // Its own id is its own also when it is accepted again.
    expect(await runtime.automations.accept("report")).toMatchObject({ state: "enabled", webhook: "report" });
  });

  test("is not written, also while neither is accepted", async () => {
    await write("report", { webhook: WEBHOOK });
    const from = { source: SOURCE };
    const save = (id: string) =>
      runtime.automations.save({ name: "second", key: "poster", from, webhook: { ...WEBHOOK, id } });
    await expect(save("report")).rejects.toThrow(`second: ${WHY} (AUTOMATION_INVALID)`);
    expect(await save("other")).toMatchObject({ name: "second" });
  });

  test("is held with the reason when both were accepted at once, and the first one keeps the id", async () => {
    await write("report", { webhook: WEBHOOK });
    await write("second", { webhook: { ...WEBHOOK, id: "other" } });
    for (const name of ["report", "second"]) await runtime.automations.accept(name);
    await write("second", { webhook: { ...WEBHOOK, id: "report" } });
    expect(await runtime.automations.get("second")).toMatchObject({
      state: "held",
      reason: expect.stringMatching(/its file has changed/),
    });
    // Another process accepts it at the same moment, and does not see the first one.
    const { automations } = await runtime.database();
    const row = await automations.get("second");
    const version = await automations.getVersion("second");
    if (row === undefined || version === undefined) throw new TypeError("The automation is gone");
    const text = await readFile(join(folder, "automations", "second.yaml"), "utf8");
    const accepted = { ...row, state: "enabled", digest: hash("sha256", text), updated: Date.now() } as const;
    await automations.put(accepted, { ...version, text });
    const request = { headers: {}, body: Buffer.from("{}"), address: "192.0.2.1" };
    await runtime.automations.receive("report", request);
    await expect.poll(async () => runtime.automations.get("second")).toMatchObject({ state: "held", reason: WHY });
    expect(await runtime.automations.get("report")).toMatchObject({ state: "enabled" });
  });
});
