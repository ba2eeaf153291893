import { existsSync } from "node:fs";
import { chmod, copyFile, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

import { createError, getMessage, SkillgateError } from "../errors.ts";
import { formatInstall } from "../shared/package/optional-package.ts";
import { isAlive } from "../shared/files/lock.ts";
import { makeFolder } from "../shared/files/make-folder.ts";
import { replaceFile } from "../shared/files/replace-file.ts";
import { HEAD_FILE } from "./audit/audit-keys.ts";
import { PUBLIC_FILE } from "./audit/signer.ts";
import { markDamaged, renameIfThere } from "./database/damaged-file.ts";
import { STORE_FILE } from "./database/open.ts";
import { copyTables, createTables, type SqlEngine, TABLES } from "./database/schema.ts";
import type { SqlStatement } from "./database/sql.ts";
import { connect } from "./database/sqlite-connect.ts";
import { isDamaged, isFull, toStoreError } from "./database/sqlite-errors.ts";
import { openFile } from "./database/sqlite-file.ts";
import { findSqlite, type SqliteConnection, type SqliteProgram } from "./database/sqlite-program.ts";

/** Files beside the database that a restore needs: the keys and the newest head of the audit log, and what skills keep. */
const isKept = (name: string): boolean => AUDIT_FILES.has(name) || name.endsWith(".jsonl");

const AUDIT_FILES: ReadonlySet<string> = new Set(["audit-key.pem", PUBLIC_FILE, HEAD_FILE]);

/** The table of a backup that holds these files. A store has no table of this name. */
const TABLE = "backup_files";

const LOCK_MS = 10_000;

export interface StoreBackup {
  readonly bytes: number;
  /** Names of the files beside the database. */
  readonly files: readonly string[];
}

/**
 * Writes a whole copy of the store in `folder` to a new file that only its owner can read, while others use the store. It is
 * the state of one moment. Throws `STORE_UNAVAILABLE` if there is no store, and an error of the file system if `out` exists or its
 * disk is full.
 */
export async function backUpStore(folder: string, out: string): Promise<StoreBackup> {
  const program = requireSqlite();
  const file = join(folder, STORE_FILE);
  if ((await stat(file).catch(() => undefined)) === undefined)
    throw unavailable(`there is no store in ${folder}, so there is nothing to back up`);
  await createPrivate(out);
  try {
    // Before the copy: a head that is signed meanwhile may be beyond it.
    const head = await readFile(join(folder, HEAD_FILE), "utf8").catch(() => undefined);
    const { connection } = await connect(file, program, { lockMs: LOCK_MS, warn: () => {}, repairs: false });
    await use(connection, () => copyTo(connection, out));
    const others = (await readdir(folder)).filter((name) => isKept(name) && name !== HEAD_FILE);
    const names = head === undefined ? others : [...others, HEAD_FILE];
    const contents = await Promise.all(
      names.map(async (name) => (name === HEAD_FILE ? head : readFile(join(folder, name), "utf8"))),
    );
    await use(program.connect(out), (copy) => {
      copy.exec(`CREATE TABLE ${TABLE} (name TEXT PRIMARY KEY, content TEXT)`);
      const insert = copy.prepare(`INSERT INTO ${TABLE} VALUES (?, ?)`);
      for (const [at, name] of names.entries()) insert.run(name, contents[at] ?? "");
    });
    return { bytes: (await stat(out)).size, files: names };
  } catch (error) {
    await rm(out, { force: true });
    if (isFull(error)) throw Object.assign(new Error(`no space left for ${out}`, { cause: error }), { code: "ENOSPC" });
    throw error instanceof SkillgateError ? error : unavailable(`cannot copy ${file}: ${getMessage(error)}`, error);
  }
}

export interface RestoredStore extends StoreBackup {
  /** Where the store that was there before is now; `undefined` if there was none. */
  readonly before: string | undefined;
}

/**
 * Replaces what is in the store in `folder` by a backup, which is checked first, in one transaction: its file stays, so that servers
 * that have it open go on with the backup. The store is copied before, and the other files are renamed. Throws
 * `STORE_UNAVAILABLE` for a file that is not a whole backup, and `STORE_NEWER` for one of a newer version; then the store is as it
 * was.
 */
export async function restoreStore(folder: string, backup: string): Promise<RestoredStore> {
  const program = requireSqlite();
  await makeFolder(folder, 0o700);
  const draft = await createDraft(folder, backup);
  try {
    const files = await takeFiles(draft, backup, program).catch((error: unknown) => {
      const says = `${backup} is not a whole backup: ${getMessage(error)}. Name a file of: store backup`;
      throw toBackupError(error, folder, says);
    });
    const parts = { folder, file: join(folder, STORE_FILE), draft: join(draft, STORE_FILE), files, program };
    const before = await replaceContent(parts).catch(async (error: unknown) => {
      if (!isDamaged(error)) throw toStoreError(error, parts.file);
      // Opening it again finds the damage, and moves the file aside.
      await markDamaged(parts.file);
      return replaceContent(parts);
    });
    return { bytes: (await stat(parts.file)).size, files: files.map(({ name }) => name), before };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

interface Restoration {
  readonly folder: string;
  readonly file: string;
  /** The database of the backup. */
  readonly draft: string;
  readonly files: readonly KeptFile[];
  readonly program: SqliteProgram;
}

/** Returns where the store that was there before is now; `undefined` if there was none. */
async function replaceContent({ folder, file, draft, files, program }: Restoration): Promise<string | undefined> {
  const suffix = `.before-restore-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  let damaged: string | undefined;
  const store = await openFile(file, program, { lockMs: LOCK_MS, warn: (_text, aside) => (damaged = aside) });
  const exchanged = createExchange(folder, files, suffix);
  try {
    await store.rows.execute(`ATTACH ${quote(draft)} AS draft`);
    return await store.transact(async (rows) => {
      const names = store.run(TABLE_NAMES).rows.map(({ name }) => String(name));
      // While the transaction keeps others from writing.
      if (names.length > 0) {
        await createPrivate(file + suffix);
        await use(program.connect(file), (copied) => copyTo(copied, file + suffix));
      }
      for (const name of names) await rows.execute(`DROP TABLE "${name.replaceAll('"', '""')}"`);
      await copyTables(rows, "draft");
      await rows.execute(`PRAGMA user_version = ${store.countRestores() + 1}`);
      await exchanged.exchange();
      return names.length > 0 ? file + suffix : damaged;
    });
  } catch (error) {
    await exchanged.takeBack();
    await rm(file + suffix, { force: true });
    throw error;
  } finally {
    store.close();
  }
}

