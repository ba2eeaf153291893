import { stat } from "node:fs/promises";

import { createError, type SkillgateError } from "../../errors.ts";
import { createQueue } from "../../shared/threads/queue.ts";
import { markDamaged } from "./damaged-file.ts";
import { createTables, type SchemaRows, type SqlEngine } from "./schema.ts";
import { createSlicedReads } from "./sliced-reads.ts";
import type { SqlStatement } from "./sql.ts";
import { isDamaged, toStoreError, whenFree } from "./sqlite-errors.ts";
import type { SqliteOptions } from "./sqlite-connect.ts";
import { openFile, type SqliteFile } from "./sqlite-file.ts";
import type { SqliteProgram } from "./sqlite-program.ts";
import { guardRows } from "./table.ts";
import { watchDatabaseFile } from "./watch.ts";

interface SqliteEngineOptions extends SqliteOptions {
  /** Receives a failure that no operation of the store reports. */
  readonly onFailure?: (error: unknown) => void;
}

/**
 * Opens a file of SQLite, which several processes can use at once, and creates its tables. Opens it again after its connection
 * failed, and after the file was deleted or replaced.
 */
export async function openSqlite(
  file: string,
  program: SqliteProgram,
  options: SqliteEngineOptions,
): Promise<SqlEngine> {
  const open = async (): Promise<SqliteFile> => {
    const opened = await openFile(file, program, options);
    try {
      const transaction: SqlEngine["transaction"] = (_locks, work) => opened.transact(work);
      await createTables({ ...opened.rows, kind: "sqlite", place: file, transaction });
      return opened;
    } catch (error) {
      opened.close();
      throw error;
    }
  };
  try {
    const { onFailure = () => {} } = options;
    const reopened = createReopenedFile(file, await open(), open, onFailure);
    return createEngine({ reopened, file, programName: program.name }, options);
  } catch (error) {
    throw toStoreError(error, file);
  }
}

/** A file that is opened again when its connection has failed, and when another file has replaced it. */
interface ReopenedFile {
  /** Runs operations one after the other. */
  use<Result>(work: (file: SqliteFile) => Promise<Result>): Promise<Result>;
  /** Throws in a transaction if a backup was restored since the last one: the operation may depend on what was read before. */
  requireNotRestored(current: SqliteFile): void;
  /** Counts how often another file, or a backup, has replaced it. */
  getGeneration(): number;
  /** Returns a value that changes after a write of another process, and after the file was replaced. */
  readVersion(): string;
  close(): Promise<void>;
}

function createReopenedFile(
  file: string,
  first: SqliteFile,
  open: () => Promise<SqliteFile>,
  onFailure: (error: unknown) => void,
): ReopenedFile {
  let opened: SqliteFile | undefined = first;
  let restores = first.countRestores();
  let generation = 0;
  let isClosed = false;
  const queued = createQueue();

  /** Closes a file whose connection has failed, or that is not the one on the disk any more; the next operation opens it. */
  function leaveIfLost(): SkillgateError | undefined {
    if (opened === undefined) return undefined;
    const isCurrent = opened.isCurrent();
    if (isCurrent && !opened.isBroken()) return undefined;
    if (!isCurrent) generation++;
    try {
      opened.close();
    } catch {
      // A connection that has failed may not close either.
    }
    opened = undefined;
    return isCurrent ? undefined : replacedFile(file);
  }

  async function use<Result>(work: (file: SqliteFile) => Promise<Result>): Promise<Result> {
    const atRequest = generation;
    return queued(async () => {
      try {
        if (isClosed) throw unavailable(`${file}: it is closed`);
        if (opened === undefined) {
          opened = await open();
          restores = opened.countRestores();
        }
        // The operation may depend on what was read from the file that was replaced.
        if (atRequest !== generation) throw replacedFile(file);
        return await work(opened);
      } catch (error) {
        const lost = leaveIfLost();
        if (lost === undefined && isDamaged(error)) await markDamaged(file);
        throw lost ?? toStoreError(error, file);
      }
    });
  }

  function requireNotRestored(current: SqliteFile): void {
    const count = current.countRestores();
    if (count === restores) return;
    restores = count;
    generation++;
    throw unavailable(`${file}: a backup was restored while it was in use`);
  }

  return {
    use,
    requireNotRestored,
    getGeneration: () => generation,
    readVersion() {
      if (opened?.isCurrent() === false) {
        // An operation in progress ends first.
        void queued(async () => {
          const lost = leaveIfLost();
          if (lost !== undefined) onFailure(lost);
        });
      }
      // A connection counts the writes of others since it was opened.
      return `${generation} ${String(opened?.run(DATA_VERSION).rows[0]?.["data_version"])}`;
    },
    close: () =>
      queued(async () => {
        isClosed = true;
        opened?.close();
        opened = undefined;
      }),
  };
}

interface EngineParts {
  readonly reopened: ReopenedFile;
  readonly file: string;
  readonly programName: string;
}

function createEngine(
  { reopened, file, programName }: EngineParts,
  { lockMs, onFailure = () => {} }: SqliteEngineOptions,
): SqlEngine {
  const read = <Result>(work: (rows: SqliteFile["rows"]) => Promise<Result>): Promise<Result> =>
    reopened.use(({ rows }) => whenFree(() => work(rows), lockMs));
  const write = <Result>(work: (rows: SchemaRows) => Promise<Result>): Promise<Result> =>
    reopened.use(async (current) => {
      const result = await current.transact(async (rows) => {
        reopened.requireNotRestored(current);
        return work(rows);
      });
      // No other process sees what was committed to a file without a name.
      if (!current.isCurrent()) throw replacedFile(file);
      return result;
    });
  const watchers = watchDatabaseFile(file, () => reopened.readVersion(), onFailure);
  return {
    ...guardRows(read, write),
    ...createSlicedReads(read),
    kind: "sqlite",
    place: file,
    getGeneration: () => reopened.getGeneration(),
    execute: (statement) => write((rows) => rows.execute(statement)),
    hasTable: (name) => read((rows) => rows.hasTable(name)),
    transaction: (_locks, work) => write(work),
    watch: (listener) => watchers.watch(listener),
    announce: async () => watchers.announce(),
    now: async () => Date.now(),
    size: async () => ({ bytes: await sizeOnDisk(file), program: programName }),
    async vacuum() {
      await read((rows) => rows.execute("VACUUM"));
      await read((rows) => rows.execute("PRAGMA wal_checkpoint(TRUNCATE)"));
    },
    async close() {
      watchers.close();
      await reopened.close();
    },
  };
}

function replacedFile(file: string): SkillgateError {
  return unavailable(`${file}: the file, or its log ${file}-wal, was deleted or replaced while it was in use`);
}

function unavailable(values: string): SkillgateError {
  return createError("STORE_UNAVAILABLE", values);
}

const DATA_VERSION: SqlStatement = { text: "PRAGMA data_version", parameters: [], returnsRows: true };

async function sizeOnDisk(file: string): Promise<number> {
  const sizes = await Promise.all(
    [file, `${file}-wal`].map(async (each) => (await stat(each).catch(() => undefined))?.size ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
