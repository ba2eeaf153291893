import { statSync } from "node:fs";
import { chmod, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { sentence, SkillgateError } from "../../errors.ts";
import { makeFolder } from "../../shared/files/make-folder.ts";
import { clearMark, hasDamageMark, moveAside } from "./damaged-file.ts";
import { createSqlRows, type SqlResult, type SqlRow, type SqlStatement, toSqlName } from "./sql.ts";
import { isBusy, isDamaged } from "./sqlite-errors.ts";
import type { SqliteConnection, SqliteProgram, SqliteStatement } from "./sqlite-program.ts";
import type { SchemaRows } from "./schema.ts";

export interface SqliteOptions {
  /** Milliseconds that an operation waits for other processes. */
  readonly lockMs: number;
  /** Receives a sentence about a damaged file that was moved aside. */
  readonly warn: (text: string) => void;
  /** With false, a damaged file stays where it is, and opening it fails. */
  readonly repairs?: boolean;
}

/** An open file of SQLite. Its rows do not wait for each other: one transaction at a time may use them. */
export interface SqliteFile {
  readonly rows: SchemaRows;
  readonly run: (statement: SqlStatement) => SqlResult;
  /**
   * False after the file or its log of writes was deleted or replaced: then no other process sees what is written. Looks at most
   * every `LOOK_EVERY_MS`.
   */
  isCurrent(): boolean;
  /** True once a transaction could not be begun or committed: then the state of the connection is not known. */
  isBroken(): boolean;
  /** Runs `work` in a transaction, and rolls it back if it throws. */
  transact<Result>(work: (rows: SchemaRows) => Promise<Result>): Promise<Result>;
  close(): void;
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

/** Opens a file. Moves a damaged file aside and creates a new one. */
export async function openFile(file: string, program: SqliteProgram, options: SqliteOptions): Promise<SqliteFile> {
  await createPrivateFile(file);
  const connection = await connect(file, program, options);
  const { lockMs } = options;
  const run = createRunner(connection);
  const rows: SchemaRows = {
    ...createSqlRows(async (statement) => run(statement), MAX_PARAMETERS),
    execute: async (statement) => void connection.exec(statement),
    hasTable: async (name) => run({ ...HAS_TABLE, parameters: [toSqlName(name)] }).rows.length > 0,
  };
  let isBroken = false;
  const control = (text: string): void => {
    try {
      // Not prepared: libsql does not reset a prepared statement that failed because another connection writes.
      connection.exec(text);
    } catch (error) {
      isBroken = text === "COMMIT" || !isBusy(error);
      throw error;
    }
  };
  return {
    rows,
    run,
    isCurrent: identifyFiles(file),
    isBroken: () => isBroken,
    async transact(work) {
      await whenFree(() => control("BEGIN IMMEDIATE"), lockMs);
      try {
        const result = await work(rows);
        control("COMMIT");
        return result;
      } catch (error) {
        rollBack(connection);
        throw error;
      }
    },
    close: () => closeConnection(connection),
  };
}

/** Creates the file before SQLite does, which would let others read it. */
async function createPrivateFile(file: string): Promise<void> {
  await makeFolder(dirname(file), 0o700);
  try {
    await (await open(file, "ax", 0o600)).close();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    // Not opened: closing it would give up the locks that this process holds on it through SQLite.
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) await chmod(file, 0o600);
  }
}

async function connect(file: string, program: SqliteProgram, options: SqliteOptions): Promise<SqliteConnection> {
  const isMarked = await hasDamageMark(file);
  try {
    const connection = await tryConnect(file, program, options, isMarked);
    if (isMarked) await clearMark(file);
    return connection;
  } catch (error) {
    if (!isDamaged(error) || options.repairs === false) throw error;
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
  { lockMs, repairs = true }: SqliteOptions,
  isChecked: boolean,
): Promise<SqliteConnection> {
  const connection = program.connect(file);
  try {
    for (const text of PRAGMAS) await whenFree(() => connection.exec(text), lockMs);
    await whenFree(() => connection.prepare("SELECT count(*) FROM sqlite_master").all(), lockMs);
    if (isChecked || !repairs) requireIntact(connection);
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
export async function whenFree<Result>(work: () => Result | Promise<Result>, lockMs: number): Promise<Result> {
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

/** Milliseconds between two looks at the inodes, which take a fifth of the time of a commit. */
const LOOK_EVERY_MS = 10;

/** Returns the function that says whether the file and its log of writes are still the present ones. */
function identifyFiles(file: string): () => boolean {
  const names = [file, `${file}-wal`];
  let inodes = names.map(getInode);
  let isSame = true;
  let lookedAt = -Infinity;
  return () => {
    if (!isSame || performance.now() - lookedAt < LOOK_EVERY_MS) return isSame;
    lookedAt = performance.now();
    const current = names.map(getInode);
    // The log of writes may be created after the file was opened.
    isSame = inodes.every((inode, at) => inode === undefined || inode === current[at]);
    inodes = current;
    return isSame;
  };
}

function getInode(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}

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
