import { chmod, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { sentence, SkillgateError } from "../../errors.ts";
import { createQueue } from "../queue.ts";
import { clearMark, hasDamageMark, markDamaged, moveAside } from "./damaged-file.ts";
import { createSqlRows, type SqlResult, type SqlRow, type SqlStatement, toSqlName } from "./sql.ts";
import { isBusy, isDamaged, toStoreError } from "./sqlite-errors.ts";
import type { SqliteConnection, SqliteProgram, SqliteStatement } from "./sqlite-program.ts";
import type { SchemaRows, SqlEngine } from "./schema.ts";
import { guardRows, type RowOperation } from "./table.ts";
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
/** Limit on the values that one statement adds: rows in one statement take half the time of rows in one each. */
const MAX_PARAMETERS = 256;

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
async function whenFree<Result>(work: () => Result | Promise<Result>, lockMs: number): Promise<Result> {
  const until = performance.now() + lockMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await work();
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
  const run = createRunner(connection);
  const rows: SchemaRows = {
    ...createSqlRows(async (statement) => run(statement), MAX_PARAMETERS),
    execute: async (statement) => void connection.exec(statement),
    hasTable: async (name) => run({ ...HAS_TABLE, parameters: [toSqlName(name)] }).rows.length > 0,
  };
  const queued = createQueue();

  /** Runs one operation when no transaction is open. */
  const alone: RowOperation = (work) =>
    queued(async () => {
      try {
        return await work();
      } catch (error) {
        if (isDamaged(error)) await markDamaged(file);
        throw toStoreError(error, file);
      }
    });
  const read: RowOperation = (work) => alone(() => whenFree(work, lockMs));
  const write: RowOperation = (work) =>
    alone(async () => {
      // Not prepared: libsql does not reset a prepared statement that failed because another connection writes.
      await whenFree(() => connection.exec("BEGIN IMMEDIATE"), lockMs);
      try {
        const result = await work();
        connection.exec("COMMIT");
        return result;
      } catch (error) {
        rollBack(connection);
        throw error;
      }
    });

  const watchers = watchDatabaseFile(file, () => run(DATA_VERSION).rows[0]?.["data_version"]);
  return {
    ...guardRows(rows, read, write),
    kind: "sqlite",
    place: file,
    execute: (statement) => write(() => rows.execute(statement)),
    hasTable: (name) => read(() => rows.hasTable(name)),
    transaction: (_lock, work) => write(() => work(rows)),
    watch: (listener) => watchers.watch(listener),
    announce: async () => watchers.announce(),
    size: async () => ({ bytes: await sizeOnDisk(file), program: program.name }),
    async vacuum() {
      await read(async () => connection.exec("VACUUM"));
      await read(async () => connection.exec("PRAGMA wal_checkpoint(TRUNCATE)"));
    },
    close: () =>
      queued(async () => {
        watchers.close();
        closeConnection(connection);
      }),
  };
}

const DATA_VERSION: SqlStatement = { text: "PRAGMA data_version", parameters: [], returnsRows: true };
const HAS_TABLE = { text: "SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?", returnsRows: true };

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

/** Prepares each text once. */
function createRunner(connection: SqliteConnection): (statement: SqlStatement) => SqlResult {
  const prepared = new Map<string, SqliteStatement>();
  const prepare = (text: string): SqliteStatement => {
    const cached = prepared.get(text);
    if (cached !== undefined) return cached;
    if (prepared.size >= MAX_STATEMENTS) prepared.clear();
    const statement = connection.prepare(text);
    prepared.set(text, statement);
    return statement;
  };
  return ({ text, parameters, returnsRows = false }) => {
    const statement = prepare(text);
    if (returnsRows) return { count: 0, rows: statement.all(...parameters) as readonly SqlRow[] };
    return { count: Number(statement.run(...parameters).changes), rows: [] };
  };
}

async function sizeOnDisk(file: string): Promise<number> {
  const sizes = await Promise.all(
    [file, `${file}-wal`].map(async (each) => (await stat(each).catch(() => undefined))?.size ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
