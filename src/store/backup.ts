import { copyFile, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { getMessage, sentence, SkillgateError } from "../errors.ts";
import { formatInstall } from "../shared/package/optional-package.ts";
import { makeFolder } from "../shared/files/make-folder.ts";
import { HEAD_FILE } from "./audit/audit-keys.ts";
import { PUBLIC_FILE } from "./audit/signer.ts";
import { moveFilesAside } from "./database/damaged-file.ts";
import { STORE_FILE, openEngine } from "./database/open.ts";
import { findSqlite, type SqliteConnection, type SqliteProgram } from "./database/sqlite-program.ts";
import { withLock } from "./lock.ts";

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
 * the state of one moment. Throws `STORE_UNAVAILABLE` if there is no store, and an error of the file system if `out` exists.
 */
export async function backUpStore(folder: string, out: string): Promise<StoreBackup> {
  const program = requireSqlite();
  const file = join(folder, STORE_FILE);
  if ((await stat(file).catch(() => undefined)) === undefined)
    throw unavailable(`there is no store in ${folder}, so there is nothing to back up`);
  await (await open(out, "wx", 0o600)).close();
  try {
    // Before the copy: a head that is signed meanwhile may be beyond it.
    const head = await readFile(join(folder, HEAD_FILE), "utf8").catch(() => undefined);
    await use(program.connect(file), (store) => {
      store.exec(`PRAGMA busy_timeout = ${LOCK_MS}`);
      store.exec(`VACUUM INTO '${out.replaceAll("'", "''")}'`);
    });
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
    throw error instanceof SkillgateError ? error : unavailable(`cannot copy ${file}: ${getMessage(error)}`, error);
  }
}

export interface RestoredStore extends StoreBackup {
  /** Where the store that was there before is now; `undefined` if there was none. */
  readonly before: string | undefined;
}

/**
 * Replaces the store in `folder` by a backup, which is checked first. The files that were there are renamed, not deleted.
 * Servers that have the old store open notice it and open the new one. Throws `STORE_UNAVAILABLE` for a file that is not a
 * whole backup, and `STORE_NEWER` for one of a newer version; then the store is as it was.
 */
export async function restoreStore(folder: string, backup: string): Promise<RestoredStore> {
  const program = requireSqlite();
  await makeFolder(folder, 0o700);
  const draft = await createDraft(folder, backup);
  try {
    const files = await takeFiles(draft, backup, program);
    await checkSchema(draft);
    const file = join(folder, STORE_FILE);
    return await withLock(`${file}.lock`, LOCK_MS, async () => {
      const suffix = `.before-restore-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
      const names = new Set([...files.map(({ name }) => name), HEAD_FILE]);
      for (const name of names) await moveFilesAside(join(folder, name), suffix, [""]);
      const isMoved = await moveFilesAside(file, suffix);
      for (const { name, content } of files) await writeFile(join(folder, name), content, { mode: 0o600 });
      await rename(join(draft, STORE_FILE), file);
      const before = isMoved ? file + suffix : undefined;
      return { bytes: (await stat(file)).size, files: files.map(({ name }) => name), before };
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Copies the backup into a folder of its own beside the store, so that it can be renamed into its place. */
async function createDraft(folder: string, backup: string): Promise<string> {
  const draft = join(folder, `.restore-${process.pid}`);
  await makeFolder(draft, 0o700);
  try {
    await copyFile(backup, join(draft, STORE_FILE));
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw unavailable(`cannot read the backup ${backup}: ${getMessage(error)}`, error);
  }
  return draft;
}

interface KeptFile {
  readonly name: string;
  readonly content: string;
}

/** Checks the copy of a backup, and takes the files out of it. */
async function takeFiles(draft: string, backup: string, program: SqliteProgram): Promise<readonly KeptFile[]> {
  try {
    return await use(program.connect(join(draft, STORE_FILE)), (copy) => {
      const [found] = copy.prepare("PRAGMA integrity_check(1)").all() as readonly object[];
      if (Object.values(found ?? {})[0] !== "ok") throw new Error(String(Object.values(found ?? {})[0]));
      const rows = copy.prepare(`SELECT name, content FROM ${TABLE}`).all() as readonly KeptFile[];
      copy.exec(`DROP TABLE ${TABLE}`);
      return rows.map(({ name, content }) => ({ name, content })).filter(({ name }) => isPlainName(name));
    });
  } catch (error) {
    throw unavailable(`${backup} is not a whole backup: ${getMessage(error)}. Name a file of: store backup`, error);
  }
}

/** A backup is only a file: the names in it may say anything. */
function isPlainName(name: unknown): boolean {
  return typeof name === "string" && isKept(name) && !/[/\\]/.test(name);
}

/** Opens the copy as a store, which throws for another schema. */
async function checkSchema(draft: string): Promise<void> {
  const engine = await openEngine({ folder: draft }, { lockMs: LOCK_MS, warn: () => {} });
  await engine.close();
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
  return new SkillgateError("STORE_UNAVAILABLE", sentence("STORE_UNAVAILABLE", values), {}, { cause });
}