/** The files beside the database, of which those of a backup take the places. */
interface ExchangedFiles {
  /** Keeps copies of the files that are there, and puts those of the backup in their places: a file is there at any moment. */
  exchange(): Promise<void>;
  /** Restores the files that were there, also after an exchange that has failed. */
  takeBack(): Promise<void>;
}

function createExchange(folder: string, files: readonly KeptFile[], suffix: string): ExchangedFiles {
  const [newFiles, oldFiles]: [string[], string[]] = [[], []];
  return {
    async exchange() {
      for (const { name, content } of files) {
        const file = join(folder, name);
        const isThere = existsSync(file);
        if (isThere) {
          await copyFile(file, file + suffix);
          oldFiles.push(file);
        }
        await replaceFile(file, content);
        if (!isThere) newFiles.push(file);
      }
      const head = join(folder, HEAD_FILE);
      if (!files.some(({ name }) => name === HEAD_FILE) && (await renameIfThere(head, head + suffix)))
        oldFiles.push(head);
    },
    async takeBack() {
      for (const file of newFiles) await rm(file, { force: true });
      for (const file of oldFiles) await rename(file + suffix, file);
    },
  };
}

const TABLE_NAMES: SqlStatement = {
  text: String.raw`SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`,
  parameters: [],
  returnsRows: true,
};

