import { EventEmitter, once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";

import {
  createAccounts,
  createKeySource,
  createServerLogins,
  describeConnect,
  type KeySource,
  type ServerLogins,
} from "../../src/accounts/index.ts";
import { createLoginFile } from "../../src/accounts/server-logins/file.ts";
import { KnownSecrets } from "../../src/shared/secrets.ts";
import { createLazyDatabase, type LazyDatabase, type StoreLocation } from "../../src/store/index.ts";
import { prepareDatabases } from "../support/databases.ts";

const { kinds } = prepareDatabases();

const URL_OF_NOTES = "https://notes.example/mcp";
const NOTES = `tokens ${URL_OF_NOTES} owner`;
const ADAS_NOTES = `tokens ${URL_OF_NOTES} key:ada:000000000001`;
const IDENTITY = "identity https://login.example app owner";
const CLIENT = "client https://notes.example owner";
const TOKEN = "access-token-4f9c2e71b8";
const GRANT = { redirectUrl: "http://127.0.0.1:1/callback", tokens: { access_token: TOKEN, token_type: "bearer" } };

const KEY = randomBytes(32).toString("base64");

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-logins-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function createKeys(variable: string | undefined, folder?: string): KeySource {
  return createKeySource({ variable, folder, store: "folder", lockMs: 5_000, onSecrets: () => {} });
}

/** Opens the logins as another process does: two of one folder share only their files. */
function open(folder: string, variable = KEY): ServerLogins {
  return createServerLogins({ folder }, createKeys(variable, folder));
}

test("takes the lock of a login at once after the process that held it was killed", async () => {
  const folder = createFolder();
  const openFile = () => createLoginFile(join(folder, "tokens.json"), async () => "");
  const findLock = (): string => join(folder, readdirSync(folder).find((name) => name.endsWith(".lock")) ?? "");
  const [lock, holder] = await openFile().exclusively(NOTES, async () => [
    findLock(),
    readFileSync(findLock(), "utf8"),
  ]);
  const [host, , instance, space] = holder.split("/");
  writeFileSync(lock, [host, ENDED, instance, space].join("/"));
  expect(await openFile().exclusively(NOTES, async () => readFileSync(lock, "utf8"))).toBe(holder);
});

/** No process has this number: it is beyond the largest of Linux. */
const ENDED = 2 ** 22 + 1;

const fileIn = (folder: string): string => join(folder, "logins.json");

const readText = (folder: string): string => readFileSync(fileIn(folder), "utf8");

function writePlain(folder: string, entries: object): void {
  writeFileSync(fileIn(folder), JSON.stringify(entries), { mode: 0o600 });
}

test("stores logins encrypted in a file that only its owner can read, with the key of its folder", async () => {
  const folder = createFolder();
  const logins = open(folder, "");
  await logins.tokens.set(NOTES, GRANT);
  await logins.tokens.set(CLIENT, { client: { client_secret: "secret-of-client-1" } });
  expect(statSync(fileIn(folder)).mode & 0o777).toBe(0o600);
  expect(readText(folder)).not.toMatch(/access-token|secret-of-client/);
  expect(existsSync(join(folder, "account.key"))).toBe(true);
  expect(await open(folder, "").tokens.get(NOTES)).toEqual(GRANT);
  expect(await logins.list()).toEqual([{ server: URL_OF_NOTES, kind: "server", owner: "owner" }]);
});

test("keeps a change of a returned value from the next reader", async () => {
  const { tokens } = open(createFolder());
  await tokens.set(NOTES, { token: "a" });
  Object.assign((await tokens.get(NOTES)) as object, { token: "b" });
  expect(await tokens.get(NOTES)).toEqual({ token: "a" });
});

test("loses no login while another process forgets one", async () => {
  const folder = createFolder();
  const [one, other] = [open(folder).tokens, open(folder).tokens];
  const names = Array.from({ length: 20 }, (_, at) => `tokens https://${at}.example owner`);
  const forgetting = names.map(() => one.delete("tokens https://gone.example owner"));
  const saving = names.map((name) => other.set(name, { token: name }));
  await Promise.all([...forgetting, ...saving]);
  expect(await Promise.all(names.map((name) => one.get(name)))).toEqual(names.map((token) => ({ token })));
});

test("takes over a file without encryption once, also for several processes, and leaves no plain text", async () => {
  const folder = createFolder();
  const entries = {
    [NOTES]: GRANT,
    [ADAS_NOTES]: { tokens: { access_token: `${TOKEN}-ada` } },
    [CLIENT]: { client: 1 },
  };
  writePlain(folder, entries);
  const opened = Array.from({ length: 4 }, () => open(folder));
  const found = await Promise.all(opened.flatMap(({ tokens }) => Object.keys(entries).map((key) => tokens.get(key))));
  expect(found).toEqual(opened.flatMap(() => Object.values(entries)));
  expect(readText(folder)).not.toContain("access-token");
  expect(Object.keys(JSON.parse(readText(folder)) as object)).toEqual(Object.keys(entries));
});

test("takes over the values that an older version writes later, beside encrypted ones", async () => {
  const folder = createFolder();
  await open(folder).tokens.set(NOTES, GRANT);
  const sealed = JSON.parse(readText(folder)) as object;
  writePlain(folder, { ...sealed, [ADAS_NOTES]: GRANT });
  const { tokens } = open(folder);
  expect([await tokens.get(NOTES), await tokens.get(ADAS_NOTES)]).toEqual([GRANT, GRANT]);
  expect(readText(folder)).not.toContain(TOKEN);
});

test("keeps a file without encryption as it is if there is no usable key, and says what to do", async () => {
  const folder = createFolder();
  writePlain(folder, { [NOTES]: GRANT });
  const before = readText(folder);
  await expect(open(folder, "short").tokens.get(NOTES)).rejects.toMatchObject({
    code: "ACCOUNT_UNAVAILABLE",
    message: expect.stringContaining("Create one with: openssl rand -base64 32"),
  });
  expect(readText(folder)).toBe(before);
  expect(await open(folder).tokens.get(NOTES)).toEqual(GRANT);
});

test("reveals nothing with another key, says what to do, and takes a new login in its place", async () => {
  const folder = createFolder();
  await open(folder).tokens.set(NOTES, GRANT);
  const other = open(folder, randomBytes(32).toString("base64"));
  const error = await other.tokens.get(NOTES).catch((thrown: unknown) => thrown as Error);
  expect(error).toMatchObject({ code: "ACCOUNT_UNAVAILABLE" });
  expect(String(error)).toMatch(
    /: the stored login at https:\/\/notes\.example\/mcp is encrypted with the key [0-9a-f]{8}, which the variable SKILLGATE_ACCOUNT_KEY does not have; add that key after the first one, or log in again: skillgate mcp login \(ACCOUNT_UNAVAILABLE\)$/,
  );
  expect(await other.list()).toHaveLength(1);
  expect(await other.listUnreadable()).toMatchObject([{ name: URL_OF_NOTES }]);
  await other.tokens.set(NOTES, GRANT);
  expect(await other.tokens.get(NOTES)).toEqual(GRANT);
});

test("does not decrypt a value that was copied to another login", async () => {
  const folder = createFolder();
  await open(folder).tokens.set(NOTES, GRANT);
  const { [NOTES]: value } = JSON.parse(readText(folder)) as Record<string, string>;
  writePlain(folder, { [ADAS_NOTES]: value });
  await expect(open(folder).tokens.get(ADAS_NOTES)).rejects.toThrow(
    `the stored login at ${URL_OF_NOTES} was changed outside of Skillgate; log in again: skillgate mcp login`,
  );
});

/** Work of one key waits for that of another process; work of other keys does not. */
async function testExclusive(one: ServerLogins, other: ServerLogins): Promise<void> {
  const events = new EventEmitter();
  const [started, ended] = [once(events, "started"), once(events, "ended")];
  const done: string[] = [];
  for (const key of [NOTES, ADAS_NOTES]) await one.tokens.set(key, GRANT);
  const slow = one.tokens.exclusively(NOTES, async () => {
    events.emit("started");
    await ended;
    await one.tokens.set(NOTES, GRANT);
    done.push("slow");
  });
  await started;
  const waiting = other.tokens.exclusively(NOTES, async () => done.push("same key"));
  await one.tokens.exclusively(ADAS_NOTES, async () => done.push("same process"));
  await other.tokens.exclusively(IDENTITY, async () => done.push("other process"));
  events.emit("ended");
  await Promise.all([slow, waiting]);
  expect(done).toEqual(["same process", "other process", "slow", "same key"]);
}

test("holds up only the work of the same key, also in another process", async () => {
  const folder = createFolder();
  await testExclusive(open(folder), open(folder));
});

test("removes the logins of one owner at a server, and encrypts the others with a new key", async () => {
  const folder = createFolder();
  const logins = open(folder);
  for (const key of [NOTES, ADAS_NOTES, IDENTITY, CLIENT]) await logins.tokens.set(key, GRANT);
  expect(await logins.list()).toEqual([
    { server: URL_OF_NOTES, kind: "server", owner: "owner" },
    { server: URL_OF_NOTES, kind: "server", owner: "key:ada:000000000001" },
    { server: "https://login.example", kind: "identity provider", owner: "owner" },
  ]);
  expect(await logins.remove({ server: URL_OF_NOTES, owner: "key:ada:000000000001" })).toBe(true);
  expect(await logins.remove({ server: URL_OF_NOTES, owner: "key:ada:000000000001" })).toBe(false);
  const fresh = randomBytes(32).toString("base64");
  const rotated = open(folder, `${fresh},${KEY}`);
  expect(await rotated.rotate()).toEqual({ changed: 3, unreadable: [] });
  expect(await rotated.rotate()).toEqual({ changed: 0, unreadable: [] });
  expect(await open(folder, fresh).tokens.get(NOTES)).toEqual(GRANT);
  expect((await open(folder).rotate()).unreadable).toHaveLength(3);
});

describe.each(kinds)("logins in a store of kind %s", (_, makeLocation) => {
  const openDatabase = (location: StoreLocation): LazyDatabase => {
    const database = createLazyDatabase(location);
    onTestFinished(() => database.close());
    return database;
  };
  const openIn = (location: StoreLocation, folder?: string): ServerLogins => {
    const database = openDatabase(location);
    return createServerLogins({ database, ...(folder !== undefined && { folder }) }, createKeys(KEY));
  };

  test("are encrypted, shared by processes, and no accounts", async () => {
    const location = makeLocation();
    const [one, other] = [openIn(location), openIn(location)];
    await one.tokens.set(NOTES, GRANT);
    expect(await other.tokens.get(NOTES)).toEqual(GRANT);
    await other.tokens.set(NOTES, { ...GRANT, redirectUrl: "http://127.0.0.1:2/callback" });
    expect(await one.tokens.get(NOTES)).toMatchObject({ redirectUrl: "http://127.0.0.1:2/callback" });
    const database = openDatabase(location);
    const rows = await (await database.open()).accounts.listLogins();
    expect(JSON.stringify(rows)).not.toContain(TOKEN);
    const accounts = createAccounts({
      definitions: [],
      database,
      keys: createKeys(KEY),
      secrets: new KnownSecrets(),
      describeConnect,
    });
    onTestFinished(() => accounts.close());
    expect(await accounts.list({ id: "owner", seesAll: true })).toEqual([]);
    expect(await accounts.rotate()).toMatchObject({ changed: 0, unreadable: [] });
    expect(await other.remove({ server: URL_OF_NOTES, owner: "owner" })).toBe(true);
    expect(await one.tokens.get(NOTES)).toBeUndefined();
    expect(await one.list()).toEqual([]);
  });

  test("hold up only the work of the same key, also in another process", async () => {
    const location = makeLocation();
    await testExclusive(openIn(location), openIn(location));
  });

  test("come from the file of an earlier version when they are needed, one by one, and leave it then", async () => {
    const folder = createFolder();
    writePlain(folder, { [NOTES]: GRANT, [IDENTITY]: GRANT });
    const location = makeLocation();
    const [one, other] = [openIn(location, folder), openIn(location, folder)];
    const found = await Promise.all([one, other, one].map(({ tokens }) => tokens.get(NOTES)));
    expect(found).toEqual([GRANT, GRANT, GRANT]);
    expect(Object.keys(JSON.parse(readText(folder)) as object)).toEqual([IDENTITY]);
    expect(await other.tokens.get(IDENTITY)).toEqual(GRANT);
    expect(existsSync(fileIn(folder))).toBe(false);
    expect(await one.tokens.get(ADAS_NOTES)).toBeUndefined();
  });

  test("leave encrypted logins of the user's other projects in their file", async () => {
    const folder = createFolder();
    await open(folder).tokens.set(NOTES, GRANT);
    expect(await openIn(makeLocation(), folder).tokens.get(NOTES)).toBeUndefined();
    expect(await open(folder).tokens.get(NOTES)).toEqual(GRANT);
  });
});
