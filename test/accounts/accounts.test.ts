import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";

import {
  type AccountDefinition,
  type Accounts,
  createAccounts,
  createKeySource,
  describeConnect,
  type KeySource,
} from "../../src/accounts/index.ts";
import type { Caller } from "../../src/model/caller.ts";
import { MASK } from "../../src/shared/masks/mask.ts";
import { KnownSecrets } from "../../src/shared/secrets.ts";
import { backUpStore, createLazyDatabase, type LazyDatabase, type StoreLocation } from "../../src/store/index.ts";
import { prepareDatabases } from "../support/databases.ts";

const { kinds } = prepareDatabases();

const COMMON = { isPerCaller: true, servers: [], reveal: [], isPrivate: false } as const;
const NOTES: AccountDefinition = { ...COMMON, name: "notes", type: "bearer" };
const SHOP: AccountDefinition = {
  ...COMMON,
  name: "shop",
  type: "apiKey",
  in: "query",
  names: ["client_id", "secret"],
  prefix: "",
  isPerCaller: false,
};

const ADA = createCaller("key:ada:000000000001");
const BOB = createCaller("key:bob:000000000002");
const ADAS_TOKEN = "adas-token-4f9c2e71b8";
const BOBS_TOKEN = "bobs-token-91d3a7c6e0";

function createCaller(id: string): Caller {
  return { id, permissions: [] };
}

function createKey(): string {
  return randomBytes(32).toString("base64");
}

function createKeys(variable: string, onSecrets: (values: readonly string[]) => void = () => {}): KeySource {
  return createKeySource({ variable, folder: undefined, store: "folder", lockMs: 1_000, onSecrets });
}

interface Opened {
  readonly accounts: Accounts;
  readonly secrets: KnownSecrets;
}

/** Opens the accounts as a process does. */
function open(
  database: LazyDatabase,
  keys: KeySource,
  definitions: readonly AccountDefinition[] = [NOTES, SHOP],
): Opened {
  const secrets = new KnownSecrets();
  const accounts = createAccounts({ definitions, database, keys, secrets, describeConnect });
  onTestFinished(() => accounts.close());
  return { accounts, secrets };
}

/** Opens a store as a process does; it closes with the test. */
function openStore(location: StoreLocation): LazyDatabase {
  const database = createLazyDatabase(location);
  onTestFinished(() => database.close());
  return database;
}

function find({ accounts }: Opened, name = "notes") {
  const account = accounts.find(name);
  if (account === undefined) throw new TypeError(`The test has no account ${name}`);
  return account;
}

