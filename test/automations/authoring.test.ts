import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { createRuntime, defineSkill, type Runtime } from "../../src/index.ts";
import { createKeys } from "../../src/keys/index.ts";

let folder: string;
let runtime: Runtime;
let posts: string[];

const TEXT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;

const PROGRAM = `const texts = await device.BoardSkill.list();
await device.BoardSkill.post({ text: "good morning" });
texts.length`;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "skillgate-authoring-"));
  posts = [];
  const board = defineSkill({
    name: "BoardSkill",
    description: "A board",
    methods: {
      list: { description: "Lists texts", readOnly: true, run: () => [...posts] },
      post: { description: "Posts a text", input: TEXT, run: ({ text }) => posts.push(text) },
    },
  });
  runtime = await createRuntime({ cwd: folder, skillsDir: false, skills: [board], store: join(folder, "state") });
  await createKeys(await runtime.database()).create({ name: "poster", permissions: ["call:BoardSkill.*"] });
});
afterEach(async () => {
  await runtime.close();
  await rm(folder, { recursive: true });
});

const getFile = (name: string): string => join(folder, "automations", name);

async function saveRun(fields: Partial<Parameters<Runtime["automations"]["save"]>[0]> = {}) {
  const { runId } = await runtime.run(PROGRAM);
  return runtime.automations.save({
    name: "report",
    key: "poster",
    from: { run: runId, parameters: ["text"] },
    ...fields,
  });
}

describe("save", () => {
  test("writes a run as an automation with its input, plan and cassette, which runs once it is accepted", async () => {
    const saved = await saveRun({ schedule: { cron: "0 9 * * *", zone: "Europe/Berlin" } });
    expect(saved).toMatchObject({
      name: "report",
      files: [getFile("report.yaml"), getFile("report.cassette.json")],
      calls: [
        { path: "BoardSkill.list", effect: "read" },
        { path: "BoardSkill.post", effect: "write" },
      ],
      example: { text: "good morning" },
    });
    const text = readFileSync(getFile("report.yaml"), "utf8");
    expect(text).toContain("description: Calls BoardSkill.list, BoardSkill.post\nkey: poster\n");
    expect(text).toContain("const { text } = await device.input();\n");
    expect(text).toContain("  - BoardSkill.list: read\n  - BoardSkill.post: write\n");
    expect(text).toContain("  input:\n    text: good morning\n");
    expect(await runtime.automations.get("report")).toMatchObject({ state: "unaccepted" });
    await runtime.automations.accept("report");
    const row = await runtime.automations.run("report", { input: { text: "again" } });
    expect(await runtime.automations.whenEnded(row)).toMatchObject({ state: "completed", error: null });
    expect(posts).toEqual(["good morning", "again"]);
  });

  test("writes a program without a run, and refuses one with mistakes", async () => {
    const save = (source: string, name = "plain") =>
      runtime.automations.save({ name, key: "poster", from: { source }, description: "Lists" });
    const saved = await save("await device.BoardSkill.list()");
    expect(saved).toMatchObject({
      files: [getFile("plain.yaml")],
      calls: [{ path: "BoardSkill.list", effect: "read" }],
    });
    await expect(save("await device.BoardSkill.lst()", "other")).rejects.toMatchObject({
      code: "AUTOMATION_INVALID",
      message: expect.stringContaining("its program is refused at line 1: "),
    });
    await expect(save("1", "No Name")).rejects.toMatchObject({ code: "AUTOMATION_INVALID" });
    expect(existsSync(getFile("other.yaml"))).toBe(false);
    expect(await runtime.automations.test("plain")).toMatchObject({
      kind: "untested",
      why: "it has no cassette, because it was not saved from a run",
    });
  });

  test("refuses a name in use unless it may be replaced, and removes the cassette of the earlier program", async () => {
    await saveRun();
    const from = { source: "await device.BoardSkill.list()" };
    await expect(runtime.automations.save({ name: "report", key: "poster", from })).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining("automations/report.yaml already exists; choose another name"),
    });
    await runtime.automations.save({ name: "report", key: "poster", from, mayReplace: true });
    expect(existsSync(getFile("report.cassette.json"))).toBe(false);
  });

  test("refuses sections that are not valid, and a schedule whose input would be a secret", async () => {
    await expect(saveRun({ schedule: { cron: "0 9 * * *" } })).rejects.toMatchObject({
      code: "AUTOMATION_INVALID",
      message: expect.stringContaining("schedule has no zone"),
    });
    runtime.secrets.add(["good morning"]);
    await expect(saveRun({ schedule: { every: "5m" } })).rejects.toMatchObject({
      message: expect.stringContaining("its parameter text is a secret"),
    });
    expect(existsSync(getFile("report.yaml"))).toBe(false);
  });

  test("leaves the input of a webhook to its deliveries", async () => {
    await saveRun({ webhook: { verify: "github", secrets: ["${HOOK_SECRET}"] } });
    const text = readFileSync(getFile("report.yaml"), "utf8");
    expect(text).not.toContain("input:");
    expect(text).toContain("verify: github");
  });
});

