import { createSqlRows, type SqlResult, type SqlRow, type SqlRows, type SqlStatement, toSqlName } from "./sql.ts";
import { connect, type SqliteOptions } from "./sqlite-connect.ts";
import { isBusy, whenFree } from "./sqlite-errors.ts";
import type { SqliteConnection, SqliteProgram, SqliteStatement } from "./sqlite-program.ts";
import type { SchemaRows } from "./schema.ts";

/** An open file of SQLite. Its rows do not wait for each other: one transaction at a time may use them. */
export interface SqliteFile {
  readonly rows: SchemaRows & SqlRows;
  readonly run: (statement: SqlStatement) => SqlResult;
  /**
   * False after the file or its log of writes was deleted or replaced: then no other process sees what is written. Looks at most
   * every `LOOK_EVERY_MS`.
   */
  isCurrent(): boolean;
  /** Counts the backups that were restored into the file, in a field of its header that SQLite leaves to its users. */
  countRestores(): number;
  /** True once a transaction could not be begun or committed: then the state of the connection is not known. */
  isBroken(): boolean;
  /** Runs `work` in a transaction, and rolls it back if it throws. */
  transact<Result>(work: (rows: SchemaRows) => Promise<Result>): Promise<Result>;
  close(): void;
}

const MAX_STATEMENTS = 200;
/** Limit on the values that one statement adds: rows in one statement take half the time of rows in one each. */
const MAX_PARAMETERS = 256;

/** Opens a file. Moves a damaged file aside and creates a new one. */
export async function openFile(file: string, program: SqliteProgram, options: SqliteOptions): Promise<SqliteFile> {
  const { connection, isCurrent } = await connect(file, program, options);
  const { lockMs } = options;
  const run = createRunner(connection);
  const userVersion = connection.prepare("PRAGMA user_version");
  const rows: SchemaRows & SqlRows = {
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
    isCurrent,
    countRestores: () => (userVersion.get() as { readonly user_version: number }).user_version,
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
