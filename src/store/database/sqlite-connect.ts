import { statSync } from "node:fs";
import { chmod, open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { makeFolder } from "../../shared/files/make-folder.ts";
import { withLock } from "../../shared/files/lock.ts";
import { clearMark, hasDamageMark, moveAside } from "./damaged-file.ts";
import type { SqlRow } from "./sql.ts";
import { isDamaged, whenFree } from "./sqlite-errors.ts";
import type { SqliteConnection, SqliteProgram } from "./sqlite-program.ts";

export interface SqliteOptions {
  /** Milliseconds that an operation waits for other processes. */
  readonly lockMs: number;
  /** Receives a sentence about a damaged file that was moved aside, and where it is. */
  readonly warn: (text: string, aside: string) => void;
  /** With false, a damaged file stays where it is, and opening it fails. */
  readonly repairs?: boolean;
}

/** SQLite itself waits this long, which blocks the event loop; beyond that, the wait is a timer. */
const BLOCKING_WAIT_MS = 5;

/** The shortest wait for processes that open the file, or move it. */
const MIN_LOCK_MS = 5_000;

/** The log of writes and its index, which SQLite finds by their names beside the file. */
const PARTS = ["-wal", "-shm"];

/** The size of a database without tables. */
const PAGE_BYTES = 4_096;

/** Milliseconds in which these are deleted after the file, by the command that deleted it. */
const MAX_DELETION_MS = 500;

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

/** Milliseconds between two looks at the inodes, which take a fifth of the time of a commit. */
const LOOK_EVERY_MS = 10;

export interface ConnectedFile {
  readonly connection: SqliteConnection;
  /** False after the file or its log of writes was deleted or replaced. */
  readonly isCurrent: () => boolean;
}

/**
 * Connects to a file, which is created if it is missing. Moves a damaged file aside and creates a new one.
 *
 * SQLite opens the file, its log of writes and the index of the log one after the other. If those of two files met, both would be
 * damaged: one process at a time opens, creates or moves them.
 */
export async function connect(file: string, program: SqliteProgram, options: SqliteOptions): Promise<ConnectedFile> {
  await makeFolder(dirname(file), 0o700);
  const { lockMs, repairs = true } = options;
  const connected = await withLock(`${file}.lock`, Math.max(lockMs, MIN_LOCK_MS), async () => {
    const connection = repairs ? await openRepaired(file, program, options) : await openFiles(file, program, lockMs);
    return { connection, isCurrent: identifyFiles(file) };
  });
  if (!repairs) await closeAfterError(connected.connection, () => requireIntact(connected.connection));
  return connected;
}

async function openRepaired(
  file: string,
  program: SqliteProgram,
  { lockMs, warn }: SqliteOptions,
): Promise<SqliteConnection> {
  try {
    const connection = await openFiles(file, program, lockMs);
    if (!(await hasDamageMark(file))) return connection;
    await closeAfterError(connection, () => requireIntact(connection));
    await clearMark(file);
    return connection;
  } catch (error) {
    if (!isDamaged(error)) throw error;
    await moveAside(file, warn);
    return openFiles(file, program, lockMs);
  }
}

async function openFiles(file: string, program: SqliteProgram, lockMs: number): Promise<SqliteConnection> {
  for (;;) {
    const inode = await provideFile(file);
    const isSame = (): boolean => getInode(file) === inode;
    const connection = program.connect(file);
    try {
      for (const text of PRAGMAS) await whenFree(() => connection.exec(text), lockMs);
      await whenFree(() => connection.prepare("SELECT count(*) FROM sqlite_master").all(), lockMs);
      if (isSame()) return connection;
    } catch (error) {
      if (isSame()) {
        connection.close();
        throw error;
      }
    }
    connection.close();
    await removeEmptyFile(file);
  }
}

/** Removes a file that SQLite created with the log of one that was deleted at that moment. */
async function removeEmptyFile(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined && found.size <= PAGE_BYTES) await rm(file, { force: true });
}

async function closeAfterError(connection: SqliteConnection, work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Creates a missing file before SQLite does, which would let others read it. Returns its inode. */
async function provideFile(file: string): Promise<number> {
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined) {
    // Not opened: closing it would give up the locks that this process holds on it through SQLite.
    if ((found.mode & 0o077) !== 0) await chmod(file, 0o600);
    return found.ino;
  }
  await removeLog(file);
  const created = await open(file, "ax", 0o600);
  const { ino } = await created.stat();
  await created.close();
  return ino;
}

/** Removes the log of a file that was deleted, whose pages SQLite would take for those of the new file. */
async function removeLog(file: string): Promise<void> {
  const parts = PARTS.map((part) => file + part);
  const until = performance.now() + MAX_DELETION_MS;
  // A command that deletes them by their names must not meet those of the new file.
  while (parts.some((part) => getInode(part) !== undefined) && performance.now() < until) await wait(5);
  for (const part of parts) await rm(part, { force: true });
}

function requireIntact(connection: SqliteConnection): void {
  const [row] = connection.prepare("PRAGMA quick_check(1)").all() as readonly SqlRow[];
  const found = Object.values(row ?? {})[0];
  if (found === "ok") return;
  // The first line names the database of the connection.
  const why = String(found).replace(/^\*\*\* .*\n/, "");
  throw Object.assign(new Error(why), { rawCode: 11 });
}

/** Returns the function that says whether the file and its log of writes are still the present ones. */
function identifyFiles(file: string): () => boolean {
  const names = [file, `${file}-wal`];
  let inodes = names.map(getInode);
  let isSame = inodes[0] !== undefined;
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

/** Returns `undefined` if there is no file of the name. */
function getInode(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}
