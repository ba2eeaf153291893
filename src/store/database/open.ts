import { join } from "node:path";

import { formatInstall } from "../../shared/package/optional-package.ts";
import { createMemoryEngine } from "./memory.ts";
import { createTables, type SqlEngine } from "./schema.ts";
import type { StoreEngine } from "./table.ts";

/** The name of the file in the folder of a store. */
export const STORE_FILE = "skillgate.db";

/** The place of a store: the URL of a Postgres database, else a folder; without both, the store is in memory. */
export interface StoreLocation {
  /** Holds the file of SQLite, and the key that signs the audit log. */
  readonly folder?: string;
  readonly url?: string;
}

export interface EngineOptions {
  /** Milliseconds that an operation waits for other processes. */
  readonly lockMs: number;
  /** Receives a sentence about a store that cannot be used as it is. */
  readonly warn: (text: string) => void;
  /** With false, a damaged file is not moved aside, and opening it fails. */
  readonly repairs?: boolean;
  /** Receives a failure that no operation reports. */
  readonly onFailure?: (error: unknown) => void;
}

/** Opens the database and brings its tables up to date. Imports a database driver only here. */
export async function openEngine({ folder, url }: StoreLocation, options: EngineOptions): Promise<StoreEngine> {
  if (url !== undefined) {
    const { openPostgres } = await import("./postgres.ts");
    return createPostgresTables(await openPostgres(url, options.lockMs));
  }
  if (folder === undefined) return createMemoryEngine();
  const { findSqlite } = await import("./sqlite-program.ts");
  const program = findSqlite();
  const file = join(folder, STORE_FILE);
  if (program === undefined) {
    options.warn(describeMissingSqlite(file));
    return createMemoryEngine();
  }
  const { openSqlite } = await import("./sqlite.ts");
  return openSqlite(file, program, options);
}

/** Returns why a store can only be in memory; `undefined` if it can be kept. */
export async function whyNotKept({ folder, url }: StoreLocation): Promise<string | undefined> {
  if (folder === undefined || url !== undefined) return undefined;
  const { findSqlite } = await import("./sqlite-program.ts");
  return findSqlite() === undefined ? describeMissingSqlite(join(folder, STORE_FILE)) : undefined;
}

function describeMissingSqlite(file: string): string {
  return (
    `Cannot keep the store in ${file}: Node ${process.versions.node} has no SQLite, and the package libsql is not ` +
    `installed. The store is in memory and ends with this process. Use Node 22.13 or newer, or run: ${formatInstall("libsql")}`
  );
}

async function createPostgresTables(engine: SqlEngine): Promise<SqlEngine> {
  try {
    await createTables(engine);
    return engine;
  } catch (error) {
    await engine.close();
    throw error;
  }
}
