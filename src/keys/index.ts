import { createError } from "../errors.ts";
import type { Caller } from "../model/caller.ts";
import { describeUnknownName } from "../shared/suggest.ts";
import type { Database, KeyRow } from "../store/index.ts";
import { createKeyId, createKeyText, findKeyId, matchesDigest } from "./key-text.ts";
import { toNotation } from "./permissions.ts";
import { keyError, requireFuture, requireValidKey, type WantedKey } from "./wanted-key.ts";

export { createKeyWatch, type KeyWatch } from "./key-watch.ts";
export { findOldWords, findPermissionFlaw, toNotation } from "./permissions.ts";
export { isKeyText } from "./key-text.ts";
export { type KeyUsage, readKeyUsage } from "./usage.ts";
export type { WantedKey } from "./wanted-key.ts";

/** The states of a key. */
export type KeyState = "active" | "expired" | "revoked";

/** A key that was created or rotated. */
export interface CreatedKey {
  /** The key itself, which cannot be shown again. */
  readonly text: string;
  readonly key: KeyRow;
}

/** The caller of a key, and the state of the key. */
export interface KeyCaller {
  readonly caller: Caller;
  readonly state: KeyState;
}

/** The API keys of one database. */
export interface Keys {
  /** Throws what `create` throws, and creates nothing. */
  check(options: WantedKey): Promise<void>;
  /** Throws `OPTION_INVALID` for invalid properties, and for a name that another key has. */
  create(options: WantedKey): Promise<CreatedKey>;
  /** The oldest first. */
  list(): Promise<readonly KeyRow[]>;
  /** Finds a key by its id or name; throws `KEY_UNKNOWN`. */
  get(idOrName: string): Promise<KeyRow>;
  /** Finds a key by its id, its name or the id of its caller, and returns its caller, also if the key is not valid. */
  findCaller(idOrName: string): Promise<KeyCaller | undefined>;
  /** Ends the validity of a key at once. Returns the key as it was before. */
  revoke(idOrName: string): Promise<KeyRow>;
  /** Gives a key a new secret; the old one is valid for `overlapMs` more. Throws `OPTION_INVALID` for a revoked key. */
  rotate(
    idOrName: string,
    options: { readonly overlapMs: number; readonly expires?: number | undefined },
  ): Promise<CreatedKey>;
  /** Returns the caller of a valid key; `undefined` for any other text. */
  authenticate(text: string): Promise<Caller | undefined>;
}

/** Milliseconds between two writes of the last use of a key. */
const LAST_USE_MS = 60_000;

