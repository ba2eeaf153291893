import { afterEach, beforeEach, describe, expect, test } from "vitest";

import {
  backUpStore,
  callsMethod,
  type Database,
  type KeyRow,
  openDatabase,
  restoreStore,
  type StoreLocation,
  type RunEntryRow,
  type RunRow,
} from "../../src/store/index.ts";
import type { SqlEngine } from "../../src/store/database/schema.ts";
import type { RowOf } from "../../src/store/database/table.ts";
import { AUTOMATIONS, PAST_DELIVERIES } from "../../src/store/tables/automation-rows.ts";
import { KEYS } from "../../src/store/tables/keys.ts";
import { prepareDatabases } from "../support/databases.ts";

const { kinds } = prepareDatabases();

const KEY: KeyRow = {
  id: "k1",
  prefix: "sg_k1_ab",
  sha256: "ab".repeat(32),
  previousSha256: null,
  previousExpires: null,
  name: "Ada’s laptop \u{1f511}",
  permissions: ["call:MathSkill.*"],
  scopes: [],
  roles: ["reader"],
  limits: { perMinute: 60 },
  created: 1_790_000_000_000,
  lastUsed: null,
  expires: null,
  revoked: null,
};

const AUTOMATION: RowOf<typeof AUTOMATIONS> = {
  name: "report",
  state: "enabled",
  reason: null,
  digest: "ab",
  by: "ada",
  failures: 0,
  lastSlot: 5,
  created: 1,
  updated: 2,
};

const PAST_DELIVERY = { automation: "report", id: "d1", received: 1 } as const;

const APPROVAL = {
  id: "a1",
  runId: "run-1",
  callId: 1,
  caller: "ada",
  path: "MailSkill.send",
  description: "Sends a mail",
  marks: ["destructive"],
  approver: "user",
  arguments: [{ to: "bob", text: 'it\'s "quoted" ? \u0000' }],
  digest: "0123",
  plan: null,
  provenance: [],
  scopes: ["once", "run"],
  waiter: null,
  created: 1_000,
  expires: 2_000,
} as const;

const RUN: RunRow = {
  id: "r1",
  caller: "ada",
  state: "waiting",
  title: 'it\'s "a run"',
  program: "p1",
  duration: 0,
  created: 1,
  updated: 2,
  ended: null,
  continues: null,
  calls: 1,
  effects: 1,
  size: 2,
  claimedBy: null,
  attempts: 1,
};

