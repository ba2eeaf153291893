import type { AccountForm } from "../../../runtime/api/view.ts";
import { createEntryError } from "../source/find-source.ts";
import type { CliSession } from "../session.ts";

export interface CallerFlag {
  readonly caller?: string;
}

/** Returns what must be entered for an account. Throws a `UsageError` with the reason for one that cannot be used. */
export async function requireAccount(session: CliSession, name: string): Promise<AccountForm> {
  const runtime = await session.openRuntime();
  const accounts = await runtime.accounts.list();
  if (accounts.some((each) => each.name === name && each.type !== null)) return runtime.accounts.describe(name);
  throw createEntryError(runtime, "accounts", name);
}

/** Finds the owner that a key names, by its name or id; none without the flag. Throws `KEY_UNKNOWN`. */
export async function findOwner(
  session: CliSession,
  { caller }: CallerFlag,
): Promise<{ readonly owner?: string | null }> {
  if (caller === undefined) return {};
  const [{ createKeys, toCaller }, database] = await Promise.all([
    import("../../../keys/index.ts"),
    session.database(),
  ]);
  const runtime = await session.openRuntime();
  // The key of a connection may be gone.
  const connection = (await runtime.accounts.list()).find(({ owner }) => owner === caller);
  return { owner: connection?.owner ?? toCaller(await createKeys(database).get(caller)).id };
}
