import { createError } from "../../errors.ts";
import { VERSION } from "../../shared/version.ts";
import { AUDIT, AUDIT_HEADS } from "../audit/rows.ts";
import { ACCOUNT_FLOWS, ACCOUNTS } from "../tables/accounts.ts";
import { APPROVALS } from "../tables/approvals.ts";
import {
  AUTOMATION_VERSIONS,
  AUTOMATIONS,
  OCCURRENCE_INPUTS,
  OCCURRENCES,
  PAST_DELIVERIES,
} from "../tables/automation-rows.ts";
import { COUNTERS } from "../tables/counters.ts";
import { KEYS } from "../tables/keys.ts";
import { PROCESSES } from "../tables/processes.ts";
import { PROGRAM_SPACES, PROGRAM_VALUES } from "../tables/program-values.ts";
import { RUN_ENTRIES, RUN_METHODS, RUNS } from "../tables/runs.ts";
import { toSqlName } from "./sql.ts";
import {
  type ColumnKind,
  defineTable,
  integer,
  type Locks,
  type RowOf,
  type Rows,
  type StoreEngine,
  type Table,
  text,
} from "./table.ts";

/** The schemas that the database has had, and the version of Skillgate that created each of them. */
export const MIGRATIONS = defineTable({
  name: "migrations",
  key: ["version"],
  columns: { version: integer(), program: text(), time: integer() },
});

type AnyRow = Readonly<Record<string, unknown>>;

/** The tables in the order of an export. */
export const TABLES = [
  MIGRATIONS,
  KEYS,
  APPROVALS,
  COUNTERS,
  AUDIT,
  AUDIT_HEADS,
  RUNS,
  RUN_ENTRIES,
  RUN_METHODS,
  PROCESSES,
  ACCOUNTS,
  ACCOUNT_FLOWS,
  AUTOMATIONS,
  AUTOMATION_VERSIONS,
  OCCURRENCES,
  OCCURRENCE_INPUTS,
  PAST_DELIVERIES,
  PROGRAM_SPACES,
  PROGRAM_VALUES,
] as unknown as readonly Table<AnyRow>[];

/** The version of the schema of `TABLES`. */
export const SCHEMA_VERSION = 9;

/** The oldest schema whose tables are kept, and the tables that were added since, by the schema that has them first. */
const OLDEST_SCHEMA = 5;
const ADDED_TABLES: readonly (readonly [schema: number, table: Table<AnyRow>])[] = [
  [6, ACCOUNTS],
  [6, ACCOUNT_FLOWS],
  [7, AUTOMATIONS],
  [7, AUTOMATION_VERSIONS],
  [7, OCCURRENCES],
  [7, OCCURRENCE_INPUTS],
  [8, PAST_DELIVERIES],
  [9, PROGRAM_SPACES],
  [9, PROGRAM_VALUES],
];

/** Rows, and statements that change the schema. */
export interface SchemaRows extends Rows {
  execute(statement: string): Promise<void>;
  hasTable(name: string): Promise<boolean>;
}

/** An engine whose tables are created by statements. */
export interface SqlEngine extends StoreEngine, SchemaRows {
  transaction<Result>(locks: Locks, work: (rows: SchemaRows) => Promise<Result>): Promise<Result>;
}

/** Creates the tables of an empty database, and those that an older schema does not have. Throws for a schema that is not known. */
export async function createTables(
  engine: SchemaRows & Pick<SqlEngine, "kind" | "place" | "transaction">,
): Promise<void> {
  if ((await readSchema(engine, engine.place)) === SCHEMA_VERSION) return;
  await engine.transaction("migrations", async (rows) => {
    // Another process may have created them in the meantime.
    const version = await readSchema(rows, engine.place);
    if (version === SCHEMA_VERSION) return;
    if (version === 0) await createAll(rows, engine.kind);
    else await createAdded(rows, engine.kind, version);
    await rows.insert(MIGRATIONS, [{ version: SCHEMA_VERSION, program: VERSION, time: Date.now() }]);
  });
}

async function createAll(rows: SchemaRows, kind: StoreEngine["kind"]): Promise<void> {
  for (const table of TABLES) for (const statement of getStatements(table, kind)) await rows.execute(statement);
}

async function createAdded(rows: SchemaRows, kind: StoreEngine["kind"], version: number): Promise<void> {
  const added = ADDED_TABLES.filter(([schema]) => schema > version);
  for (const [, table] of added) for (const statement of getStatements(table, kind)) await rows.execute(statement);
}

/** Creates the tables of an empty database of SQLite with the rows of an attached one, which may have other tables, too. */
export async function copyTables(rows: SchemaRows, attached: string): Promise<void> {
  await createAll(rows, "sqlite");
  for (const { name, columns } of TABLES) {
    const table = toSqlName(name);
    const names = Object.keys(columns).map(toSqlName).join(", ");
    await rows.execute(`INSERT INTO main.${table} (${names}) SELECT ${names} FROM ${attached}.${table}`);
  }
}

/** Returns 0 for an empty database. */
async function readSchema(rows: SchemaRows, location: string): Promise<number> {
  if (!(await rows.hasTable(MIGRATIONS.name))) return 0;
  const [newest] = await rows.select(MIGRATIONS, {}, { descending: true, limit: 1 });
  const version = newest?.version ?? 0;
  if (newest !== undefined && version > SCHEMA_VERSION) throw newerStore(location, newest);
  if (version < OLDEST_SCHEMA) throw unreleasedStore(location, version);
  return version;
}

function newerStore(location: string, { version, program }: RowOf<typeof MIGRATIONS>): Error {
  const values =
    `${location} has schema ${version}, written by skillgate@${program}; ` +
    `this is skillgate@${VERSION}, which knows schema ${SCHEMA_VERSION}. Install skillgate@${program} or newer`;
  return createError("STORE_NEWER", values, { place: location });
}

function unreleasedStore(location: string, version: number): Error {
  const values =
    `${location} has schema ${version}, written before the first release; this is skillgate@${VERSION}, which knows ` +
    `schema ${SCHEMA_VERSION}. Move it to another place, and a new store is created`;
  return createError("STORE_UNAVAILABLE", values, { place: location });
}

/** Returns the statements that create a table and its indexes. */
function getStatements({ name, key, columns, indexes = [] }: Table<AnyRow>, kind: StoreEngine["kind"]): string[] {
  const table = toSqlName(name);
  const types = kind === "postgres" ? POSTGRES_TYPES : SQLITE_TYPES;
  const definitions = Object.entries(columns).map(([column, { kind }]) => `${toSqlName(column)} ${types[kind]}`);
  return [
    `CREATE TABLE ${table} (${definitions.join(", ")}, PRIMARY KEY (${key.map(toSqlName).join(", ")}))`,
    ...indexes.map((list) => {
      const indexed = list.map(toSqlName);
      return `CREATE INDEX ${[table, ...indexed].join("_")} ON ${table} (${indexed.join(", ")})`;
    }),
  ];
}

const SQLITE_TYPES: Readonly<Record<ColumnKind, string>> = { text: "TEXT", integer: "INTEGER", json: "TEXT" };

/** The collation sorts texts by their bytes, as SQLite does. */
const POSTGRES_TYPES: Readonly<Record<ColumnKind, string>> = {
  text: 'TEXT COLLATE "C"',
  integer: "BIGINT",
  json: "TEXT",
};
