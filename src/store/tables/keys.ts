import type { CallLimits } from "../../model/caller.ts";
import { defineTable, integer, json, optional, type RowOf, type StoreEngine, text } from "../database/table.ts";

/** An API key. Times are in milliseconds since 1970. */
export type KeyRow = RowOf<typeof KEYS>;

export const KEYS = defineTable({
  name: "keys",
  key: ["id"],
  columns: {
    id: text(),
    /** The beginning of the key, which lists show. */
    prefix: text(),
    /** Digest of the whole key, hexadecimal; the key itself is not stored. */
    sha256: text(),
    /** Digest of the key before its rotation, which is valid until `previousExpires`. */
    previousSha256: optional(text()),
    previousExpires: optional(integer()),
    name: text(),
    /** Such as `call:FilesystemMCP.*`, or in the words of earlier versions. */
    permissions: json<readonly string[]>(),
    scopes: json<readonly string[]>(),
    roles: json<readonly string[]>(),
    limits: json<CallLimits>(),
    created: integer(),
    lastUsed: optional(integer()),
    expires: optional(integer()),
    revoked: optional(integer()),
  },
});

/** The keys of all callers. */
export interface KeyTable {
  /** Throws `STORE_CONFLICT` if the id exists, and what `check` throws: no other key is added between it and this one. */
  add(key: KeyRow, check?: (keys: readonly KeyRow[]) => void): Promise<void>;
  get(id: string): Promise<KeyRow | undefined>;
  /** The oldest first, revoked and expired ones too. */
  list(): Promise<readonly KeyRow[]>;
  /** Returns false if the key does not exist, or has other values than `where`. */
  update(id: string, changes: Partial<Omit<KeyRow, "id">>, where?: Pick<KeyRow, "sha256">): Promise<boolean>;
}

export function createKeyTable(engine: StoreEngine): KeyTable {
  return {
    async add(key, check = () => {}) {
      await engine.transaction("keys", async (rows) => {
        check(await rows.select(KEYS, {}));
        await rows.insert(KEYS, [key]);
      });
      await engine.announce();
    },
    get: async (id) => (await engine.select(KEYS, { id }))[0],
    list: () => engine.select(KEYS, {}, { order: "created" }),
    async update(id, changes, where) {
      const isFound = (await engine.update(KEYS, { id, ...where }, changes)) > 0;
      await engine.announce();
      return isFound;
    },
  };
}
