import { createRequire } from "node:module";

import { getMessage, sentence, SkillgateError } from "../../errors.ts";
import type { SchemaRows, SqlEngine } from "./schema.ts";
import {
  countText,
  deleteStatement,
  fromSqlRow,
  insertText,
  putText,
  selectStatement,
  type SqlRow,
  type SqlValue,
  type SqlStatement,
  toSqlName,
  toSqlValues,
  totalStatement,
  updateStatement,
} from "./sql.ts";
import { createWatchers } from "./watch.ts";

const MAX_CONNECTIONS = 4;
const CONNECT_SECONDS = 10;
/** Limit of the protocol on the parameters of one statement. */
const MAX_PARAMETERS = 60_000;
const CHANNEL = "skillgate";
const DEFAULT_SCHEMA = "skillgate";

/** The part of the package `postgres` that is used. */
interface Sql extends Queries {
  <Row = SqlRow>(text: TemplateStringsArray, ...values: readonly unknown[]): Promise<readonly Row[]>;
  /** Quotes a name. */
  (name: string): unknown;
  begin<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  listen(channel: string, listener: () => void): Promise<unknown>;
  notify(channel: string, payload: string): Promise<unknown>;
  end(options: { readonly timeout: number }): Promise<void>;
}

interface Queries {
  unsafe(
    text: string,
    parameters?: readonly SqlValue[],
    options?: { readonly prepare: boolean },
  ): Promise<readonly SqlRow[] & { readonly count: number }>;
}

/**
 * Connects to a database of Postgres. The tables are in the schema that `?search_path=` of the URL names, else in
 * `skillgate`, which is created.
 */
export async function openPostgres(url: string, lockMs: number): Promise<SqlEngine> {
  if (!URL.canParse(url)) throw invalidUrl(url);
  const location = hidePassword(url);
  const sql = await connect(url, lockMs, location);
  const attempt = <Result>(work: () => PromiseLike<Result>): Promise<Result> =>
    Promise.resolve(work()).catch((error: unknown) => {
      throw toStoreError(error, location, lockMs);
    });
  const watchers = createWatchers();
  let listening: Promise<unknown> | undefined;
  const rows = createRows(sql, (list) => sql.begin(list));

  return {
    kind: "postgres",
    place: location,
    insert: (table, list) => attempt(() => rows.insert(table, list)),
    put: (table, row) => attempt(() => rows.put(table, row)),
    count: (table, row, counter) => attempt(() => rows.count(table, row, counter)),
    select: (table, where, how) => attempt(() => rows.select(table, where, how)),
    total: (table, where) => attempt(() => rows.total(table, where)),
    update: (table, where, changes) => attempt(() => rows.update(table, where, changes)),
    delete: (table, where) => attempt(() => rows.delete(table, where)),
    execute: (text) => attempt(() => rows.execute(text)),
    hasTable: (name) => attempt(() => rows.hasTable(name)),
    transaction: (lock, work) =>
      attempt(async () => {
        const { value } = await sql.begin(async (inside) => {
          await inside`SELECT pg_advisory_xact_lock(hashtextextended(${`${CHANNEL} ${lock}`}, 0))`;
          // In an object, because the driver takes a list as queries to wait for.
          return { value: await work(createRows(inside, (each) => each(inside))) };
        });
        return value;
      }),
    watch(listener) {
      // A store that cannot be reached is reported by the operations, and the subscription is renewed by the driver.
      listening ??= sql.listen(CHANNEL, () => watchers.announce()).catch(() => (listening = undefined));
      return watchers.watch(listener);
    },
    announce: () => attempt(async () => void (await sql.notify(CHANNEL, ""))),
    size: () => attempt(() => readSize(sql)),
    vacuum: () => attempt(() => vacuum(sql)),
    close: () => sql.end({ timeout: CONNECT_SECONDS }),
  };
}

/** Reads 64-bit integers as numbers: the store has no number beyond 2^53. The numbers are object ids of `pg_type`. */
const BIGINT = { to: 20, from: [20], parse: Number, serialize: String };

async function connect(url: string, lockMs: number, location: string): Promise<Sql> {
  try {
    const postgres = createRequire(import.meta.url)("postgres") as (url: string, options: object) => Sql;
    const schema = new URL(url).searchParams.get("search_path") ?? DEFAULT_SCHEMA;
    const sql = postgres(url, {
      max: MAX_CONNECTIONS,
      connect_timeout: CONNECT_SECONDS,
      onnotice: () => {},
      connection: { application_name: "skillgate", search_path: schema, lock_timeout: lockMs },
      types: { bigint: BIGINT },
    });
    try {
      const [found] = await sql`SELECT 1 FROM pg_namespace WHERE nspname = ${schema}`;
      if (found === undefined) await createSchema(sql, schema);
    } catch (error) {
      await sql.end({ timeout: 0 });
      throw error;
    }
    return sql;
  } catch (error) {
    throw toStoreError(error, location, lockMs);
  }
}