describe.each([["memory", () => ({})], ...kinds] as const)("a database of kind %s", (kind, makeLocation) => {
  let location: StoreLocation;
  let database: Database;
  beforeEach(async () => {
    location = makeLocation();
    database = await openDatabase(location);
  });
  afterEach(() => database.close());

  test("returns a key as it was added, and lists keys by age", async () => {
    await database.keys.add({ ...KEY, id: "k2", created: KEY.created + 1 });
    await database.keys.add(KEY);
    expect(await database.keys.get("k1")).toEqual(KEY);
    expect(await database.keys.get("k3")).toBeUndefined();
    expect((await database.keys.list()).map(({ id }) => id)).toEqual(["k1", "k2"]);
  });

  test("refuses a condition on a column that the table does not have, and changes nothing", async () => {
    await database.keys.add(KEY);
    const where = { state: "running", claimedUntil: 1 } as const;
    await expect(database.runs.list(where)).rejects.toThrow("The table runs has no column claimedUntil");
    await expect(database.runs.count(where)).rejects.toThrow("The table runs has no column claimedUntil");
    expect(await database.keys.list()).toEqual([KEY]);
  });

  test("refuses a second key with one id", async () => {
    await database.keys.add(KEY);
    await expect(database.keys.add(KEY)).rejects.toMatchObject({ code: "STORE_CONFLICT" });
    expect(await database.keys.list()).toHaveLength(1);
  });

  test("changes only the named columns of a key", async () => {
    await database.keys.add(KEY);
    expect(await database.keys.update("k1", { revoked: 5, scopes: ["tool:web"] })).toBe(true);
    expect(await database.keys.update("k2", { revoked: 5 })).toBe(false);
    expect(await database.keys.get("k1")).toEqual({ ...KEY, revoked: 5, scopes: ["tool:web"] });
    await database.keys.update("k1", { revoked: null });
    expect((await database.keys.get("k1"))?.revoked).toBeNull();
  });

  test("counts every one of many calls at once in their window", async () => {
    const window = { bucket: "key k1 minute", start: 60_000, expires: 120_000 };
    const counts = await Promise.all(Array.from({ length: 40 }, () => database.counters.add(window)));
    expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
    expect(await database.counters.add(window, -1)).toBe(39);
    expect(await database.counters.get("key k1 minute", 60_000)).toBe(39);
    expect(await database.counters.get("key k1 minute", 0)).toBe(0);
  });

  test("sorts runs by a column and finds the runs of a method, with the next one of each list [R5]", async () => {
    const facts = [
      { id: "a", created: 1, duration: 30, calls: 1, paths: ["MailSkill.send", "MailSkill.find"] },
      { id: "b", created: 1, duration: 10, calls: 2, paths: ["MailSkill.send"] },
      { id: "c", created: 2, duration: 10, calls: 2, paths: ["MailSkillOther.send"] },
      { id: "d", created: 3, duration: 20, calls: 2, paths: [] },
    ];
    const entry = { seq: 0, events: "[]", hash: "" };
    for (const { paths, ...fact } of facts)
      await database.runs.add({ ...RUN, ...fact }, { ...entry, run: fact.id }, [...paths, ...paths]);
    for (const [where, sorting, expected] of [
      [{}, {}, "dcba"],
      [{}, { ascending: true }, "abcd"],
      [{}, { order: "duration" }, "adcb"],
      [{}, { order: "duration", ascending: true }, "bcda"],
      [{}, { order: "calls" }, "dcba"],
      [{ calls: 2, created: { lt: 3 } }, { order: "calls" }, "cb"],
      [{ id: callsMethod("MailSkill.send") }, {}, "ba"],
      [{ id: callsMethod("MailSkill") }, { order: "duration" }, "ab"],
      [{ id: callsMethod("MailSkill.fin") }, {}, ""],
    ] as const) {
      const rows = await database.runs.list(where, sorting);
      expect(rows.map(({ id }) => id).join("")).toBe(expected);
      for (const [at, row] of rows.entries())
        expect((await database.runs.findNext(row, where, sorting))?.id).toBe(rows[at + 1]?.id);
    }
    expect(await database.runs.count({ id: callsMethod("MailSkill.send") })).toBe(2);
    await database.runs.delete("a", "b");
    expect(await database.runs.count({ id: callsMethod("MailSkill") })).toBe(0);
    expect(await database.runs.list({}, { order: "calls", limit: 1, offset: 1 })).toMatchObject([{ id: "c" }]);
  });

  test("lists a part of the runs whose title contains a text, and counts them [R5]", async () => {
    const titles = ["await MAIL.send()", "100% done", "100 done", "mail_box", "mailXbox", "back\\slash"];
    for (const [at, title] of titles.entries()) {
      const id = `r${at}`;
      await database.runs.add({ ...RUN, id, title, created: at }, { run: id, seq: 0, events: "[]", hash: "" });
    }
    const list = async (
      contains: string,
      page: { readonly limit: number; readonly offset?: number } = { limit: 10 },
    ): Promise<readonly string[]> => (await database.runs.list({ title: { contains } }, page)).map(({ id }) => id);
    expect(await list("mail")).toEqual(["r4", "r3", "r0"]);
    expect(await list("mail", { limit: 1, offset: 1 })).toEqual(["r3"]);
    expect(await list("100%")).toEqual(["r1"]);
    expect(await list("L_B")).toEqual(["r3"]);
    expect(await list("k\\s")).toEqual(["r5"]);
    expect(await database.runs.count({ title: { contains: "mail" }, caller: "ada" })).toBe(3);
    expect(await database.runs.count({ caller: "bob" })).toBe(0);
  });

  test("accepts one answer to a question, and uses an approval once [P6]", async () => {
    await database.approvals.add(APPROVAL);
    const answer = (by: string): Promise<boolean> =>
      database.approvals.answer("a1", { state: "approved", scope: "run", by, as: "admin", time: 1_500 });
    const answers = await Promise.all([answer("bob"), answer("eve")]);
    expect(answers.toSorted()).toEqual([false, true]);
    expect(await Promise.all([1, 2].map(() => database.approvals.use("a1", 1_600)))).toContain(false);
    expect(await database.approvals.get("a1")).toEqual({
      ...APPROVAL,
      state: "approved",
      scope: "run",
      answeredAs: "admin",
      answeredBy: answers[0] ? "bob" : "eve",
      answeredAt: 1_500,
      usedAt: 1_600,
      closedAt: 1_500,
    });
    expect((await database.approvals.listClosedAfter(1_499)).map(({ id }) => id)).toEqual(["a1"]);
    expect(await database.approvals.listClosedAfter(1_500)).toEqual([]);
    expect(await database.approvals.use("a1", 1_700)).toBe(false);
  });

  test("accepts no answer to an expired question, and no use of an expired approval [P6]", async () => {
    await database.approvals.add(APPROVAL);
    await database.approvals.add({ ...APPROVAL, id: "a2", created: 1_001 });
    await database.approvals.answer("a2", { state: "approved", scope: "once", by: "bob", as: "user", time: 1_500 });
    expect(await database.approvals.use("a2", 2_000)).toBe(false);
    expect(
      await database.approvals.answer("a1", { state: "denied", scope: null, by: "bob", as: "user", time: 2_000 }),
    ).toBe(false);
    expect(await database.approvals.expire(1_999)).toBe(0);
    expect(await database.approvals.expire(2_000)).toBe(1);
    expect((await database.approvals.list("expired")).map(({ id }) => id)).toEqual(["a1"]);
    expect((await database.approvals.listClosed(9)).map(({ id }) => id)).toEqual(["a1", "a2"]);
    expect((await database.approvals.listClosed(1)).map(({ id }) => id)).toEqual(["a1"]);
  });

  test("adds each entry of a record once, and lets one process claim a run [R1, R2]", async () => {
    const entry = (seq: number): RunEntryRow => ({ run: "r1", seq, events: "[]", hash: `${seq}` });
    await database.runs.add(RUN, entry(0));
    const appended = await Promise.allSettled([database.runs.append(entry(1)), database.runs.append(entry(1))]);
    expect(appended.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    await expect(database.runs.appendAndUpdate(entry(1), { state: "failed" })).rejects.toMatchObject({
      code: "STORE_CONFLICT",
    });
    expect(await database.runs.get("r1")).toEqual(RUN);
    const claims = ["p1", "p2", "p3"].map((by) => database.runs.claim(RUN, { by, now: 5 }));
    expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1);
    expect(await database.runs.get("r1")).toMatchObject({ attempts: 2 });
    expect(await database.runs.entries("r1")).toEqual([entry(0), entry(1)]);
    await database.runs.update("r1", { state: "completed", ended: 10 });
    expect(await database.runs.prune(10)).toBe(0);
    expect(await database.runs.prune(11)).toBe(1);
    expect(await database.runs.entries("r1")).toEqual([]);
  });

  test("reports changes to its watchers", async () => {
    let stop = (): void => {};
    const changed = new Promise<void>((resolve) => {
      stop = database.watch(resolve);
    });
    // A subscription may start after the first change.
    const timer = setInterval(() => void database.keys.update("k1", { revoked: 5 }), 10);
    await changed;
    clearInterval(timer);
    stop();
  });

  test("counts and exports all rows", async () => {
    await database.keys.add(KEY);
    await database.approvals.add(APPROVAL);
    const info = await database.info();
    expect(info).toMatchObject({ kind, schema: 9, rows: { keys: 1, approvals: 1, counters: 0, audit: 0 } });
    const exported = [];
    for await (const { table, row } of database.export()) exported.push([table, row]);
    expect(exported).toContainEqual(["keys", KEY]);
    expect(exported.map(([table]) => table).filter((table) => table !== "migrations")).toEqual(["keys", "approvals"]);
  });

  test("keeps its rows for the next process, also after a vacuum", async () => {
    await database.keys.add(KEY);
    await database.vacuum();
    await database.close();
    database = await openDatabase(location);
    expect(await database.keys.list()).toEqual(kind === "memory" ? [] : [KEY]);
  });

  test("opens at the same time from several places", async () => {
    const fresh = makeLocation();
    const opened = await Promise.all(Array.from({ length: 4 }, () => openDatabase(fresh)));
    await opened[0]?.keys.add(KEY);
    expect((await opened[3]?.keys.list())?.length).toBe(kind === "memory" ? 0 : 1);
    await Promise.all(opened.map((each) => each.close()));
  });

  test.skipIf(kind === "memory")("refuses a store of a newer version, and names the version to install", async () => {
    await database.close();
    await changeSchema(location, 99);
    await expect(openDatabase(location)).rejects.toMatchObject({
      code: "STORE_NEWER",
      message: expect.stringMatching(
        /has schema 99, written by skillgate@9\.1\.0; this is .* Install skillgate@9\.1\.0/,
      ),
    });
    database = await openDatabase({});
  });

  test.skipIf(kind === "memory")("refuses a store from before the first release, and says what to do", async () => {
    await database.close();
    await changeSchema(location, 2);
    await expect(openDatabase(location)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringMatching(
        /has schema 2, written before the first release; .* Move it to another place, and a new store is created/,
      ),
    });
    database = await openDatabase({});
  });
});