describe.each([["memory", () => ({})], ...kinds] as const)("accounts in a store of kind %s", (_, makeLocation) => {
  test("gives each caller its own credential, and a third one the command that connects it", async () => {
    const opened = open(openStore(makeLocation()), createKeys(createKey()));
    await opened.accounts.connect("notes", ADA.id, [ADAS_TOKEN]);
    await opened.accounts.connect("notes", BOB.id, [BOBS_TOKEN]);
    const notes = find(opened);
    const [adas, bobs] = [await notes.open(ADA), await notes.open(BOB)];
    expect(adas).toMatchObject({
      id: notes.getId(ADA),
      title: "notes (ada)",
      credential: [{ in: "header", name: "Authorization", value: `Bearer ${ADAS_TOKEN}` }],
    });
    expect(bobs.credential).toEqual([{ in: "header", name: "Authorization", value: `Bearer ${BOBS_TOKEN}` }]);
    expect(bobs.id).not.toBe(adas.id);
    const message =
      "Cannot call a method without an account that is connected: notes (eve) is not connected; " +
      "the owner of the server connects it: skillgate account connect notes --caller eve (ACCOUNT_MISSING)";
    const eve = createCaller("key:eve:000000000003");
    expect(() => notes.getId(eve)).toThrow(message);
    await expect(notes.open(eve)).rejects.toMatchObject({ code: "ACCOUNT_MISSING", message });
  });

  test("gives everyone the credential of an account for everyone, in its places", async () => {
    const opened = open(openStore(makeLocation()), createKeys(createKey()));
    await opened.accounts.connect("shop", null, ["shop-id-5512", "shop-secret-88aa"]);
    const shop = find(opened, "shop");
    expect(shop.getId(ADA)).toBe(shop.getId(BOB));
    expect(shop.places).toEqual([
      { in: "query", name: "client_id" },
      { in: "query", name: "secret" },
    ]);
    expect((await shop.open(BOB)).credential).toEqual([
      { in: "query", name: "client_id", value: "shop-id-5512" },
      { in: "query", name: "secret", value: "shop-secret-88aa" },
    ]);
    expect(opened.secrets.mask("shop-secret-88aa")).toBe(MASK);
    await expect(opened.accounts.connect("shop", ADA.id, ["a", "b"])).rejects.toThrow(
      "the account shop is for everyone, not for a caller (OPTION_INVALID)",
    );
  });

  test("knows of connections of another process after a refresh, and of their end by itself", async () => {
    const location: StoreLocation = makeLocation();
    const first = openStore(location);
    // A store in memory has one process.
    const second = location.folder === undefined ? first : openStore(location);
    const key = createKey();
    const [mine, others] = [open(first, createKeys(key)), open(second, createKeys(key))];
    const id = await others.accounts.connect("notes", ADA.id, [ADAS_TOKEN]);
    await mine.accounts.refresh();
    expect(find(mine).getId(ADA)).toBe(id);
    const ended = new Promise((resolve) => mine.accounts.onEnd(resolve));
    expect(await others.accounts.revoke("notes", ADA.id)).toEqual({ isRevoked: true });
    expect(await ended).toEqual({
      id,
      name: "notes",
      owner: ADA.id,
      title: "notes (ada)",
      why: "it was revoked",
      end: "was revoked",
    });
    expect(() => find(mine).getId(ADA)).toThrow("ACCOUNT_MISSING");
    await expect(find(mine).open(ADA)).rejects.toMatchObject({ code: "ACCOUNT_MISSING" });
    expect(await others.accounts.revoke("notes", ADA.id)).toEqual({ isRevoked: false });
  });

  test("leaves one connection of two that are made at once", async () => {
    const location: StoreLocation = makeLocation();
    const first = openStore(location);
    const second = location.folder === undefined ? first : openStore(location);
    const key = createKey();
    const [mine, others] = [open(first, createKeys(key)), open(second, createKeys(key))];
    const ids = await Promise.all([
      mine.accounts.connect("notes", ADA.id, [ADAS_TOKEN]),
      others.accounts.connect("notes", ADA.id, [BOBS_TOKEN]),
    ]);
    await Promise.all([mine.accounts.refresh(), others.accounts.refresh()]);
    const { id, credential } = await find(mine).open(ADA);
    expect(ids).toContain(id);
    expect(find(others).getId(ADA)).toBe(id);
    expect(credential[0]?.value).toBe(`Bearer ${id === ids[0] ? ADAS_TOKEN : BOBS_TOKEN}`);
    expect(await mine.accounts.list({ id: "owner", seesAll: true })).toHaveLength(3);
  });

  test("sends a credential nowhere after a change of the settings that decide who gets it", async () => {
    const opened = open(openStore(makeLocation()), createKeys(createKey()));
    const id = await opened.accounts.connect("notes", ADA.id, [ADAS_TOKEN]);
    const ended: unknown[] = [];
    opened.accounts.onEnd((end) => ended.push(end));
    opened.accounts.replace([{ ...NOTES, servers: ["https://evil.example"] }]);
    const message =
      "The service does not accept the account any more: notes (ada): its settings have changed since it was connected; " +
      "the owner of the server connects it: skillgate account connect notes --caller ada (ACCOUNT_RECONNECT)";
    expect(() => find(opened).getId(ADA)).toThrow(message);
    await expect(find(opened).open(ADA)).rejects.toMatchObject({ code: "ACCOUNT_RECONNECT" });
    expect(ended).toEqual([
      {
        id,
        name: "notes",
        owner: ADA.id,
        title: "notes (ada)",
        why: "its settings have changed since it was connected",
      },
    ]);
    // A setting that does not decide it changes nothing.
    opened.accounts.replace([{ ...NOTES, reveal: ["NotesSkill"], isPrivate: true }]);
    expect(find(opened).getId(ADA)).toBe(id);
  });

  test("reads no value with another key, and says which key is missing", async () => {
    const database = openStore(makeLocation());
    await open(database, createKeys(createKey())).accounts.connect("notes", ADA.id, [ADAS_TOKEN]);
    const opened = open(database, createKeys(createKey()));
    await expect(find(opened).open(ADA)).rejects.toThrow(
      /^Cannot use the account now: its stored value is encrypted with the key [0-9a-f]{8}, which the variable SKILLGATE_ACCOUNT_KEY does not have; add that key after the first one, or connect it again \(ACCOUNT_UNAVAILABLE\)$/,
    );
    const [row] = await (await database.open()).accounts.list();
    expect(row?.state).toBe("connected");
  });

  test("encrypts all values with the first of two keys, after which the old one is not needed", async () => {
    const database = openStore(makeLocation());
    const [old, young] = [createKey(), createKey()];
    const before = open(database, createKeys(old));
    await before.accounts.connect("notes", ADA.id, [ADAS_TOKEN]);
    const id = await before.accounts.connect("notes", BOB.id, [BOBS_TOKEN]);
    const both = open(database, createKeys(`${young},${old}`));
    expect((await find(both).open(BOB)).credential[0]?.value).toBe(`Bearer ${BOBS_TOKEN}`);
    expect(await both.accounts.rotate()).toEqual({
      isKeyNew: false,
      keys: "the variable SKILLGATE_ACCOUNT_KEY",
      changed: 2,
      unreadable: [],
    });
    expect(await both.accounts.rotate()).toMatchObject({ changed: 0 });
    expect(await find(open(database, createKeys(young))).open(BOB)).toMatchObject({ id });
    await expect(find(before).open(BOB)).rejects.toMatchObject({ code: "ACCOUNT_UNAVAILABLE" });
  });

  test("keeps what another key has encrypted when the values are encrypted again", async () => {
    const database = openStore(makeLocation());
    const [lost, key] = [createKey(), createKey()];
    await open(database, createKeys(lost)).accounts.connect("notes", ADA.id, [ADAS_TOKEN]);
    const opened = open(database, createKeys(key));
    await opened.accounts.connect("notes", BOB.id, [BOBS_TOKEN]);
    expect(await opened.accounts.rotate()).toMatchObject({ changed: 0, unreadable: ["notes (ada)"] });
    expect(await find(open(database, createKeys(`${key} ${lost}`))).open(ADA)).toMatchObject({ title: "notes (ada)" });
  });

  test.each([
    ["another row", { id: "another" }],
    ["another owner", { owner: "key:eve:000000000003" }],
    ["another account", { name: "diary" }],
  ])("decrypts no value that was copied to %s", async (_where, change) => {
    const database = openStore(makeLocation());
    const diary: AccountDefinition = { ...NOTES, name: "diary" };
    const opened = open(database, createKeys(createKey()), [NOTES, diary]);
    await opened.accounts.connect("notes", ADA.id, [ADAS_TOKEN]);
    const { accounts } = await database.open();
    const row = await accounts.find("notes", ADA.id);
    if (row === undefined) throw new TypeError("The connection was not stored");
    const digests = { notes: row.definition, diary: "" };
    await opened.accounts.connect("diary", ADA.id, [BOBS_TOKEN]);
    digests.diary = (await accounts.find("diary", ADA.id))?.definition ?? "";
    const copy = { ...row, id: "copied", ...change };
    await accounts.replace({ ...copy, definition: copy.name === "diary" ? digests.diary : digests.notes });
    await expect(find(opened, copy.name).open(createCaller(copy.owner ?? ""))).rejects.toThrow(
      "its stored value was changed outside of Skillgate; connect it again (ACCOUNT_UNAVAILABLE)",
    );
  });

  test("shows a caller its own connections only, and to an administrator all, without values", async () => {
    const opened = open(openStore(makeLocation()), createKeys(createKey()));
    await opened.accounts.connect("notes", ADA.id, [ADAS_TOKEN]);
    await opened.accounts.connect("shop", null, ["shop-id-5512", "shop-secret-88aa"]);
    const absent = { reason: null, label: null, scopes: [], expires: null, connected: null, lastUsed: null };
    expect(await opened.accounts.list({ id: BOB.id, seesAll: false })).toEqual([
      { name: "notes", type: "bearer", for: "caller", owner: BOB.id, state: "missing", ...absent },
    ]);
    const all = await opened.accounts.list({ id: "owner", seesAll: true });
    expect(all.map(({ name, owner, state }) => [name, owner, state])).toEqual([
      ["notes", "owner", "missing"],
      ["notes", ADA.id, "connected"],
      ["shop", null, "connected"],
    ]);
    expect(JSON.stringify(all)).not.toMatch(/token-|secret-/);
    opened.accounts.replace([{ ...NOTES, isPerCaller: false }]);
    expect(await opened.accounts.list({ id: "owner", seesAll: true })).toContainEqual(
      expect.objectContaining({ name: "notes", owner: ADA.id, state: "reconnect" }),
    );
    opened.accounts.replace([]);
    const unknown = { state: "unknown", type: null, reason: "it is no longer in the settings" };
    const left = await opened.accounts.list({ id: "owner", seesAll: true });
    expect(left.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toMatchObject([
      { name: "notes", ...unknown },
      { name: "shop", ...unknown },
    ]);
  });

  test.each(["__proto__", "constructor", "toString", "a b'c\"; drop table accounts", "日本 \u{1f511}"])(
    "keeps the owner %s apart from others",
    async (owner) => {
      const opened = open(openStore(makeLocation()), createKeys(createKey()));
      expect(() => find(opened).getId(createCaller(owner))).toThrow("ACCOUNT_MISSING");
      await opened.accounts.connect("notes", owner, [ADAS_TOKEN]);
      expect((await find(opened).open(createCaller(owner))).credential[0]?.value).toBe(`Bearer ${ADAS_TOKEN}`);
      expect(() => find(opened).getId(BOB)).toThrow("ACCOUNT_MISSING");
      expect(await opened.accounts.revoke("notes", BOB.id)).toEqual({ isRevoked: false });
      expect(opened.accounts.find("__proto__")).toBeUndefined();
      await expect(opened.accounts.connect("constructor", owner, ["x"])).rejects.toThrow(
        "Unknown account: constructor",
      );
    },
  );

  test("uses a credential of the settings for everyone, with another id for another value", async () => {
    const database = openStore(makeLocation());
    const define = (token: string): AccountDefinition => ({ ...NOTES, isPerCaller: false, values: [token] });
    const opened = open(database, createKeys(createKey()), [define(ADAS_TOKEN)]);
    expect(opened.secrets.mask(`sent ${ADAS_TOKEN}`)).toBe(`sent ${MASK}`);
    const id = find(opened).getId(ADA);
    expect(await find(opened).open(BOB)).toMatchObject({
      id,
      title: "notes (everyone)",
      credential: [{ value: `Bearer ${ADAS_TOKEN}` }],
    });
    expect(find(open(database, createKeys(createKey()), [define(ADAS_TOKEN)])).getId(BOB)).toBe(id);
    opened.accounts.replace([define(BOBS_TOKEN)]);
    expect(find(opened).getId(ADA)).not.toBe(id);
    await expect(opened.accounts.connect("notes", null, [BOBS_TOKEN])).rejects.toThrow(
      "the settings have the credential of the account notes (OPTION_INVALID)",
    );
  });

  test("notes the last use of a connection", async () => {
    const database = openStore(makeLocation());
    const opened = open(database, createKeys(createKey()));
    await opened.accounts.connect("notes", ADA.id, [ADAS_TOKEN]);
    const before = Date.now();
    await find(opened).open(ADA);
    const { accounts } = await database.open();
    await expect.poll(async () => (await accounts.list())[0]?.lastUsed ?? 0).toBeGreaterThanOrEqual(before);
  });
});

test.each([
  [NOTES, ["a\nb"], "token has a line break or a character that a header cannot have"],
  [NOTES, [""], "token is empty"],
  [NOTES, [], "it needs one value: token"],
  [SHOP, ["one"], "it needs 2 values: client_id, secret"],
  [{ ...COMMON, name: "wiki", type: "basic" }, ["a:b", "c"], "username has a colon, which ends it"],
  [
    { ...COMMON, name: "old", type: "apiKey", in: "cookie", names: ["session"], prefix: "" },
    ["a; admin=1"],
    "session has a line break or a character that a cookie cannot have",
  ],
] as const)("refuses values that cannot be sent, without repeating them: %#", async (definition, values, message) => {
  const opened = open(openStore({}), createKeys(createKey()), [definition]);
  const owner = definition.isPerCaller ? ADA.id : null;
  await expect(opened.accounts.connect(definition.name, owner, values)).rejects.toThrow(
    `Cannot use this option: the credential of the account ${definition.name}: ${message} (OPTION_INVALID)`,
  );
});

test("leaves no value in a file of the store, its log, its export or its backup", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-accounts-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const database = openStore({ folder });
  const wiki: AccountDefinition = { ...COMMON, name: "wiki", type: "basic" };
  const key = createKey();
  const opened = open(database, createKeys(key), [NOTES, wiki]);
  await opened.accounts.connect("notes", ADA.id, [ADAS_TOKEN]);
  await opened.accounts.connect("notes", ADA.id, [BOBS_TOKEN]);
  await opened.accounts.connect("wiki", ADA.id, ["ada", "wiki-password-31c0"]);
  await find(opened).open(ADA);
  const backup = join(folder, "copy.backup");
  await backUpStore(folder, backup);
  const forms = [ADAS_TOKEN, BOBS_TOKEN, "wiki-password-31c0", key].flatMap((value) => [
    value,
    Buffer.from(value).toString("base64").slice(0, -4),
    Buffer.from(value).toString("hex"),
  ]);
  const names = readdirSync(folder);
  expect(names).toEqual(expect.arrayContaining(["copy.backup", "skillgate.db"]));
  for (const name of names) {
    const bytes = readFileSync(join(folder, name), "latin1");
    expect(forms.filter((form) => bytes.includes(form))).toEqual([]);
  }
  const rows = [];
  for await (const row of (await database.open()).export()) rows.push(row);
  const exported = JSON.stringify(rows);
  expect(exported).toContain('"accounts"');
  expect(forms.filter((form) => exported.includes(form))).toEqual([]);
  expect(opened.secrets.maskText(`Basic ${Buffer.from("ada:wiki-password-31c0").toString("base64")}`)).toBe(
    "Basic [redacted]",
  );
});
