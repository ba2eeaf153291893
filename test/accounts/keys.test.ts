import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { createKeySource, type KeySettings, type KeySource } from "../../src/accounts/index.ts";

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-keys-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function createSource(settings: Partial<KeySettings>): KeySource {
  const none: KeySettings = {
    variable: undefined,
    folder: undefined,
    store: "folder",
    lockMs: 5_000,
    onSecrets: () => {},
  };
  return createKeySource({ ...none, ...settings });
}

test("creates a key in a file that only the user can read, once for processes that need it at once", async () => {
  const folder = join(createFolder(), "state");
  const found = await Promise.all([1, 2, 3, 4, 5].map(() => createSource({ folder }).getFirst()));
  expect(new Set(found.map(({ id }) => id)).size).toBe(1);
  expect(readdirSync(folder)).toEqual(["account.key"]);
  expect(statSync(join(folder, "account.key")).mode & 0o777).toBe(0o600);
});

test("keeps the old keys of the file behind a new one, for backups and for processes that still use them", async () => {
  const folder = createFolder();
  const source = createSource({ folder });
  const old = await source.getFirst();
  const other = createSource({ folder });
  expect(await Promise.all([source.renew(), other.renew()])).toEqual([true, true]);
  const { id } = await other.getFirst();
  expect(id).not.toBe(old.id);
  expect((await source.getFirst()).id).toBe(id);
  expect(await other.find(old.id)).toEqual(old);
  expect(readFileSync(join(folder, "account.key"), "utf8").trim().split("\n")).toHaveLength(3);
});

test("prefers the variable to the setting, and the setting to the file; accepts base64 and hex", async () => {
  const folder = createFolder();
  const bytes = randomBytes(32);
  const hex = bytes.toString("hex");
  const inHex = await createSource({ variable: hex, folder }).getFirst();
  const setting = createSource({ readSetting: async () => bytes.toString("base64url"), folder });
  expect((await setting.getFirst()).id).toBe(inHex.id);
  expect(await setting.describe()).toBe("the setting store.accountKey");
  expect(await setting.renew()).toBe(false);
  const both = createSource({ variable: hex, readSetting: async () => "not a key", folder });
  expect((await both.getFirst()).id).toBe(inHex.id);
  expect(readdirSync(folder)).toEqual([]);
});

test("encrypts a store in memory with a key that ends with the process", async () => {
  const folder = createFolder();
  const [source, other] = [createSource({ store: "memory", folder }), createSource({ store: "memory", folder })];
  const { id } = await source.getFirst();
  expect((await source.getFirst()).id).toBe(id);
  expect(await other.find(id)).toBeUndefined();
  expect(readdirSync(folder)).toEqual([]);
});

test("makes the texts of keys known secrets before they are used", async () => {
  const key = randomBytes(32).toString("base64");
  const known: string[] = [];
  await createSource({ variable: `short ${key}`, onSecrets: (values) => void known.push(...values) })
    .getFirst()
    .catch(() => {});
  expect(known).toEqual(["short", key]);
});

test("says what to set where no key can be used, without repeating it", async () => {
  const short = randomBytes(16).toString("base64");
  const messageOf = (source: KeySource): Promise<unknown> =>
    source.getFirst().then(
      () => "no error",
      (error: Error) => error.message,
    );
  expect(await messageOf(createSource({ variable: short }))).toBe(
    "Cannot use the account now: a key in the variable SKILLGATE_ACCOUNT_KEY does not have 32 bytes in base64 or hex. Create one with: openssl rand -base64 32 (ACCOUNT_UNAVAILABLE)",
  );
  expect(await messageOf(createSource({ store: "url", folder: createFolder() }))).toBe(
    "Cannot use the account now: there is no key for credentials: other machines use the store, too, and need the same key. Create one with: openssl rand -base64 32, and set it as SKILLGATE_ACCOUNT_KEY on each machine (ACCOUNT_UNAVAILABLE)",
  );
  expect(await messageOf(createSource({}))).toContain("this user has no folder for a key. Set SKILLGATE_ACCOUNT_KEY");
  const folder = createFolder();
  writeFileSync(join(folder, "account.key"), "damaged\n", { mode: 0o600 });
  expect(await messageOf(createSource({ folder }))).toContain("does not have 32 bytes");
  expect(readFileSync(join(folder, "account.key"), "utf8")).toBe("damaged\n");
});

test.skipIf(process.platform === "win32")(
  "refuses a key file that other users can read, with the command that changes it",
  async () => {
    const folder = createFolder();
    await createSource({ folder }).getFirst();
    const file = join(folder, "account.key");
    for (const mode of [0o640, 0o604, 0o620]) {
      chmodSync(file, mode);
      await expect(createSource({ folder }).getFirst()).rejects.toMatchObject({
        code: "ACCOUNT_UNAVAILABLE",
        message: expect.stringContaining(`Run: chmod 600 '${file}'`),
      });
    }
    chmodSync(file, 0o600);
    expect(await createSource({ folder }).getFirst()).toBeDefined();
  },
);