/** The tables that each schema has added to the one before. */
const ADDED_TABLES = {
  6: ["accounts", "account_flows"],
  7: ["automations", "automation_versions", "occurrences", "occurrence_inputs"],
  8: ["past_deliveries"],
  9: ["program_spaces", "program_values"],
} as const;

const OLD_SCHEMAS = [5, 6, 7, 8].flatMap((schema) => kinds.map(([kind, make]) => [schema, kind, make] as const));

test.each(OLD_SCHEMAS)(
  "keeps the rows of a store of schema %i, and gives it the tables of later ones: %s",
  async (schema, _kind, makeLocation) => {
    const location = makeLocation();
    await makeOldStore(location, schema, async (engine) => {
      await engine.insert(KEYS, [KEY]);
      if (schema >= 7) await engine.insert(AUTOMATIONS, [AUTOMATION]);
      if (schema >= 8) await engine.insert(PAST_DELIVERIES, [PAST_DELIVERY]);
    });
    const space = { caller: "ada", automation: "report" };
    // Two processes at once: one of them creates the tables.
    const databases = await Promise.all([openDatabase(location), openDatabase(location)]);
    for (const database of databases) {
      const exported: unknown[] = [];
      for await (const { table, row } of database.export()) exported.push([table, row]);
      expect(exported.slice(2)).toEqual([
        ["keys", KEY],
        ...(schema >= 7 ? [["automations", AUTOMATION]] : []),
        ...(schema >= 8 ? [["pastDeliveries", PAST_DELIVERY]] : []),
      ]);
      expect(await database.info()).toMatchObject({ schema: 9, rows: { migrations: 2, programValues: 0 } });
    }
    for (const { programValues } of databases)
      await programValues.addAll(space, { values: new Map([["a", "1"]]), marks: [] });
    expect(await databases[0]?.programValues.listKeys(space)).toEqual(["a"]);
    await Promise.all(databases.map((database) => database.close()));
  },
);

