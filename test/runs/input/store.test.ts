import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { type Caller, createRuntime, defineSkill, type Runtime, type RuntimeOptions } from "../../../src/index.ts";
import { createTakeOver } from "../../../src/runtime/storage/program-files.ts";
import {
  CALLER_SPACES,
  createProgramStore,
  KEY_CHARACTERS,
  SPACE_CHARACTERS,
  SPACE_KEYS,
  VALUE_CHARACTERS,
} from "../../../src/runtime/storage/program-store.ts";
import {
  backUpStore,
  type Database,
  openDatabase,
  restoreStore,
  type StoreLocation,
} from "../../../src/store/index.ts";
import { prepareDatabases } from "../../support/databases.ts";
import { createShop, startProcess } from "../refund-process.ts";

const { kinds } = prepareDatabases();

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-program-store-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function open(options: RuntimeOptions = {}): Promise<Runtime> {
  const runtime = await createRuntime({ skillsDir: false, workers: 1, ...options });
  onTestFinished(() => runtime.close());
  return runtime;
}

const createCaller = (id: string, permissions: readonly string[] = ["call:*"]): Caller => ({ id, permissions });

async function run(runtime: Runtime, code: string, options: Parameters<Runtime["run"]>[1] = {}): Promise<unknown> {
  const outcome = await runtime.run(code, options);
  if (outcome.kind !== "completed") throw new Error(outcome.text);
  return outcome.value;
}

test("stores values for later runs, and lists and deletes them", async () => {
  const store = createFolder();
  const code = `await device.store.set("seen/1", { at: [1, null, "é"] });
    await device.store.set({ key: "seen/2", value: 2 });
    device.store.set("other", false);`;
  await run(await open({ store }), code);
  const later = await open({ store });
  const read = `({ one: await device.store.get("seen/1"), none: typeof (await device.store.get("absent")),
    seen: await device.store.list("seen/"), all: await device.store.list(), other: device.store.get("other") })`;
  expect(await run(later, read)).toEqual({
    one: { at: [1, null, "é"] },
    none: "undefined",
    seen: ["seen/1", "seen/2"],
    all: ["other", "seen/1", "seen/2"],
    other: false,
  });
  const remove = `const first = await device.store.delete("other");\n[first, await device.store.delete("other")]`;
  expect(await run(later, remove)).toEqual([true, false]);
  expect(await run(later, "await device.store.list()")).toEqual(["seen/1", "seen/2"]);
});

/** Values of which some look like arguments by name. */
const VALUES = [{}, { value: 5 }, { key: "k" }, { key: "k", value: 1 }, { "": 1 }, [], null, ""];

test("stores each value as it is, although an object can be arguments by name", async () => {
  const runtime = await open();
  for (const value of VALUES) {
    const code = `await device.store.set("a", ${JSON.stringify(value)});\nawait device.store.get("a")`;
    expect(await run(runtime, code)).toEqual(value);
  }
});

test("has a type that accepts each value, although an object can be arguments by name", { tags: "rest" }, async () => {
  const runtime = await open({ typecheck: true });
  for (const value of VALUES) {
    const code = `await device.store.set("a", ${JSON.stringify(value)});\nawait device.store.get("a")`;
    expect((await runtime.checkTypes(code)).violations).toEqual([]);
  }
});

test("gives each caller, and each automation of it, values of its own", async () => {
  const runtime = await open({ store: createFolder() });
  const [ada, bob] = [createCaller("ada"), createCaller("bob")];
  const spaces = [
    { caller: ada },
    { caller: ada, automation: "report" },
    { caller: ada, automation: "backup" },
    { caller: bob, automation: "report" },
    { caller: createCaller('ada","report') },
    {},
  ];
  for (const [at, space] of spaces.entries()) await run(runtime, `await device.store.set("at", ${at})`, space);
  for (const [at, space] of spaces.entries()) expect(await run(runtime, `device.store.get("at")`, space)).toBe(at);
});

