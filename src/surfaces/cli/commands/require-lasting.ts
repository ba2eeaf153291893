import { createError } from "../../../errors.ts";
import { formatInstall } from "../../../shared/package/optional-package.ts";
import type { Database } from "../../../store/index.ts";

/** Throws `STORE_UNAVAILABLE` for a store in memory: it ends with its process, and has no rows of other ones. */
export function requireLasting({ kind }: Pick<Database, "kind">, what: string): void {
  if (kind !== "memory") return;
  const values = `${what} need a database; use Node 22.13 or newer, or run: ${formatInstall("libsql")}`;
  throw createError("STORE_UNAVAILABLE", values);
}
