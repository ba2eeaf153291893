import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

import { createError, type SkillgateError } from "../../errors.ts";
import {
  endDriver,
  openDriver,
  parseTarget,
  type PostgresTarget,
  type Queries,
  type Sql,
  subscribe,
} from "./postgres-driver.ts";
import { isConflict, isLost, isUnsent, toStoreError } from "./postgres-errors.ts";
import { begin, createTransaction } from "./postgres-transaction.ts";
import type { SchemaRows, SqlEngine } from "./schema.ts";
import { createSqlRows, getColumns, type SqlResult, type SqlStatement, toSqlName } from "./sql.ts";
import { guardRows, type Locks, type RowOperation, type Table, type Where } from "./table.ts";
import { createWatchers } from "./watch.ts";

/** Limit of the protocol on the parameters of one statement. */
const MAX_PARAMETERS = 60_000;
const CHANNEL = "skillgate";
/** Milliseconds that operations in progress may take when the store is closed. */
const MAX_CLOSE_MS = 10_000;

/**
 * Connects to a database of Postgres. The tables are in the schema that `?search_path=` of the URL names, else in
 * `skillgate`, which is created. While the server restarts, operations wait, and are repeated if that changes nothing.
 */
export async function openPostgres(url: string, lockMs: number): Promise<SqlEngine> {
  const target = parseTarget(url, lockMs);
  if (target === undefined) throw invalidUrl(url);
  const sql = await connect(target);
  const closing = new AbortController();
  const inProgress = new Set<Promise<unknown>>();
  const run = <Result>(
    work: () => PromiseLike<Result>,
    { canRepeat, isRead = false }: { readonly canRepeat: boolean; readonly isRead?: boolean },
  ): Promise<Result> => {
    const done = repeatWhileOffline(work, { canRepeat, signal: closing.signal })
      .catch((error: unknown) => {
        throw toStoreError(error, { ...target, isRead });
      })
      .finally(() => inProgress.delete(done));
    inProgress.add(done);
    return done;
  };
  const attempt: RowOperation = (work) => run(() => work(rows), { canRepeat: false });
  const repeat: RowOperation = (work) => run(() => work(rows), { canRepeat: true });
  const read: RowOperation = (work) => run(() => work(rows), { canRepeat: true, isRead: true });
  const watchers = createWatchers();
  let subscription: ReturnType<typeof subscribe> | undefined;
  const rows = createRows(sql);

  return {
    ...guardRows(read, attempt),
    kind: "postgres",
    place: target.location,
    getGeneration: () => 0,
    insert: (table, list) => repeat(createInsertion(sql, table, list)),
    execute: (text) => attempt(() => rows.execute(text)),
    hasTable: (name) => read(() => rows.hasTable(name)),
    transaction: (locks, work) => repeat(createRepeatableWork(sql, locks, work)),
    watch(listener) {
      subscription ??= subscribe(target, CHANNEL, () => watchers.announce());
      return watchers.watch(listener);
    },
    // The change itself is stored. A process that misses the notice reads it when it subscribes again.
    announce: () => repeat(() => sql.notify(CHANNEL, "")).then(ignore, ignore),
    now: () => read(() => readTime(sql)),
    size: () => read(() => readSize(sql)),
    vacuum: () => vacuum(target),
    async close() {
      closing.abort();
      await Promise.race([Promise.allSettled(inProgress), wait(MAX_CLOSE_MS, undefined, { ref: false })]);
      await Promise.all([subscription?.close(), endDriver(sql)]);
    },
  };
}

const ignore = (): void => {};

async function connect(target: PostgresTarget): Promise<Sql> {
  try {
    const sql = openDriver(target);
    try {
      const [found] = await sql<{ isUsable: boolean }>`
        SELECT has_schema_privilege(oid, 'USAGE') AS "isUsable" FROM pg_namespace WHERE nspname = ${target.schema}`;
      if (found === undefined) await createSchema(sql, target.schema);
      else if (!found.isUsable) throw lockedSchema(target);
    } catch (error) {
      await endDriver(sql);
      throw error;
    }
    return sql;
  } catch (error) {
    throw toStoreError(error, { ...target, isRead: true });
  }
}

/** Postgres itself leaves such a schema out of the search path, and says that none is selected. */
function lockedSchema({ location, schema }: PostgresTarget): SkillgateError {
  return createError("STORE_UNAVAILABLE", `${location}: its user has no right to use the schema "${schema}"`);
}