test("needs the right to the method, and is unknown without any", async () => {
  const runtime = await open();
  const set = `await device.store.set("a", 1)`;
  const refuse = async (permissions: readonly string[]): Promise<unknown> => {
    const outcome = await runtime.run(set, { caller: createCaller("ada", permissions) });
    return outcome.kind === "refused" && outcome.violations[0]?.code;
  };
  expect(await refuse(["call:OtherSkill.*"])).toBe("SKILL_UNKNOWN");
  expect(await refuse(["call:store.get", "see:*"])).toBe("PERMISSION_MISSING");
  const reader = createCaller("ada", ["call:store.get"]);
  expect(await run(runtime, `typeof (await device.store.get("a"))`, { caller: reader })).toBe("undefined");
  expect(await run(runtime, set, { caller: createCaller("ada", ["call:store.*"]) })).toBeUndefined();
  expect(runtime.audit().map(({ path, outcome }) => `${path} ${outcome}`)).toEqual(["store.get ok", "store.set ok"]);
});

test("follows the policy of the project", async () => {
  const cwd = createFolder();
  mkdirSync(join(cwd, "policies"));
  writeFileSync(join(cwd, "policies/tools.yaml"), "store.set: { decision: deny }\n");
  const runtime = await open({ cwd, policy: "policies/tools.yaml" });
  const outcome = await runtime.run(`await device.store.set("a", 1)`);
  expect(outcome).toMatchObject({ kind: "refused", violations: [{ code: "POLICY_DENIED" }] });
  expect(runtime.problems).toEqual([]);
});

test("is found by its name alone, and is in no list", async () => {
  const runtime = await open();
  expect(runtime.catalog.skills).toEqual([]);
  expect(runtime.catalog.methods).toEqual([]);
  expect(runtime.search("store a value under a key").results).toEqual([]);
  expect(runtime.systemPrompt()).not.toContain("store");
  expect(runtime.describe("store.set").text).toContain("set(key: string, value: unknown): Promise<any>;");
  expect(runtime.declarations()).toContain("set(key: string, value: unknown): Promise<any>;");
  expect(await runtime.call("store.set", { key: "a", value: 1 })).toBeUndefined();
  expect(await runtime.call("store.get", { key: "a" })).toBe(1);
  const refused = await runtime.run("localStorage.setItem('a', 1)");
  expect(refused.text).toContain("device.store.set(key, value)");
});

test("lets a skill of the program have the name", async () => {
  const store = defineSkill({
    name: "store",
    description: "A shop",
    methods: { buy: { description: "Buy", run: () => "bought" } },
  });
  const runtime = await open({ skills: [store] });
  expect(await run(runtime, "await device.store.buy()")).toBe("bought");
});

describe("a call that stores nothing", () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await createRuntime({ skillsDir: false, workers: 1 });
  });
  afterAll(() => runtime.close());

  test.each<readonly [string, string, string]>([
    ["an empty key", `"", 1`, "ARGUMENTS_INVALID"],
    ["a long key", `"k".repeat(${KEY_CHARACTERS + 1}), 1`, "ARGUMENTS_INVALID"],
    ["a missing value", `"a"`, "ARGUMENTS_INVALID"],
    ["bytes", `"a", new Uint8Array(2)`, 'device.store: the value of "a": it is bytes, and JSON has no such value'],
    ["a long value", `"a", "x".repeat(${VALUE_CHARACTERS})`, `has ${VALUE_CHARACTERS + 2} characters, at most`],
  ])("refuses %s", async (_what, args, says) => {
    const code = `let text = "";\ntry { await device.store.set(${args}); } catch (error) { text = error.message; }\ntext`;
    const outcome = await runtime.run(code);
    expect(outcome.kind === "completed" ? outcome.value : outcome.text).toContain(says);
    expect(await run(runtime, "await device.store.list()")).toEqual([]);
  });
});

