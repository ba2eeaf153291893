import { chmod, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { sentence, SkillgateError } from "../../errors.ts";
import { createQueue } from "../queue.ts";
import { clearMark, hasDamageMark, markDamaged, moveAside } from "./damaged-file.ts";
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
import { isBusy, isDamaged, toStoreError } from "./sqlite-errors.ts";
import type { SqliteConnection, SqliteProgram, SqliteStatement } from "./sqlite-program.ts";
import type { SchemaRows, SqlEngine } from "./schema.ts";
import type { SelectOptions, Table, Where } from "./table.ts";
import { watchDatabaseFile } from "./watch.ts";
import { makeFolder } from "../../shared/files/make-folder.ts";

export interface SqliteOptions {
  /** Milliseconds that an operation waits for other processes. */
  readonly lockMs: number;
  /** Receives a sentence about a damaged file that was moved aside. */
  readonly warn: (text: string) => void;
}

/** SQLite itself waits this long, which blocks the event loop; beyond that, the wait is a timer. */
const BLOCKING_WAIT_MS = 5;
const MAX_PAUSE_MS = 20;
const MAX_STATEMENTS = 200;
/** Limit on the rows that one statement adds: a row in such a statement takes half the time of a row in one of its own. */
const MAX_TOGETHER = 64;

/**
 * Commits survive the end of this process at any point. After a power failure the newest commits may be missing, but the
 * file is intact.
 */
const PRAGMAS = [
  `PRAGMA busy_timeout = ${BLOCKING_WAIT_MS}`,
  "PRAGMA journal_mode = WAL",
  "PRAGMA synchronous = NORMAL",
  // The log of writes is moved into the file after this many pages of 4 KB, which takes some milliseconds.
  "PRAGMA wal_autocheckpoint = 4000",
  `PRAGMA journal_size_limit = ${16 << 20}`,
];

/** Opens a file of SQLite, which several processes can use at once. Moves a damaged file aside and creates a new one. */
export async function openSqlite(file: string, program: SqliteProgram, options: SqliteOptions): Promise<SqlEngine> {
  try {
    await createPrivateFile(file);
    const connection = await connect(file, program, options);
    return createEngine(connection, file, program, options);
  } catch (error) {
    throw toStoreError(error, file);
  }
}

/** Creates the file before SQLite does, which would let others read it. */
async function createPrivateFile(file: string): Promise<void> {
  await makeFolder(dirname(file), 0o700);
  const handle = await open(file, "a", 0o600);
  const { mode } = await handle.stat();
  await handle.close();
  if ((mode & 0o077) !== 0) await chmod(file, 0o600);
}

async function connect(file: string, program: SqliteProgram, options: SqliteOptions): Promise<SqliteConnection> {
  const isMarked = await hasDamageMark(file);
  try {
    const connection = await tryConnect(file, program, options, isMarked);
    if (isMarked) await clearMark(file);
    return connection;
  } catch (error) {
    if (!isDamaged(error)) throw error;
    await moveAside(file, options, async () => {
      const connection = await tryConnect(file, program, options, isMarked).catch((again: unknown) => {
        if (isDamaged(again)) return undefined;
        throw again;
      });
      connection?.close();
      return connection === undefined;
    });
    await createPrivateFile(file);
    return tryConnect(file, program, options, false);
  }
}

async function tryConnect(
  file: string,
  program: SqliteProgram,
  { lockMs }: SqliteOptions,
  isChecked: boolean,
): Promise<SqliteConnection> {
  const connection = program.connect(file);
  try {
    for (const text of PRAGMAS) await whenFree(() => connection.exec(text), lockMs);
    await whenFree(() => connection.prepare("SELECT count(*) FROM sqlite_master").all(), lockMs);
    if (isChecked) requireIntact(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function requireIntact(connection: SqliteConnection): void {
  const [row] = connection.prepare("PRAGMA quick_check(1)").all() as readonly SqlRow[];
  const found = Object.values(row ?? {})[0];
  if (found !== "ok") throw Object.assign(new Error(String(found)), { rawCode: 11 });
}

/** Repeats `work` while another connection writes. */
async function whenFree<Result>(work: () => Result, lockMs: number): Promise<Result> {
  const until = performance.now() + lockMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() > until) throw lockTimeout(lockMs, error);
    }
    await wait(pauseMs * (0.5 + Math.random()));
  }
}

function lockTimeout(lockMs: number, cause: unknown): SkillgateError {
  const values = `another process has been writing to it for ${lockMs} ms`;
  return new SkillgateError("LOCK_TIMEOUT", sentence("LOCK_TIMEOUT", values), { timeoutMs: lockMs }, { cause });
}

function createEngine(
  connection: SqliteConnection,
  file: string,
  program: SqliteProgram,
  { lockMs }: SqliteOptions,
): SqlEngine {
  const statements = createStatements(connection);
  const rows = createRows(connection, statements);
  const inTransaction = toPromises(rows);
  const queued = createQueue();

  async function attempt<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (isDamaged(error)) await markDamaged(file);
      throw toStoreError(error, file);
    }
  }
  /** Runs one operation when no transaction is open. */
  const alone = <Result>(work: () => Result): Promise<Result> => queued(() => attempt(() => whenFree(work, lockMs)));

  const transaction = <Result>(work: (rows: SchemaRows) => Promise<Result>): Promise<Result> =>
    queued(() =>
      attempt(async () => {
        await whenFree(() => statements.run(BEGIN), lockMs);
        try {
          const result = await work(inTransaction);
          statements.run(COMMIT);
          return result;
        } catch (error) {
          rollBack(connection);
          throw error;
        }
      }),
    );

  const watchers = watchDatabaseFile(file, () => statements.all(DATA_VERSION)[0]?.["data_version"]);
  return {
    kind: "sqlite",
    place: file,
    insert: (table, list) =>
      list.length <= MAX_TOGETHER
        ? alone(() => rows.insert(table, list))
        : transaction((inside) => inside.insert(table, list)),
    put: (table, row) => alone(() => rows.put(table, row)),
    count: (table, row, counter) => alone(() => rows.count(table, row, counter)),
    select: (table, where, how) => alone(() => rows.select(table, where, how)),
    total: (table, where) => alone(() => rows.total(table, where)),
    update: (table, where, changes) => alone(() => rows.update(table, where, changes)),
    delete: (table, where) => alone(() => rows.delete(table, where)),
    transaction: (_lock, work) => transaction(work),
    execute: (text) => alone(() => rows.execute(text)),
    hasTable: (name) => alone(() => rows.hasTable(name)),
    watch: (listener) => watchers.watch(listener),
    announce: async () => watchers.announce(),
    size: async () => ({ bytes: await sizeOnDisk(file), program: program.name }),
    async vacuum() {
      await alone(() => connection.exec("VACUUM"));
      await alone(() => connection.exec("PRAGMA wal_checkpoint(TRUNCATE)"));
    },
    close: () =>
      queued(async () => {
        watchers.close();
        closeConnection(connection);
      }),
  };
}