test("restores a backup of schema 5 with the tables of accounts", async () => {
  const [[, makeLocation] = []] = kinds;
  const location = makeLocation?.() ?? {};
  const { folder = "" } = location;
  await (await openDatabase(location)).close();
  await makeOldStore(location, 5);
  const backup = `${folder}/old.backup`;
  await backUpStore(folder, backup);
  await restoreStore(`${folder}/restored`, backup);
  await using database = await openDatabase({ folder: `${folder}/restored` });
  expect(await database.accounts.list()).toEqual([]);
  expect(await database.info()).toMatchObject({ schema: 9, rows: { migrations: 2 } });
});

/** Makes the store one of an older schema, without the tables of later ones. */
async function makeOldStore(
  location: StoreLocation,
  schema: number,
  addRows: (engine: SqlEngine) => Promise<void> = async () => {},
): Promise<void> {
  await changeSchema(location, schema, async (engine) => {
    await addRows(engine);
    for (const [version, tables] of Object.entries(ADDED_TABLES))
      for (const table of Number(version) > schema ? tables : []) await engine.execute(`DROP TABLE ${table}`);
  });
}

/** Does what another version of Skillgate does. */
async function changeSchema(
  { folder, url }: StoreLocation,
  version: number,
  change: (engine: SqlEngine) => Promise<void> = async () => {},
): Promise<void> {
  const { openEngine } = await import("../../src/store/database/open.ts");
  const { MIGRATIONS } = await import("../../src/store/database/schema.ts");
  const location = { ...(folder !== undefined && { folder }), ...(url !== undefined && { url }) };
  const engine = (await openEngine(location, { lockMs: 500, warn: () => {} })) as SqlEngine;
  await change(engine);
  await engine.delete(MIGRATIONS, {});
  await engine.insert(MIGRATIONS, [{ version, program: "9.1.0", time: 0 }]);
  await engine.close();
}