test("accepts a key and a value at their limits", async () => {
  const runtime = await open();
  const code = `const key = "k".repeat(${KEY_CHARACTERS});
    await device.store.set(key, "x".repeat(${VALUE_CHARACTERS - 2}));
    (await device.store.get(key)).length`;
  expect(await run(runtime, code)).toBe(VALUE_CHARACTERS - 2);
});

/** Calls of one caller, each with its own id. */
function createCalls(id = "ada"): (automation?: string, callId?: string) => Parameters<StoreApi["get"]>[1] {
  let last = 0;
  return (automation, callId = `run/${++last}`) => ({
    caller: createCaller(id),
    callId,
    ...(automation !== undefined && { automation }),
  });
}

type StoreApi = ReturnType<typeof createProgramStore>;

const openStore = async (location: StoreLocation): Promise<StoreApi> => {
  const database = await openDatabase(location);
  onTestFinished(() => database.close());
  return createProgramStore(async () => database);
};

const PLACES: readonly (readonly [string, () => StoreLocation])[] = [["memory", () => ({})], ...kinds];

test.each(PLACES)(
  "bounds the characters of a space, and frees those of deleted values: %s",
  async (_place, makeLocation) => {
    const [store, next] = [await openStore(makeLocation()), createCalls()];
    const value = "x".repeat(VALUE_CHARACTERS - 2);
    for (const key of ["a", "b", "c"]) await store.set(key, value, next());
    await expect(store.set("d", value, next())).rejects.toThrow(`at most ${SPACE_CHARACTERS} characters are kept`);
    await store.set("a", value, next());
    await store.set("b", 1, next());
    await store.set("d", value, next());
    expect(await store.list("", next())).toEqual(["a", "b", "c", "d"]);
  },
);

test("bounds the keys of a space", { tags: "rest" }, async () => {
  const [store, next] = [await openStore({}), createCalls()];
  for (let at = 0; at < SPACE_KEYS; at++) await store.set(String(at), 1, next());
  await expect(store.set("more", 1, next())).rejects.toThrow(`at most ${SPACE_KEYS} keys are kept`);
  await store.set("1", 2, next());
  expect(await store.delete("2", next())).toBe(true);
  await store.set("more", 1, next());
});

test.each(PLACES)("lists as many keys as a space may have: %s", { tags: "rest" }, async (_place, makeLocation) => {
  const database = await openDatabase(makeLocation());
  onTestFinished(() => database.close());
  const keys = Array.from({ length: SPACE_KEYS }, (_, at) => `key-${at}`);
  const values = new Map(keys.map((key) => [key, "1"]));
  await database.programValues.addAll({ caller: "ada", automation: "" }, { values, marks: [] });
  const store = createProgramStore(async () => database);
  expect(await store.list("", createCalls()())).toEqual(keys.toSorted());
  expect(await store.list("key-99", createCalls()())).toHaveLength(111);
});

test.each(PLACES)(
  "bounds the spaces of a caller, and frees empty and removed ones: %s",
  async (_place, makeLocation) => {
    const [store, next, other] = [await openStore(makeLocation()), createCalls(), createCalls("bob")];
    for (let at = 0; at < CALLER_SPACES; at++) await store.set("a", at, next(`automation-${at}`));
    await expect(store.set("a", 1, next("one-more"))).rejects.toThrow(
      `"ada" stores values for ${CALLER_SPACES} automations, and at most ${CALLER_SPACES} are kept`,
    );
    await store.set("a", 1, other("one-more"));
    await store.set("b", 1, next("automation-5"));
    expect(await store.delete("b", next("automation-5"))).toBe(true);
    expect(await store.delete("a", next("automation-5"))).toBe(true);
    await store.set("a", 1, next("one-more"));
    await expect(store.set("a", 1, next("another"))).rejects.toThrow("at most");
    expect(await store.deleteAll("automation-6")).toBe(1);
    await store.set("a", 1, next("another"));
    expect(await store.deleteAll("one-more")).toBe(2);
    expect(await store.get("a", other("one-more"))).toBeUndefined();
  },
);

