import type { Queries, Sql } from "./postgres-driver.ts";
import { isLost } from "./postgres-errors.ts";

/** A transaction, as far as this module knows it. */
interface TransactionWork<Result> {
  readonly work: (queries: Queries) => Promise<Result>;
  /** Returns true if what an earlier attempt has added is stored. */
  readonly isStored: (queries: Queries) => Promise<boolean>;
}

/**
 * Returns a transaction that holds locks and can be repeated after its connection was lost: if the lost attempt was committed,
 * the work is not done again.
 */
export function createTransaction<Result>(
  sql: Sql,
  locks: readonly string[],
  { work, isStored }: TransactionWork<Result>,
): () => Promise<Result> {
  let earlier: { readonly value: Result } | undefined;
  return () =>
    begin(sql, async (queries) => {
      // Waits for an attempt that the server is still committing. In one order, so that no two wait for each other.
      for (const lock of locks.toSorted())
        await queries.unsafe("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [lock], { prepare: true });
      if (earlier !== undefined && (await isStored(queries))) return earlier.value;
      const value = await work(queries);
      earlier = { value };
      return value;
    });
}

/**
 * Runs a transaction. After its connection is lost, the driver would send statements of `work`, the rollback and the commit on
 * a closed connection, or on the next one. So `work` sends none from then on, and the driver sees no end of it.
 */
export async function begin<Result>(sql: Sql, work: (queries: Queries) => Promise<Result>): Promise<Result> {
  const connection = { isLost: false };
  const began = sql.begin(async (inside) => {
    try {
      const value = await work(guardQueries(inside, connection));
      // In an object, because the driver takes a list as queries to wait for.
      if (!connection.isLost) return { value };
    } catch (error) {
      if (!connection.isLost && !isLost(error)) throw error;
    }
    return new Promise<never>(() => {});
  });
  try {
    return (await began).value;
  } catch (error) {
    connection.isLost = true;
    throw error;
  }
}

function guardQueries(queries: Queries, connection: { readonly isLost: boolean }): Queries {
  return {
    async unsafe(...query) {
      if (!connection.isLost) return queries.unsafe(...query);
      throw Object.assign(new Error("The connection of the transaction was lost"), { code: "CONNECTION_CLOSED" });
    },
  };
}
