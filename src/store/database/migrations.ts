import { type ColumnKind, type StoreEngine, type Table } from "./table.ts";
import { toSqlName } from "./sql.ts";

/** One change of the schema. A change that was released is never edited: a later one corrects it. */
type Change =
  | {
      readonly kind: "create";
      readonly table: string;
      readonly key: readonly string[];
      readonly columns: Readonly<Record<string, ColumnKind>>;
    }
  | { readonly kind: "index"; readonly table: string; readonly columns: readonly string[] }
  | { readonly kind: "add"; readonly table: string; readonly column: string; readonly type: ColumnKind };

/** Changes that are made together. */
export interface Migration {
  readonly version: number;
  readonly changes: readonly Change[];
}

/** The migrations in their order. */
export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    changes: [
      {
        kind: "create",
        table: "audit",
        key: ["seq"],
        columns: { seq: "integer", time: "integer", record: "text", hash: "text" },
      },
      {
        kind: "create",
        table: "auditHeads",
        key: ["day", "signer"],
        columns: { day: "text", signer: "text", seq: "integer", hash: "text", time: "integer", signature: "text" },
      },
      {
        kind: "create",
        table: "keys",
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
      },
      {
        kind: "create",
        table: "counters",
        key: ["bucket", "start"],
        columns: { bucket: "text", start: "integer", count: "integer", expires: "integer" },
      },
      { kind: "index", table: "counters", columns: ["expires"] },
      {
        kind: "create",
        table: "approvals",
        key: ["id"],
        columns: {
          id: "text",
          runId: "text",
          caller: "text",
          path: "text",
          description: "text",
          marks: "json",
          approver: "text",
          arguments: "json",
          digest: "text",
          plan: "json",
          provenance: "json",
          scopes: "json",
          waiter: "text",
          state: "text",
          scope: "text",
          created: "integer",
          expires: "integer",
          answeredBy: "text",
          answeredAs: "text",
          answeredAt: "integer",
          usedAt: "integer",
        },
      },
      { kind: "index", table: "approvals", columns: ["state", "created"] },
    ],
  },
  {
    version: 2,
    changes: [
      {
        kind: "create",
        table: "runs",
        key: ["id"],
        columns: {
          id: "text",
          caller: "text",
          state: "text",
          title: "text",
          created: "integer",
          updated: "integer",
          ended: "integer",
          continues: "text",
          calls: "integer",
          effects: "integer",
          size: "integer",
          claimedBy: "text",
          claimedUntil: "integer",
          attempts: "integer",
        },
      },
      { kind: "index", table: "runs", columns: ["created"] },
      { kind: "index", table: "runs", columns: ["state", "claimedUntil"] },
      { kind: "index", table: "runs", columns: ["ended"] },
      {
        kind: "create",
        table: "runEntries",
        key: ["run", "seq"],
        columns: { run: "text", seq: "integer", events: "text", hash: "text" },
      },
      { kind: "add", table: "approvals", column: "callId", type: "integer" },
      { kind: "add", table: "approvals", column: "closedAt", type: "integer" },
      { kind: "index", table: "approvals", columns: ["runId"] },
      { kind: "index", table: "approvals", columns: ["closedAt"] },
    ],
  },
  { version: 3, changes: [{ kind: "index", table: "approvals", columns: ["state", "expires"] }] },
];

/** A migration that was made, and the version of Skillgate that made it. */
export interface MigrationRow {
  readonly version: number;
  readonly program: string;
  readonly time: number;
}

export const MIGRATION_TABLE: Table<MigrationRow> = {
  name: "migrations",
  key: ["version"],
  columns: { version: "integer", program: "text", time: "integer" },
};

export const CREATE_MIGRATIONS: Change = {
  kind: "create",
  table: MIGRATION_TABLE.name,
  key: MIGRATION_TABLE.key,
  columns: MIGRATION_TABLE.columns,
};

/** Returns the statement of a change for a database program. */
export function toStatement(change: Change, kind: StoreEngine["kind"]): string {
  const table = toSqlName(change.table);
  if (change.kind === "index") {
    const columns = change.columns.map(toSqlName);
    return `CREATE INDEX ${[table, ...columns].join("_")} ON ${table} (${columns.join(", ")})`;
  }
  const types = kind === "postgres" ? POSTGRES_TYPES : SQLITE_TYPES;
  if (change.kind === "add") return `ALTER TABLE ${table} ADD COLUMN ${toSqlName(change.column)} ${types[change.type]}`;
  const columns = Object.entries(change.columns).map(([name, type]) => `${toSqlName(name)} ${types[type]}`);
  const key = change.key.map(toSqlName).join(", ");
  return `CREATE TABLE ${table} (${columns.join(", ")}, PRIMARY KEY (${key}))`;
}

const SQLITE_TYPES: Readonly<Record<ColumnKind, string>> = { text: "TEXT", integer: "INTEGER", json: "TEXT" };

/** The collation sorts texts by their bytes, as SQLite does. */
const POSTGRES_TYPES: Readonly<Record<ColumnKind, string>> = {
  text: 'TEXT COLLATE "C"',
  integer: "BIGINT",
  json: "TEXT",
};
