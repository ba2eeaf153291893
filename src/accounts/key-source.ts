import { hash, randomBytes } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

import { replaceFile } from "../shared/files/replace-file.ts";
import { createError, getMessage, SkillgateError } from "../errors.ts";
import { makeFolder } from "../shared/files/make-folder.ts";
import { withLock } from "../shared/files/lock.ts";

/** The variable with the keys, in place of the file. */
export const KEY_VARIABLE = "SKILLGATE_ACCOUNT_KEY";

/** The file of the keys, in the user's state folder. */
export const KEY_FILE = "account.key";

const KEY_BYTES = 32;

/** A key that encrypts credentials. Secret. */
export interface AccountKey {
  /** The first 8 digits of a digest of the key. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** Where the keys are. */
export interface KeySettings {
  /** The value of `SKILLGATE_ACCOUNT_KEY`. Secret. */
  readonly variable: string | undefined;
  /** Reads the value of `store.accountKey`; absent without the setting. */
  readonly readSetting?: (() => Promise<string>) | undefined;
  /** The user's state folder; `undefined` for a user without a home. */
  readonly folder: string | undefined;
  /** The store: in the memory of this process, in a folder, or at a URL, where other machines use it that have no file of this one. */
  readonly store: "memory" | "folder" | "url";
  /** Milliseconds to wait for another process that writes the file. */
  readonly lockMs: number;
  /** Takes the texts of the keys, before they are used, so that no message has one. */
  readonly onSecrets: (values: readonly string[]) => void;
}

/** The keys that encrypt credentials; the first one encrypts. Each function throws `ACCOUNT_UNAVAILABLE` if there is no usable key. */
export interface KeySource {
  /** Returns the key that encrypts; creates it in the file if that has no key. */
  getFirst(): Promise<AccountKey>;
  find(id: string): Promise<AccountKey | undefined>;
  /** Says where the keys are: `the variable SKILLGATE_ACCOUNT_KEY`. Never throws. */
  describe(): Promise<string>;
  /** Adds a new first key to the file. Keys of a variable or a setting are changed by their owner: returns false. */
  renew(): Promise<boolean>;
}

/** Reads the keys of the variable, else of the setting, else of the file, which it creates. */
export function createKeySource(settings: KeySettings): KeySource {
  const { variable, readSetting, folder, store } = settings;
  if (store === "memory") {
    const key = randomBytes(KEY_BYTES).toString("base64");
    return createFixedSource("the memory of this process", async () => key, settings);
  }
  if (variable !== undefined && variable.trim() !== "")
    return createFixedSource(`the variable ${KEY_VARIABLE}`, async () => variable, settings);
  if (readSetting !== undefined) return createFixedSource("the setting store.accountKey", readSetting, settings);
  if (store === "url")
    return createAbsentSource(
      `other machines use the store, too, and need the same key. Create one with: openssl rand -base64 32, and set it as ${KEY_VARIABLE} on each machine`,
    );
  if (folder === undefined)
    return createAbsentSource(`this user has no folder for a key. Set ${KEY_VARIABLE} to: openssl rand -base64 32`);
  return createFileSource(join(folder, KEY_FILE), settings);
}

type Context = Pick<KeySettings, "lockMs" | "onSecrets">;

function createFixedSource(location: string, read: () => Promise<string>, { onSecrets }: Context): KeySource {
  let opened: Promise<readonly AccountKey[]> | undefined;
  const getKeys = async (): Promise<readonly AccountKey[]> => {
    opened ??= read().then((text) => parseKeys(text, location, onSecrets));
    try {
      return await opened;
    } catch (error) {
      opened = undefined; // The command may succeed the next time.
      throw toUnavailable(error, `${location} cannot be read`);
    }
  };
  return {
    getFirst: async () => getFirst(await getKeys(), location),
    find: async (id) => (await getKeys()).find((key) => key.id === id),
    describe: async () => location,
    renew: async () => false,
  };
}

function createAbsentSource(why: string): KeySource {
  const fail = async (): Promise<never> => {
    throw unavailable(`there is no key for credentials: ${why}`);
  };
  return { getFirst: fail, find: fail, renew: fail, describe: async () => `the variable ${KEY_VARIABLE}` };
}

/**
 * Keys in a file, one a line. Old keys stay in it after a rotation: values that another process writes at that moment, and older
 * backups, need them.
 */
function createFileSource(file: string, { lockMs, onSecrets }: Context): KeySource {
  const read = async (): Promise<readonly AccountKey[]> => {
    const text = await readOwn(file).catch((error: unknown) => {
      if (isMissing(error)) return "";
      throw toUnavailable(error, `${file} cannot be read`);
    });
    return text.trim() === "" ? [] : parseKeys(text, file, onSecrets);
  };
  const add = (isWanted: (keys: readonly AccountKey[]) => boolean): Promise<void> =>
    writeUnderLock(file, lockMs, async () => {
      const keys = await read();
      if (!isWanted(keys)) return;
      const texts = [randomBytes(KEY_BYTES), ...keys.map(({ bytes }) => bytes)].map((key) => key.toString("base64"));
      await replaceFile(file, `${texts.join("\n")}\n`);
    });
  return {
    async getFirst() {
      const [first] = await read();
      if (first !== undefined) return first;
      await add((keys) => keys.length === 0);
      return getFirst(await read(), file);
    },
    find: async (id) => (await read()).find((key) => key.id === id),
    describe: async () => file,
    async renew() {
      await add(() => true);
      return true;
    },
  };
}

/** Reads a file that only its owner can read. Windows has no such rights; there, the folder is the user's. */
async function readOwn(file: string): Promise<string> {
  const { mode } = await stat(file);
  if (process.platform !== "win32" && (mode & OTHERS) !== 0)
    throw unavailable(`${file} can be read or changed by other users of this machine. Run: chmod 600 '${file}'`);
  return readFile(file, "utf8");
}

/** The rights of the group and of all others. */
const OTHERS = 0o077;

async function writeUnderLock(file: string, lockMs: number, write: () => Promise<void>): Promise<void> {
  try {
    await makeFolder(dirname(file), 0o700);
    await withLock(`${file}.lock`, lockMs, write);
  } catch (error) {
    throw toUnavailable(error, `${file} cannot be written`);
  }
}

function parseKeys(text: string, location: string, onSecrets: KeySettings["onSecrets"]): readonly AccountKey[] {
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  onSecrets(words);
  return words.map((word) => {
    const bytes = Buffer.from(word, /^[0-9a-f]{64}$/i.test(word) ? "hex" : "base64");
    if (bytes.length !== KEY_BYTES || !/^[\w+/-]+=?$/.test(word))
      throw unavailable(
        `a key in ${location} does not have 32 bytes in base64 or hex. Create one with: openssl rand -base64 32`,
      );
    return { id: hash("sha256", Buffer.concat([KEY_LABEL, bytes])).slice(0, 8), bytes };
  });
}

const KEY_LABEL = Buffer.from("skillgate account key\n");

function getFirst([first]: readonly AccountKey[], location: string): AccountKey {
  if (first === undefined) throw unavailable(`${location} has no key. Create one with: openssl rand -base64 32`);
  return first;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

function toUnavailable(error: unknown, what: string): SkillgateError {
  return error instanceof SkillgateError ? error : unavailable(`${what}: ${getMessage(error)}`);
}

function unavailable(values: string): SkillgateError {
  return createError("ACCOUNT_UNAVAILABLE", values);
}