/** Creates the schema under a lock: with `IF NOT EXISTS` alone, one of two processes that create it at once fails. */
async function createSchema(sql: Sql, schema: string): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(hashtext('skillgate schema'))`;
    await transaction`CREATE SCHEMA IF NOT EXISTS ${transaction(schema)}`;
  });
}

function createRows(
  queries: Queries,
  inTransaction: (work: (queries: Queries) => Promise<void>) => Promise<unknown>,
): SchemaRows {
  const run = async (
    { text, parameters }: SqlStatement,
    using = queries,
  ): Promise<{ rows: readonly SqlRow[]; count: number }> => {
    const rows = await using.unsafe(numberParameters(text), parameters, { prepare: true });
    return { rows, count: rows.count };
  };
  return {
    async insert(table, list) {
      const size = Math.floor(MAX_PARAMETERS / Object.keys(table.columns).length);
      const parts = Array.from({ length: Math.ceil(list.length / size) }, (_, n) =>
        list.slice(n * size, (n + 1) * size),
      );
      const insertAll = async (using: Queries): Promise<void> => {
        for (const part of parts) {
          const parameters = part.flatMap((row) => toSqlValues(table, row));
          await run({ text: insertText(table, part.length), parameters }, using);
        }
      };
      await (parts.length > 1 ? inTransaction(insertAll) : insertAll(queries));
    },
    async put(table, row) {
      await run({ text: putText(table), parameters: toSqlValues(table, row) });
    },
    async count(table, row, counter) {
      const { rows } = await run({ text: countText(table, counter), parameters: toSqlValues(table, row) });
      return Number(rows[0]?.[toSqlName(counter)]);
    },
    select: async (table, where, how) =>
      (await run(selectStatement(table, where, how))).rows.map((row) => fromSqlRow(table, row)),
    total: async (table, where) => Number((await run(totalStatement(table, where))).rows[0]?.["total"]),
    update: async (table, where, changes) => (await run(updateStatement(table, where, changes))).count,
    delete: async (table, where) => (await run(deleteStatement(table, where))).count,
    async execute(text) {
      await queries.unsafe(text);
    },
    async hasTable(name) {
      const text = "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = ?";
      return (await run({ text, parameters: [toSqlName(name)] })).rows.length > 0;
    },
  };
}

/** Writes `$1`, `$2` … for each `?`; no statement has a `?` inside of a text. */
function numberParameters(text: string): string {
  let count = 0;
  return text.replaceAll("?", () => `$${++count}`);
}

async function readSize(sql: Sql): Promise<{ bytes: number; program: string }> {
  const [row] = await sql<{ bytes: number; program: string }>`
    SELECT coalesce(sum(pg_total_relation_size(quote_ident(schemaname) || '.' || quote_ident(tablename))), 0)::bigint AS bytes,
      current_setting('server_version') AS program
    FROM pg_tables WHERE schemaname = current_schema()`;
  return { bytes: row?.bytes ?? 0, program: `PostgreSQL ${row?.program}` };
}

async function vacuum(sql: Sql): Promise<void> {
  const tables = await sql<{ tablename: string }>`SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`;
  for (const { tablename } of tables) await sql`VACUUM ${sql(tablename)}`;
}

/** Codes of Postgres: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const CODES: Readonly<Record<string, "STORE_FULL" | "STORE_READ_ONLY" | "STORE_CONFLICT" | "STORE_DAMAGED">> = {
  "53100": "STORE_FULL",
  "25006": "STORE_READ_ONLY",
  "42501": "STORE_READ_ONLY",
  "23505": "STORE_CONFLICT",
  XX001: "STORE_DAMAGED",
  XX002: "STORE_DAMAGED",
};

const LOCK_NOT_AVAILABLE = "55P03";

/** Converts an error of the driver; an error of the work in a transaction stays as it is. */
function toStoreError(error: unknown, location: string, lockMs: number): unknown {
  if (error instanceof SkillgateError || !(error instanceof Error) || !("code" in error)) return error;
  if (error.code === LOCK_NOT_AVAILABLE) {
    const values = `another process has been writing to it for ${lockMs} ms`;
    return new SkillgateError(
      "LOCK_TIMEOUT",
      sentence("LOCK_TIMEOUT", values),
      { timeoutMs: lockMs },
      { cause: error },
    );
  }
  const code = CODES[String(error.code)] ?? "STORE_UNAVAILABLE";
  return new SkillgateError(code, sentence(code, `${location}: ${getMessage(error)}`), {}, { cause: error });
}

/** Quotes only the variables, as the URL may hold a password. */
function invalidUrl(url: string): SkillgateError {
  const variables = url.match(/\$\{[^}]*\}/g) ?? [];
  const hint = variables.length === 0 ? "write it as postgres://user@host/name" : `set ${variables.join(" and ")}`;
  return new SkillgateError("STORE_UNAVAILABLE", sentence("STORE_UNAVAILABLE", `store.url is not a URL: ${hint}`));
}

function hidePassword(url: string): string {
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === "" ? "" : `${username}@`}${host}${pathname}`;
}
