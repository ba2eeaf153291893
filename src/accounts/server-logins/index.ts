import { join } from "node:path";

import { getMessage, SkillgateError } from "../../errors.ts";
import type { TokenStore } from "../../model/account.ts";
import type { LazyDatabase } from "../../store/index.ts";
import type { UnreadableConnection } from "../changes.ts";
import { type Cipher, createCipher } from "../cipher.ts";
import type { KeySource } from "../key-source.ts";
import type { LoginEntries } from "./entries.ts";
import { createLoginFile, createPlainLogins } from "./file.ts";
import { createLoginTable } from "./table.ts";

/** The file of logins in the user's state folder. */
const LOGIN_FILE = "logins.json";

/** A login at an MCP server, or at the identity provider of a company. It has no value. */
export interface ServerLogin {
  /** The URL of the server, or the issuer. */
  readonly server: string;
  readonly kind: "server" | "identity provider";
  /** The id of the caller on whose behalf it is used. */
  readonly owner: string;
}

/** The logins at MCP servers. Values are decrypted for requests to the servers only. */
export interface ServerLogins {
  readonly tokens: TokenStore;
  list(): Promise<readonly ServerLogin[]>;
  /** Deletes a login; returns false if there is no such login. */
  remove(login: Pick<ServerLogin, "server" | "owner">): Promise<boolean>;
  /** Encrypts all values with the first key; returns how many were not, and the titles of those that cannot be read. */
  rotate(): Promise<{ readonly changed: number; readonly unreadable: readonly string[] }>;
  listUnreadable(): Promise<readonly UnreadableConnection[]>;
}

/** Where the logins are: in the store at a URL, or in a file of the user's state folder. */
export type ServerLoginPlace =
  | { readonly database: Pick<LazyDatabase, "open">; readonly folder?: string }
  | { readonly database?: undefined; readonly folder: string };

/** Opens the logins; reads nothing before it is needed. With a store, each login of the file of before moves there when it is needed. */
export function createServerLogins({ database, folder }: ServerLoginPlace, keys: KeySource): ServerLogins {
  const cipher = createCipher(keys, { subject: getTitle, again: "log in again: skillgate mcp login" });
  const seal = (key: string, value: unknown): Promise<string> => cipher.encrypt(JSON.stringify(value), key);
  const entries = database === undefined ? createLoginFile(join(folder, LOGIN_FILE), seal) : createLoginTable(database);
  const moveHere =
    database === undefined || folder === undefined ? async () => {} : createPlainLogins(join(folder, LOGIN_FILE));
  const read = createValueReader(entries, cipher);
  return {
    tokens: {
      async get(key) {
        await moveHere(key, async (value) => entries.set(key, await seal(key, value)));
        return read(key);
      },
      set: async (key, value) => entries.set(key, await seal(key, value)),
      delete: async (key) => void (await entries.delete(key)),
      exclusively: (key, work) => entries.exclusively(key, work),
    },
    list: async () => [...(await entries.list()).keys()].flatMap((key) => parseLogin(key) ?? []),
    async remove({ server, owner }) {
      const keys = [...(await entries.list()).keys()].filter((key) => {
        const login = parseLogin(key);
        return login?.server === server && login.owner === owner;
      });
      const found = await Promise.all(keys.map((key) => entries.delete(key)));
      return found.includes(true);
    },
    rotate: () => rotate(entries, cipher),
    listUnreadable: async () => (await readAll(entries, cipher)).flatMap(({ unreadable }) => unreadable ?? []),
  };
}

/** Decrypts a value once, because every request to a server needs it. */
function createValueReader(entries: Pick<LoginEntries, "get">, cipher: Cipher): (key: string) => Promise<unknown> {
  const opened = new Map<string, { readonly text: string; readonly value: unknown }>();
  return async (key) => {
    const text = await entries.get(key);
    const before = opened.get(key);
    if (text === undefined) opened.delete(key);
    if (text === undefined) return undefined;
    const value = before?.text === text ? before.value : (JSON.parse(await cipher.decrypt(text, key)) as unknown);
    opened.set(key, { text, value });
    return structuredClone(value); // many callers share one value
  };
}

interface ReadEntry {
  readonly key: string;
  readonly text: string;
  /** The decrypted value, as JSON. */
  readonly json?: string;
  readonly unreadable?: UnreadableConnection;
}

async function readAll(entries: Pick<LoginEntries, "list">, cipher: Cipher): Promise<readonly ReadEntry[]> {
  const read = async ([key, text]: readonly [string, string]): Promise<ReadEntry> => {
    try {
      return { key, text, json: await cipher.decrypt(text, key) };
    } catch (error) {
      if (!(error instanceof SkillgateError)) throw error;
      return { key, text, unreadable: { name: getServer(key), title: getTitle(key), why: getMessage(error) } };
    }
  };
  return Promise.all([...(await entries.list())].map(read));
}

/** A value that another process changes meanwhile has the first key already. */
async function rotate(entries: LoginEntries, cipher: Cipher): ReturnType<ServerLogins["rotate"]> {
  const unreadable: string[] = [];
  let changed = 0;
  for (const { key, text, json } of await readAll(entries, cipher)) {
    if (json === undefined) unreadable.push(getTitle(key));
    else if (!(await cipher.isCurrent(text)) && (await entries.replace(key, text, await cipher.encrypt(json, key))))
      changed++;
  }
  return { changed, unreadable };
}

/** Parses `tokens <server> <caller>` and `identity <issuer> <client> <caller>`; `undefined` for a registered client. */
function parseLogin(key: string): ServerLogin | undefined {
  const [kind, server = "", ...words] = key.split(" ");
  if (kind === "tokens") return { server, kind: "server", owner: words.join(" ") };
  return kind === "identity" ? { server, kind: "identity provider", owner: words.slice(1).join(" ") } : undefined;
}

function getServer(key: string): string {
  return key.split(" ")[1] ?? key;
}

function getTitle(key: string): string {
  return `the stored login at ${getServer(key)}`;
}