/** Creates the schema under a lock: with `IF NOT EXISTS` alone, one of two processes that create it at once fails. */
async function createSchema(sql: Sql, schema: string): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(hashtext('skillgate schema'))`;
    await transaction`CREATE SCHEMA IF NOT EXISTS ${transaction(schema)}`;
  });
}

/** Returns an insertion that can be repeated: rows that an earlier attempt has stored are not added again. */
function createInsertion<Row extends object>(sql: Sql, table: Table<Row>, list: readonly Row[]): () => Promise<void> {
  const rows = createRows(sql);
  const isOneStatement = list.length * getColumns(table).length <= MAX_PARAMETERS;
  let mayBeStored = false;
  return async () => {
    try {
      await (isOneStatement
        ? rows.insert(table, list)
        : begin(sql, (queries) => createRows(queries).insert(table, list)));
    } catch (error) {
      if (mayBeStored && isConflict(error) && (await isStored(rows, table, list))) return;
      mayBeStored ||= isLost(error);
      throw error;
    }
  };
}

/** Returns the transaction, which recognizes what an earlier attempt has stored by the rows that it has inserted. */
function createRepeatableWork<Result>(
  sql: Sql,
  locks: Locks,
  work: (rows: SchemaRows) => Promise<Result>,
): () => Promise<Result> {
  let isInserted = async (_rows: SchemaRows): Promise<boolean> => false;
  const toRows = (queries: Queries): SchemaRows => {
    const rows = createRows(queries);
    return {
      ...rows,
      async insert(table, list) {
        await rows.insert(table, list);
        isInserted = (later) => isStored(later, table, list);
      },
    };
  };
  const names = [locks].flat().map((lock) => `${CHANNEL} ${lock}`);
  return createTransaction(sql, names, {
    work: (queries) => work(toRows(queries)),
    isStored: (queries) => isInserted(toRows(queries)),
  });
}

/** Rows are stored together, so that the last one stands for all. */
async function isStored<Row extends object>(
  rows: SchemaRows,
  table: Table<Row>,
  list: readonly Row[],
): Promise<boolean> {
  const row = list.at(-1);
  if (row === undefined) return true;
  const where = Object.fromEntries(table.key.map((column) => [column, row[column]]));
  const [stored] = await rows.select(table, where as Where<Row>);
  return isDeepStrictEqual(stored, row);
}

function createRows(queries: Queries): SchemaRows {
  const run = async ({ text, parameters }: SqlStatement): Promise<SqlResult> => {
    const rows = await queries.unsafe(numberParameters(text), parameters, { prepare: true });
    return { rows, count: rows.count };
  };
  return {
    ...createSqlRows(run, MAX_PARAMETERS),
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

async function readTime(sql: Sql): Promise<number> {
  const [row] = await sql<{ now: number }>`SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`;
  return Number(row?.now);
}

async function readSize(sql: Sql): Promise<{ bytes: number; program: string }> {
  const [row] = await sql<{ bytes: number; program: string }>`
    SELECT coalesce(sum(pg_total_relation_size(quote_ident(schemaname) || '.' || quote_ident(tablename))), 0)::bigint AS bytes,
      current_setting('server_version') AS program
    FROM pg_tables WHERE schemaname = current_schema()`;
  return { bytes: row?.bytes ?? 0, program: `PostgreSQL ${row?.program}` };
}

/** Has connections of its own, whose statements may take any time. */
async function vacuum(target: PostgresTarget): Promise<void> {
  const url = new URL(target.url);
  url.searchParams.delete("statement_timeout");
  const sql = openDriver({ ...target, url: url.href }, { max: 1, connection: { statement_timeout: 0 } });
  try {
    const tables = await sql<{
      tablename: string;
    }>`SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`;
    for (const { tablename } of tables) await sql`VACUUM ${sql(tablename)}`;
  } catch (error) {
    throw toStoreError(error, { ...target, isRead: true });
  } finally {
    await endDriver(sql);
  }
}

const INVALID_URL =
  "write it as postgres://user:password@host/name, with %25 for % in a part of it, %2F for /, %23 for # and %3F for ?";

/** Quotes only the variables, as the URL may hold a password. */
function invalidUrl(url: string): SkillgateError {
  const variables = url.match(/\$\{[^}]*\}/g) ?? [];
  const hint = variables.length === 0 ? INVALID_URL : `set ${variables.join(" and ")}`;
  return createError("STORE_UNAVAILABLE", `store.url is not a URL: ${hint}`);
}

/** Milliseconds that an operation waits for a server that cannot be reached, as while it restarts. */
const MAX_OUTAGE_MS = 5_000;

const MIN_PAUSE_MS = 10;
const MAX_PAUSE_MS = 200;

/** How an operation is repeated. */
interface RepeatOptions {
  /** True if the operation has the same effect when it is carried out twice. */
  readonly canRepeat: boolean;
  /** Ends the attempts. */
  readonly signal: AbortSignal;
}

/**
 * Runs an operation again while the server cannot be reached: one that was not sent, and one that can be repeated. Rejects with
 * the last error after `MAX_OUTAGE_MS`.
 */
async function repeatWhileOffline<Result>(
  work: () => PromiseLike<Result>,
  { canRepeat, signal }: RepeatOptions,
): Promise<Result> {
  const until = performance.now() + MAX_OUTAGE_MS;
  for (let pauseMs = MIN_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      const isPassing = isUnsent(error) || (canRepeat && isLost(error));
      if (!isPassing || signal.aborted || performance.now() > until) throw error;
    }
    // The next attempt fails at once if the store was closed in the meantime.
    await wait(pauseMs, undefined, { signal }).catch(() => {});
  }
}