/** Writes a whole copy of a database to an empty file. */
function copyTo(connection: SqliteConnection, out: string): void {
  connection.exec(`PRAGMA busy_timeout = ${LOCK_MS}`);
  connection.exec(`VACUUM INTO ${quote(out)}`);
}

/** Creates a file that only its owner can read. */
async function createPrivate(file: string): Promise<void> {
  await (await open(file, "wx", 0o600)).close();
}

/** Returns a text of SQL. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Copies the backup into a folder of its own beside the store, so that it can be renamed into its place. */
async function createDraft(folder: string, backup: string): Promise<string> {
  await removeLeftDrafts(folder);
  const draft = join(folder, `${DRAFT}${process.pid}`);
  await makeFolder(draft, 0o700);
  const file = join(draft, STORE_FILE);
  try {
    await copyFile(backup, file);
    await chmod(file, 0o600); // a copy has the mode of the backup, which may forbid to write it
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw toBackupError(error, folder, `cannot read the backup ${backup}: ${getMessage(error)}`);
  }
  return draft;
}

/** The disk of the store may be full, whatever the backup is like. */
function toBackupError(error: unknown, folder: string, says: string): unknown {
  const storeError = toStoreError(error, join(folder, STORE_FILE));
  const isKnown =
    error instanceof SkillgateError || (storeError instanceof SkillgateError && storeError.code === "STORE_FULL");
  return isKnown ? storeError : unavailable(says, error);
}

const DRAFT = ".restore-";

/** Removes the copies of backups that processes left which were killed while they restored. */
async function removeLeftDrafts(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []); // it does not exist yet
  for (const name of names)
    if (name.startsWith(DRAFT) && !isAlive(Number(name.slice(DRAFT.length))))
      await rm(join(folder, name), { recursive: true, force: true });
}

interface KeptFile {
  readonly name: string;
  readonly content: string;
}

/** Checks the copy of a backup, takes the files out of it, and creates the tables that an older version does not have. */
async function takeFiles(draft: string, backup: string, program: SqliteProgram): Promise<readonly KeptFile[]> {
  const file = join(draft, STORE_FILE);
  const files = await use(program.connect(file), (copy) => {
    const [found] = copy.prepare("PRAGMA integrity_check(1)").all() as readonly object[];
    if (Object.values(found ?? {})[0] !== "ok") throw new Error(String(Object.values(found ?? {})[0]));
    const rows = copy.prepare(`SELECT name, content FROM ${TABLE}`).all() as readonly KeptFile[];
    copy.exec(`DROP TABLE ${TABLE}`);
    return rows.map(({ name, content }) => ({ name, content })).filter(({ name }) => isPlainName(name));
  });
  const store = await openFile(file, program, { lockMs: LOCK_MS, warn: () => {}, repairs: false });
  try {
    const transaction: SqlEngine["transaction"] = (_locks, work) => store.transact(work);
    await createTables({ ...store.rows, kind: "sqlite", place: backup, transaction });
    for (const table of TABLES) await store.rows.select(table, {}, { limit: 0 });
  } finally {
    store.close();
  }
  return files;
}

/** A backup is only a file: the names in it may say anything. */
function isPlainName(name: unknown): boolean {
  return typeof name === "string" && isKept(name) && !/[/\\]/.test(name);
}

async function use<Result>(
  connection: SqliteConnection,
  work: (connection: SqliteConnection) => Result,
): Promise<Result> {
  try {
    return work(connection);
  } finally {
    connection.close();
  }
}

function requireSqlite(): SqliteProgram {
  const program = findSqlite();
  if (program !== undefined) return program;
  throw unavailable(
    `Node ${process.versions.node} has no SQLite. Use Node 22.13 or newer, or run: ${formatInstall("libsql")}`,
  );
}

function unavailable(values: string, cause?: unknown): SkillgateError {
  return createError("STORE_UNAVAILABLE", values, {}, { cause });
}
