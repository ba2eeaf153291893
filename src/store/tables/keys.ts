import type { CallLimits } from "../../model/caller.ts";
import type { StoreEngine, Table } from "../database/table.ts";

/** An API key. Times are in milliseconds since 1970. */
export interface KeyRow {
  readonly id: string;
  /** The beginning of the key, which lists show. */
  readonly prefix: string;
  /** Digest of the whole key, hexadecimal; the key itself is not stored. */
  readonly sha256: string;
  /** Digest of the key before its rotation, which is valid until `previousExpires`. */
  readonly previousSha256: string | null;
  readonly previousExpires: number | null;
  readonly name: string;
  /** Such as `ToolInvoke(FilesystemMCP.*)`. */
  readonly permissions: readonly string[];
  readonly scopes: readonly string[];
  readonly roles: readonly string[];
  readonly limits: CallLimits;
  readonly created: number;
  readonly lastUsed: number | null;
  readonly expires: number | null;
  readonly revoked: number | null;
}

/** The keys of all callers. */
export interface KeyTable {
  /** Throws `STORE_CONFLICT` if the id exists. */
  add(key: KeyRow): Promise<void>;
  get(id: string): Promise<KeyRow | undefined>;
  /** The oldest first, revoked and expired ones too. */
  list(): Promise<readonly KeyRow[]>;
  /** Returns false if the key does not exist. */
  update(id: string, changes: Partial<Omit<KeyRow, "id">>): Promise<boolean>;
}

export const KEYS: Table<KeyRow> = {
  name: "keys",
  key: ["id"],
  columns: {
    id: "text",
    prefix: "text",
    sha256: "text",
    previousSha256: "text",
    previousExpires: "integer",
    name: "text",
    permissions: "json",
    scopes: "json",
    roles: "json",
    limits: "json",
    created: "integer",
    lastUsed: "integer",
    expires: "integer",
    revoked: "integer",
  },
};

export function createKeyTable(engine: StoreEngine): KeyTable {
  return {
    async add(key) {
      await engine.insert(KEYS, [key]);
      await engine.announce();
    },
    get: async (id) => (await engine.select(KEYS, { id }))[0],
    list: () => engine.select(KEYS, {}, { order: "created" }),
    async update(id, changes) {
      const isFound = (await engine.update(KEYS, { id }, changes)) > 0;
      await engine.announce();
      return isFound;
    },
  };
}