export function createKeys({ keys: table }: Pick<Database, "keys">, now: () => number = Date.now): Keys {
  const get = async (idOrName: string): Promise<KeyRow> => findKey(idOrName, await table.list());
  const recordUse = createUseRecorder(table, now);
  const check = async (options: WantedKey): Promise<void> => {
    requireValidKey(options);
    requireFreeName(options.name, await table.list());
  };
  return {
    check,
    async create(options) {
      await check(options);
      const { name, scopes = [], roles = [], limits = {}, expires = null } = options;
      const permissions = [...new Set(options.permissions.flatMap(toNotation))];
      const id = createKeyId();
      const { text, sha256 } = createKeyText(id);
      const secrets = { prefix: `sg_${id}`, sha256, previousSha256: null, previousExpires: null };
      const times = { created: now(), lastUsed: null, expires, revoked: null };
      const key: KeyRow = { id, ...secrets, name, permissions, scopes, roles, limits, ...times };
      await table.add(key, (keys) => requireFreeName(name, keys));
      return { text, key };
    },
    list: () => table.list(),
    get,
    async findCaller(idOrName) {
      const keys = await table.list();
      const key = keys.find((each) => toCaller(each).id === idOrName) ?? findMatch(idOrName, keys);
      return key && { caller: toCaller(key), state: getKeyState(key, now()) };
    },
    async revoke(idOrName) {
      const key = await get(idOrName);
      if (key.revoked === null) await table.update(key.id, { revoked: now() });
      return key;
    },
    async rotate(idOrName, { overlapMs, expires }) {
      const key = await get(idOrName);
      if (expires !== undefined) requireFuture(expires);
      else if (getKeyState(key, now()) !== "active")
        throw keyError(`the key ${key.name} is ${getKeyState(key, now())}. Create another key`);
      if (key.revoked !== null) throw keyError(`the key ${key.name} is revoked. Create another key`);
      const { text, sha256 } = createKeyText(key.id);
      const changes = {
        sha256,
        previousSha256: key.sha256,
        previousExpires: now() + overlapMs,
        ...(expires !== undefined && { expires }),
      };
      if (!(await table.update(key.id, changes, { sha256: key.sha256 })))
        throw keyError(`the key ${key.name} was rotated at the same moment. Rotate it again`);
      return { text, key: { ...key, ...changes } };
    },
    async authenticate(text) {
      const id = findKeyId(text);
      if (id === undefined) return undefined;
      const key = await table.get(id);
      const isRotated = key?.previousExpires != null && key.previousExpires > now();
      const isMatch = matchesDigest(text, [key?.sha256 ?? null, isRotated ? key.previousSha256 : null]);
      if (key === undefined || !isMatch || getKeyState(key, now()) !== "active") return undefined;
      recordUse(key);
      return toCaller(key);
    },
  };
}

export function getKeyState({ revoked, expires }: KeyRow, time = Date.now()): KeyState {
  if (revoked !== null) return "revoked";
  return expires !== null && expires <= time ? "expired" : "active";
}

/** The id has the name for people, and stays the same when the key is rotated. */
export function toCaller({ id, name, permissions, scopes, roles, limits }: KeyRow): Caller {
  return { id: `key:${name}:${id}`, permissions: permissions.flatMap(toNotation), scopes, roles, limits };
}

/** Finds a key by its id or name; throws `KEY_UNKNOWN`, and `OPTION_INVALID` for a name of several keys. */
function findKey(idOrName: string, keys: readonly KeyRow[]): KeyRow {
  const key = findMatch(idOrName, keys);
  if (key !== undefined) return key;
  const names = keys.flatMap(({ id, name }) => [name, id]);
  const { detail, suggestions } = describeUnknownName("key", idOrName, names);
  throw createError("KEY_UNKNOWN", detail, { suggestions });
}

function findMatch(idOrName: string, keys: readonly KeyRow[]): KeyRow | undefined {
  const exact = keys.find(({ id, prefix }) => id === idOrName || prefix === idOrName);
  if (exact !== undefined) return exact;
  const matches = keys.filter(({ name }) => name === idOrName);
  const valid = matches.filter(({ revoked }) => revoked === null);
  const [key, another] = valid.length > 0 ? valid : matches;
  if (another === undefined) return key;
  throw keyError(`several keys are named ${idOrName}. Write the id of one: ${matches.map(({ id }) => id).join(", ")}`);
}

function requireFreeName(name: string, keys: readonly KeyRow[]): void {
  const other = keys.find((key) => key.revoked === null && (key.name === name || key.id === name));
  if (other === undefined) return;
  throw keyError(
    `another key is named ${name}. Choose another name, or replace it with: skillgate keys rotate ${name}`,
  );
}

/** Writes the last use of keys, at most once a minute for each, and without a wait: a full disk refuses no request. */
function createUseRecorder(table: Database["keys"], now: () => number): (key: KeyRow) => void {
  const written = new Map<string, number>();
  return ({ id, lastUsed }) => {
    const last = Math.max(lastUsed ?? 0, written.get(id) ?? 0);
    if (now() - last < LAST_USE_MS) return;
    written.set(id, now());
    table.update(id, { lastUsed: now() }).catch(() => {}); // the next use tries again
  };
}