test.each(PLACES)(
  "does not repeat a change whose call is made again after a crash: %s",
  async (_place, makeLocation) => {
    const [store, next] = [await openStore(makeLocation()), createCalls()];
    const crashed = next(undefined, "first/1");
    await store.set("count", 6, crashed);
    await store.set("count", 7, next());
    await store.set("count", 6, crashed);
    expect(await store.get("count", next())).toBe(7);
    const deletion = next(undefined, "first/2");
    expect(await store.delete("count", deletion)).toBe(true);
    await store.set("count", 8, next());
    expect(await store.delete("count", deletion)).toBe(true);
    expect(await store.get("count", next())).toBe(8);
    expect(await store.list("", next())).toEqual(["count"]);
  },
);

test.each(kinds)(
  "loses nothing, and keeps the bounds, when several processes write at once: %s",
  { tags: "rest" },
  async (_kind, makeLocation) => {
    const location = makeLocation();
    const stores = await Promise.all([1, 2].map(() => openStore(location)));
    const value = "x".repeat(50_000);
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, async (_, at) =>
        stores[at % 2]?.set(`key-${at}`, value, createCalls()(undefined, `run-${at}/1`)),
      ),
    );
    const written = results.filter(({ status }) => status === "fulfilled").length;
    expect(written).toBe(Math.floor(SPACE_CHARACTERS / 50_100));
    expect(await stores[0]?.list("", createCalls()())).toHaveLength(written);
  },
);

test.each(PLACES)(
  "stores keys and values with any characters, and sorts the keys: %s",
  async (_place, makeLocation) => {
    const [store, next] = [await openStore(makeLocation()), createCalls()];
    const keys = ["\u0000", "%_\\'", "__proto__", "a", "\ud800", "\ud801", "\u{10ffff}", "\uffff"];
    for (const key of keys.toReversed()) await store.set(key, { __proto__: null, key }, next());
    expect(await store.list("", next())).toEqual(keys.toSorted());
    for (const key of keys) expect(await store.get(key, next())).toEqual({ key });
    expect(await store.list("%", next())).toEqual(["%_\\'"]);
    expect(await store.list("\ud800", next())).toEqual(["\ud800"]);
    await store.set("", "text \u0000 \ud800", next());
    expect(await store.get("", next())).toBe("text \u0000 \ud800");
  },
);