const NO_PARAMETERS: readonly SqlValue[] = [];
const BEGIN: SqlStatement = { text: "BEGIN IMMEDIATE", parameters: NO_PARAMETERS };
const COMMIT: SqlStatement = { text: "COMMIT", parameters: NO_PARAMETERS };
const DATA_VERSION: SqlStatement = { text: "PRAGMA data_version", parameters: NO_PARAMETERS };
const HAS_TABLE = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?";

/** SQLite may have ended the transaction itself, for instance on a full disk. */
function rollBack(connection: SqliteConnection): void {
  try {
    connection.exec("ROLLBACK");
  } catch {
    // No transaction is open.
  }
}

/** Moves the log of writes into the file first: libsql keeps both open until its statements are garbage. */
function closeConnection(connection: SqliteConnection): void {
  try {
    connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // The next process that opens the file reads the log of writes.
  }
  connection.close();
}

interface Statements {
  run(statement: SqlStatement): number;
  all(statement: SqlStatement): readonly SqlRow[];
}

/** Prepares each text once. */
function createStatements(connection: SqliteConnection): Statements {
  const prepared = new Map<string, SqliteStatement>();
  const prepare = (text: string): SqliteStatement => {
    const cached = prepared.get(text);
    if (cached !== undefined) return cached;
    if (prepared.size >= MAX_STATEMENTS) prepared.clear();
    const statement = connection.prepare(text);
    prepared.set(text, statement);
    return statement;
  };
  return {
    run: ({ text, parameters }) => Number(prepare(text).run(...parameters).changes),
    all: ({ text, parameters }) => prepare(text).all(...parameters) as readonly SqlRow[],
  };
}

function createRows(connection: SqliteConnection, statements: Statements): SyncRows {
  return {
    insert(table, list) {
      for (let at = 0; at < list.length; at += MAX_TOGETHER) {
        const part = list.slice(at, at + MAX_TOGETHER);
        const parameters = part.flatMap((row) => toSqlValues(table, row));
        statements.run({ text: insertText(table, part.length), parameters });
      }
    },
    put: (table, row) => void statements.run({ text: putText(table), parameters: toSqlValues(table, row) }),
    count(table, row, counter) {
      const found = statements.all({ text: countText(table, counter), parameters: toSqlValues(table, row) });
      return Number(found[0]?.[toSqlName(counter)]);
    },
    select: (table, where, how) =>
      statements.all(selectStatement(table, where, how)).map((row) => fromSqlRow(table, row)),
    total: (table, where) => Number(statements.all(totalStatement(table, where))[0]?.["total"]),
    update: (table, where, changes) => statements.run(updateStatement(table, where, changes)),
    delete: (table, where) => statements.run(deleteStatement(table, where)),
    execute: (text) => void connection.exec(text),
    hasTable: (name) => statements.all({ text: HAS_TABLE, parameters: [toSqlName(name)] }).length > 0,
  };
}

function toPromises(rows: SyncRows): SchemaRows {
  return {
    insert: async (table, list) => rows.insert(table, list),
    put: async (table, row) => rows.put(table, row),
    count: async (table, row, counter) => rows.count(table, row, counter),
    select: async (table, where, how) => rows.select(table, where, how),
    total: async (table, where) => rows.total(table, where),
    update: async (table, where, changes) => rows.update(table, where, changes),
    delete: async (table, where) => rows.delete(table, where),
    execute: async (text) => rows.execute(text),
    hasTable: async (name) => rows.hasTable(name),
  };
}

/** `SchemaRows`, each operation blocking. */
interface SyncRows {
  insert<Row extends object>(table: Table<Row>, rows: readonly Row[]): void;
  put<Row extends object>(table: Table<Row>, row: Row): void;
  count<Row extends object>(table: Table<Row>, row: Row, counter: keyof Row & string): number;
  select<Row extends object>(table: Table<Row>, where: Where<Row>, options?: SelectOptions<Row>): Row[];
  total<Row extends object>(table: Table<Row>, where?: Where<Row>): number;
  update<Row extends object>(table: Table<Row>, where: Where<Row>, changes: Partial<Row>): number;
  delete<Row extends object>(table: Table<Row>, where: Where<Row>): number;
  execute(text: string): void;
  hasTable(name: string): boolean;
}

async function sizeOnDisk(file: string): Promise<number> {
  const sizes = await Promise.all(
    [file, `${file}-wal`].map(async (each) => (await stat(each).catch(() => undefined))?.size ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
