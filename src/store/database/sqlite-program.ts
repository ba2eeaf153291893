import { createPackageRequire } from "../../../sandbox/package-files.ts";

/** The part of `node:sqlite` and of `libsql` that the store uses; both block until a statement has run. */
export interface SqliteConnection {
  exec(text: string): unknown;
  prepare(text: string): SqliteStatement;
  close(): unknown;
}

export interface SqliteStatement {
  run(...parameters: readonly (string | number | null)[]): { readonly changes: number | bigint };
  get(): unknown;
  all(...parameters: readonly (string | number | null)[]): readonly unknown[];
}

/** A SQLite that this Node can use. */
export interface SqliteProgram {
  readonly name: string;
  connect(file: string): SqliteConnection;
}

/** Returns the SQLite of Node, from Node 22.13 on, else that of the optional package `libsql`; `undefined` without both. */
export function findSqlite(): SqliteProgram | undefined {
  return getNodeSqlite() ?? loadLibsql();
}

type Constructor = new (file: string) => SqliteConnection;

function getNodeSqlite(): SqliteProgram | undefined {
  const emitWarning = process.emitWarning.bind(process);
  // Node warns that the module is experimental, on stderr of every command.
  process.emitWarning = () => {};
  try {
    const loaded = process.getBuiltinModule("node:sqlite") as { readonly DatabaseSync: Constructor } | undefined;
    if (loaded === undefined) return undefined;
    const { DatabaseSync } = loaded;
    return { name: `node:sqlite of Node ${process.versions.node}`, connect: (file) => new DatabaseSync(file) };
  } finally {
    process.emitWarning = emitWarning;
  }
}

function loadLibsql(): SqliteProgram | undefined {
  try {
    const Database = createPackageRequire()("libsql") as Constructor;
    return { name: "libsql", connect: (file) => new Database(file) };
  } catch {
    // The package is optional: it is absent, or has no build for this machine.
    return undefined;
  }
}