describe("values of an earlier version, in files", () => {
  const FILES = new URL("../../fixtures/store/program-files/", import.meta.url);
  const copyFiles = (): string => {
    const folder = createFolder();
    cpSync(FILES, folder, { recursive: true });
    return folder;
  };
  const listFiles = (folder: string): readonly string[] =>
    readdirSync(folder).filter((name) => name.startsWith("program"));

  test("are in the database after the first use, of each caller and automation", async () => {
    const store = copyFiles();
    const runtime = await open({ store });
    const ada = createCaller("ada");
    const read = `const values = {};
      for (const key of await device.store.list()) values[key] = await device.store.get(key);
      values`;
    expect(await run(runtime, read)).toEqual({
      "seen/1": { at: [1, null, "é"] },
      "x\u0000\ud800": "lone \ud800 \u0000",
    });
    expect(await run(runtime, read, { caller: ada, automation: "report" })).toEqual({ last: 7 });
    expect(await run(runtime, read, { caller: ada, automation: "backup" })).toEqual({ last: 8, zero: null });
    expect(await run(runtime, read, { caller: ada, automation: "emptied" })).toEqual({});
    const moved = listFiles(store);
    expect(moved.filter((name) => !name.endsWith(".jsonl.moved"))).toEqual([]);
    expect(moved).toHaveLength(readdirSync(FILES).length);
    expect((await (await runtime.database()).info()).rows).toMatchObject({ programValues: 5 });
  });

  test("are moved once by two processes, count in the limits, and replace no newer values", async () => {
    const folder = copyFiles();
    await using database = await openDatabase({ folder });
    const ada = { caller: "ada", automation: "backup" };
    await database.programValues.addAll(ada, { values: new Map([["last", "9"]]), marks: [] });
    await Promise.all([1, 2].map(() => createTakeOver(folder, 5_000)(database)));
    const store = createProgramStore(async () => database, createTakeOver(folder, 5_000));
    const next = createCalls();
    expect(await store.get("last", next("backup"))).toBe(9);
    expect(await store.get("zero", next("backup"))).toBeNull();
    for (let at = 2; at < CALLER_SPACES; at++) await store.set("a", at, next(`automation-${at}`));
    await expect(store.set("a", 1, next("one-more"))).rejects.toThrow(`for ${CALLER_SPACES} automations`);
  });

  test("keep the marks of calls, also of a space that the list of spaces does not have", async () => {
    const folder = copyFiles();
    rmSync(join(folder, "programs.jsonl"));
    const database = await openDatabase({});
    const store = createProgramStore(async () => database, createTakeOver(folder, 5_000));
    const next = createCalls();
    expect(await store.get("last", next("report"))).toBe(7);
    const [row] = await readRows(database, "programSpaces");
    expect(row).toMatchObject({ automation: "report", keys: 1, characters: 5, marks: ["lwfotsjkYuJl-"] });
  });

  test("stay in their files where the database is in memory, as on Node 20 without libsql", async () => {
    const folder = copyFiles();
    for (const _process of [1, 2]) {
      const database = await openDatabase({});
      const store = createProgramStore(async () => database, createTakeOver(folder, 5_000));
      const next = createCalls();
      expect(await store.get("last", next("report"))).toBe(7);
      expect(await store.delete("last", next("report"))).toBe(true);
      expect(await store.list("", next("report"))).toEqual([]);
      expect(await store.list("", next("backup"))).toEqual(["last", "zero"]);
    }
    expect(listFiles(folder)).toEqual(readdirSync(FILES));
  });

  test("can be deleted with their automation", async () => {
    const folder = copyFiles();
    await using database = await openDatabase({ folder });
    const store = createProgramStore(async () => database, createTakeOver(folder, 5_000));
    expect(await store.deleteAll("backup")).toBe(2);
    expect(await store.deleteAll("backup")).toBe(0);
  });
});

async function readRows(database: Database, name: string): Promise<readonly object[]> {
  const rows: object[] = [];
  for await (const { table, row } of database.export()) if (table === name) rows.push(row);
  return rows;
}

test.each(kinds)("is deleted when it is empty and old: %s", async (_kind, makeLocation) => {
  const database = await openDatabase(makeLocation());
  onTestFinished(() => database.close());
  const [store, next] = [createProgramStore(async () => database), createCalls()];
  await store.set("a", 1, next("one"));
  await store.set("a", 1, next("two"));
  await store.delete("a", next("two"));
  await database.sweep();
  expect(await readRows(database, "programSpaces")).toHaveLength(2);
  await database.sweep({}, Date.now() + 31 * 86_400_000);
  expect(await readRows(database, "programSpaces")).toMatchObject([{ automation: "one", keys: 1 }]);
});

test("is in a backup, and in a restored store", async () => {
  const [folder, copies] = [createFolder(), createFolder()];
  const next = createCalls();
  const database = await openDatabase({ folder });
  await createProgramStore(async () => database).set("a", [1], next());
  await database.close();
  await backUpStore(folder, join(copies, "backup"));
  await restoreStore(join(copies, "restored"), join(copies, "backup"));
  expect(await (await openStore({ folder: join(copies, "restored") })).get("a", next())).toEqual([1]);
});

test.each(kinds)(
  "gives runtimes with stores of their own machine the values of one database: %s",
  async (_kind, makeLocation) => {
    const { url } = makeLocation();
    const folder = createFolder();
    const openMachine = (): Promise<Runtime> => {
      const cwd = createFolder();
      writeFileSync(join(cwd, "settings.yaml"), JSON.stringify({ ...(url !== undefined && { store: { url } }) }));
      return open({ cwd, settings: "settings.yaml", store: url === undefined ? folder : join(cwd, "state") });
    };
    const [one, other] = [await openMachine(), await openMachine()];
    for (const record of ["one", "other"]) await run(one, `await device.store.set("${record}", "${record}")`);
    await run(other, `await device.store.delete("one")`);
    expect(await run(one, "await device.store.list()")).toEqual(["other"]);
  },
);