describe("test", () => {
  test("repeats the recorded calls without an effect, and names the line of another call", async () => {
    await saveRun();
    const run: Runtime["automations"]["test"] = (...options) => runtime.automations.test(...options);
    expect(await run("report")).toMatchObject({ kind: "passed", outcome: { value: 0 } });
    expect(await run("report", { input: { text: "good morning" } })).toMatchObject({ kind: "passed" });
    expect(await run("report", { input: { text: "other" } })).toMatchObject({
      kind: "diverged",
      why: expect.stringMatching(
        /makes the call 3 of BoardSkill.post with the arguments .*other.*; recorded is .*good morning.* \(line 3\)/,
      ),
    });
    await expect(run("report", { input: { text: 1 } })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(run("reprt")).rejects.toMatchObject({
      code: "AUTOMATION_UNKNOWN",
      message: expect.stringContaining("report"),
    });
    expect(posts).toEqual(["good morning"]);
    await writeFile(getFile("report.cassette.json"), "{}");
    expect(await run("report")).toMatchObject({ kind: "untested", why: expect.stringContaining("its format must be") });
    await rm(getFile("report.cassette.json"));
    expect(await run("report")).toMatchObject({
      kind: "untested",
      why: "its cassette report.cassette.json is missing",
    });
  });
});

describe("remove", () => {
  test("removes the files, the state and the history", async () => {
    await saveRun();
    await runtime.automations.accept("report");
    await runtime.automations.whenEnded(await runtime.automations.run("report", { input: { text: "a" } }));
    expect(await runtime.automations.remove("report")).toEqual({
      name: "report",
      files: [getFile("report.yaml"), getFile("report.cassette.json")],
      values: 0,
    });
    expect(await runtime.automations.list()).toEqual([]);
    expect(await (await runtime.database()).automations.countOccurrences({})).toBe(0);
    await expect(runtime.automations.remove("report")).rejects.toMatchObject({ code: "AUTOMATION_UNKNOWN" });
  });

  test(
    "deletes the stored values, and leaves those of other automations and of one whose file is gone",
    { tags: "rest" },
    async () => {
      const setTwo = `await device.store.set("a", 1); await device.store.set("b", 2)`;
      const list = async (automation: string): Promise<unknown> => {
        const outcome = await runtime.run("await device.store.list()", { automation });
        return outcome.kind === "completed" && outcome.value;
      };
      for (const name of ["report", "other"]) {
        await saveRun({ name });
        await runtime.run(setTwo, { automation: name });
      }
      await rm(getFile("other.yaml"));
      expect(await runtime.automations.remove("report")).toMatchObject({ values: 2 });
      expect(await list("report")).toEqual([]);
      expect(await list("other")).toEqual(["a", "b"]);
      expect(await runtime.automations.remove("other")).toEqual({ name: "other", files: [], values: 2 });
      expect(await list("other")).toEqual([]);
      await expect(runtime.automations.remove("other")).rejects.toMatchObject({ code: "AUTOMATION_UNKNOWN" });
    },
  );

  describe("beside another process", () => {
    let other: Runtime;
    beforeEach(async () => {
      await saveRun();
      other = await createRuntime({ cwd: folder, skillsDir: false, store: join(folder, "state") });
    });
    afterEach(() => other.close());

    /** Removes the automation in the other process before a change of the store. */
    async function removeBefore(change: "put" | "addOccurrence"): Promise<void> {
      const { automations } = await runtime.database();
      const original = automations[change] as (...args: never[]) => unknown;
      const changed = async (...args: never[]): Promise<unknown> => {
        await other.automations.remove("report");
        return original(...args);
      };
      Object.assign(automations, { [change]: changed });
    }

    async function expectNothing(): Promise<void> {
      const { automations } = await runtime.database();
      expect(await automations.list()).toEqual([]);
      expect(await automations.getVersion("report")).toBeUndefined();
      expect(await automations.countOccurrences({})).toBe(0);
    }

    test.each(["for the first time", "again"])("that accepts it %s, nothing of it is left", async (when) => {
      if (when === "again") await runtime.automations.accept("report");
      await removeBefore("put");
      await expect(runtime.automations.accept("report")).rejects.toMatchObject({ code: "AUTOMATION_UNKNOWN" });
      await expectNothing();
    });

    test("that starts it, nothing of it is left", async () => {
      await runtime.automations.accept("report");
      await removeBefore("addOccurrence");
      const started = runtime.automations.run("report", { input: { text: "a" } });
      await expect(started).rejects.toMatchObject({ code: "AUTOMATION_UNKNOWN" });
      await expectNothing();
    });

    test("that runs it, the values that the run stores later are deleted, too", async () => {
      await createKeys(await runtime.database()).create({ name: "keeper", permissions: ["call:store.*"] });
      const source = 'for (let at = 0; at < 9_000; at++) await device.store.set("last", at);';
      await runtime.automations.save({ name: "keeper", key: "keeper", from: { source }, limits: { calls: 10_000 } });
      await runtime.automations.accept("keeper");
      await runtime.automations.follow();
      await runtime.automations.run("keeper");
      const { programValues } = await runtime.database();
      const { caller } = (await createKeys(await runtime.database()).findCaller("keeper")) ?? {};
      const space = { caller: caller?.id ?? "", automation: "keeper" };
      const listKeys = (): Promise<readonly string[]> => programValues.listKeys(space);
      await expect.poll(listKeys).toEqual(["last"]);
      await other.automations.remove("keeper");
      await expect.poll(async () => (await runtime.runs.list())[0]?.state).toBe("cancelled");
      await expect.poll(listKeys).toEqual([]);
    });
  });
});
