import { hash } from "node:crypto";
import { expect, onTestFinished, test, vi } from "vitest";

import { parseAutomationFile } from "../../../src/automations/index.ts";
import { createWebhookIndex } from "../../../src/runtime/automations/webhook-index.ts";
import { stringify } from "../../../src/shared/package/yaml.ts";
import { type AutomationRow, type Database, openDatabase } from "../../../src/store/index.ts";

function createText(id?: string): string {
  const webhook = { verify: "github", secrets: ["${HOOK_SECRET}"], ...(id !== undefined && { id }) };
  return stringify({ description: "Posts", key: "poster", webhook, source: "return 1;" });
}

/** Opens an index on a database in memory, and counts what it reads. */
async function openIndex() {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const database = await openDatabase({});
  onTestFinished(() => database.close());
  const reads: string[] = [];
  const lines: string[] = [];
  const conflicts: string[] = [];
  const texts = new Map<string, string>();
  const { automations } = database;
  const counted: Pick<Database["automations"], "list" | "count" | "getVersion"> = {
    async list(where) {
      const rows = await automations.list(where);
      reads.push(`${rows.length} rows`);
      return rows;
    },
    count: () => automations.count(),
    async getVersion(name) {
      reads.push(`the version of ${name}`);
      return automations.getVersion(name);
    },
  };
  const index = createWebhookIndex({
    open: async () => ({ watch: (listener) => database.watch(listener), automations: counted }),
    files: {
      get(name) {
        const text = texts.get(name);
        if (text === undefined) return undefined;
        const file = parseAutomationFile(name, text);
        return { kind: "file", name, file, text, digest: hash("sha256", text), stamp: "" };
      },
      refresh: async () => void reads.push("the folder"),
    },
    warn: (text) => void lines.push(text),
    onConflict: (name) => void conflicts.push(name),
  });
  onTestFinished(() => index.close());
  return {
    index,
    database,
    lines,
    conflicts,
    takeReads: () => reads.splice(0),
    /** Time passes after which the store may be read again. */
    pass: () => vi.advanceTimersByTime(600),
    accept: async (name: string, { text = createText(), at = Date.now(), file = "" } = {}): Promise<void> => {
      texts.set(name, file || text);
      const row: AutomationRow = {
        name,
        state: "enabled",
        reason: null,
        digest: hash("sha256", text),
        by: "owner",
        failures: 0,
        lastSlot: null,
        created: at,
        updated: at,
      };
      await automations.put(row, { text, methods: {}, caller: "key:a" });
    },
    removeFile: (name: string) => void texts.delete(name),
  };
}

const LONG_AGO = Date.now() - 3_600_000;

test("reads all automations once, and nothing while nothing changes", async () => {
  const { index, accept, takeReads, pass } = await openIndex();
  for (const name of ["a", "b", "c"]) await accept(name, { at: LONG_AGO });
  expect(await index.find("b")).toMatchObject({ automation: "b", isEnabled: true });
  expect(takeReads()).toEqual(["3 rows"]);
  for (let n = 0; n < 50; n++) {
    pass();
    expect(await index.find(n % 2 === 0 ? "c" : "unknown")).toEqual(n % 2 === 0 ? expect.anything() : undefined);
  }
  expect(takeReads()).toEqual([]);
});

test("reads the rows that have changed, without the folder and without their versions", async () => {
  const { index, database, accept, takeReads, pass } = await openIndex();
  for (const name of ["b", "c", "d"]) await accept(name, { at: LONG_AGO });
  await accept("a");
  await index.find("a");
  takeReads();
  await database.automations.update("b", { state: "paused", updated: Date.now() });
  pass();
  expect(await index.find("b")).toMatchObject({ isEnabled: false });
  expect(takeReads()).toEqual(["2 rows"]); // also those of the last ten minutes, because clocks differ
});

test("reads at most twice a second, however often the store changes", async () => {
  const { index, database, accept, takeReads } = await openIndex();
  await accept("a");
  await index.find("a");
  takeReads();
  for (let n = 0; n < 100; n++) {
    await database.automations.update("a", { failures: n, updated: Date.now() });
    vi.advanceTimersByTime(20);
    await index.find("a");
  }
  expect(takeReads().length).toBeLessThanOrEqual(4);
});

test("finds an automation that was added or removed, in the store or as a file", async () => {
  const { index, database, accept, pass, removeFile } = await openIndex();
  await accept("a", { at: LONG_AGO });
  expect(await index.find("b")).toBeUndefined();
  await accept("b", { text: createText("other") });
  pass();
  expect([(await index.find("other"))?.automation, await index.find("b")]).toEqual(["b", undefined]);
  await database.automations.delete("a");
  pass();
  expect(await index.find("a")).toBeUndefined();
  expect(await index.find("other")).toBeDefined();
  removeFile("b");
  expect(await index.find("other")).toBeUndefined();
});

test("has the accepted version of a file that was changed, and reads its text once", async () => {
  const { index, accept, takeReads, pass } = await openIndex();
  await accept("a", { text: createText("old"), file: createText("new") });
  expect([(await index.find("old"))?.automation, await index.find("new")]).toEqual(["a", undefined]);
  expect(takeReads()).toEqual(["1 rows", "the version of a"]);
  await accept("b");
  pass();
  await index.find("old");
  expect(takeReads()).not.toContain("the version of a");
});

test("gives an id to the automation that was accepted first, and reports the other once", async () => {
  const { index, accept, conflicts, pass } = await openIndex();
  await accept("later", { text: createText("orders"), at: LONG_AGO + 1 });
  await accept("first", { text: createText("orders"), at: LONG_AGO });
  expect((await index.find("orders"))?.automation).toBe("first");
  expect(conflicts).toEqual(["later"]);
  await accept("third", { text: createText("third") });
  pass();
  expect((await index.find("third"))?.automation).toBe("third");
  expect(conflicts).toEqual(["later"]);
});

test("finds the owner of an id at once after a change", async () => {
  const { index, accept } = await openIndex();
  expect(await index.findOwner("a", { afresh: true })).toBeUndefined();
  await accept("a");
  expect(await index.findOwner("a", { afresh: true })).toBe("a");
});

test("finds the owner of an id for a run without a look at the store each time", async () => {
  const { index, accept, takeReads } = await openIndex();
  await accept("a");
  expect(await index.findOwner("a", { afresh: true })).toBe("a");
  await index.findOwner("a");
  takeReads();
  for (let at = 0; at < 100; at++) expect(await index.findOwner("a")).toBe("a");
  expect(takeReads()).toEqual([]);
});