test("serves two programs at once, and a cassette without a store", { tags: "rest" }, async () => {
  const runtime = await open({ store: createFolder(), runs: { record: "full" } });
  const code = (name: string): string => `for (let at = 0; at < 20; at++) await device.store.set("${name}-" + at, at);
    const found = await device.store.list("${name}-");
    found.length`;
  const outcomes = await Promise.all([runtime.run(code("one")), runtime.run(code("two"))]);
  expect(outcomes).toMatchObject([{ value: 20 }, { value: 20 }]);
  const cassette = await runtime.runs.cassette(outcomes[0]?.runId ?? "");
  const elsewhere = await open();
  expect(await elsewhere.runs.replay(cassette)).toMatchObject({ kind: "completed", value: 20 });
  expect(await run(elsewhere, "await device.store.list()")).toEqual([]);
});

test("keeps the automation of a run that another process continues", async () => {
  const store = createFolder();
  const AskSkill = defineSkill({
    name: "AskSkill",
    description: "Asks",
    methods: { ask: { description: "Ask", approval: "user", run: () => "yes" } },
  });
  const options = { store, skills: [AskSkill], approvals: { wait: true } } as const;
  const first = await open(options);
  const asked = new Promise<string>((resolve) => first.on("approval", ({ id }) => resolve(id)));
  const code = `await device.store.set("a", 1);\nawait device.AskSkill.ask();\nawait device.store.set("b", 2)`;
  const running = first.run(code, { automation: "report" }).catch(() => undefined);
  const id = await asked;
  first.releaseCallers();
  await running;
  await first.close();
  const second = await open(options);
  await second.approvals.answer(id, { approve: true });
  const { 0: row } = await second.runs.list();
  expect(await second.runs.resume(row?.id ?? "")).toMatchObject({ kind: "completed" });
  const list = "await device.store.list()";
  expect(await run(second, list, { automation: "report" })).toEqual(["a", "b"]);
  expect(await run(second, list)).toEqual([]);
});

test("takes the result of a stored change when a corrected program continues a run", async () => {
  const runtime = await open({ store: createFolder() });
  const code = (end: string): string => `const count = (await device.store.get("count")) ?? 0;
    await device.store.set("count", count + 1);
    ${end}`;
  const failed = await runtime.run(code("throw new Error('late')"));
  expect(failed).toMatchObject({ kind: "failed", continue: failed.runId });
  expect(await run(runtime, code("count"), { continue: failed.runId })).toBe(0);
  expect(await run(runtime, `device.store.get("count")`)).toBe(1);
});

test.each(["SIGKILL", "SIGTERM"] as const)(
  "changes a value once in a run that another process continues after %s",
  { tags: "rest" },
  async (signal) => {
    const shop = createShop();
    const code = `const count = (await device.store.get("count")) ?? 0;
      await device.store.set("count", count + 1);
      await device.OrderSkill.refundLarge(1);
      await device.store.set("after", count);
      await device.store.get("count")`;
    const first = startProcess(shop, ["run", code]);
    const { id = "" } = await first.next("approval");
    await first.kill(signal);
    const runtime = await open({ store: shop.store });
    expect(await run(runtime, `device.store.get("count")`)).toBe(1);
    await run(runtime, `await device.store.set("count", 5)`);
    const second = startProcess(shop, ["follow"]);
    await second.next("ready");
    await runtime.approvals.answer(id, { approve: true });
    expect(await second.next("outcome")).toMatchObject({ kind: "completed", value: 5 });
    expect(await run(runtime, `device.store.get("after")`)).toBe(0);
  },
);
