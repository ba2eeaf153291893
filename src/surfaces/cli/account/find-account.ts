import { toRecord } from "../../../model/json.ts";
import type { AccountForm } from "../../../runtime/api/view.ts";
import { listSettingProblems } from "../source/find-source.ts";
import type { CliSession } from "../session.ts";
import { UsageError } from "../usage-error.ts";

export interface CallerFlag {
  readonly caller?: string;
}

/** The section as it is written, with accounts that have mistakes. */
export async function readAccountSection(session: CliSession): Promise<Readonly<Record<string, unknown>>> {
  return toRecord((await session.openRuntime()).sections["accounts"]);
}

/** Returns what must be entered for an account. Throws a `UsageError` with the reason for one that cannot be used. */
export async function requireAccount(session: CliSession, name: string): Promise<AccountForm> {
  const runtime = await session.openRuntime();
  const names = [
    ...new Set((await runtime.accounts.list()).flatMap((each) => (each.type === null ? [] : [each.name]))),
  ];
  if (names.includes(name)) return runtime.accounts.describe(name);
  const written = Object.keys(await readAccountSection(session));
  const [problem = runtime.heldProblem] = written.includes(name) ? listSettingProblems(runtime, "accounts", name) : [];
  const existing = written.length === 0 ? "it has none" : `it has ${written.join(", ")}`;
  throw new UsageError(problem?.error ?? `There is no account ${name} in settings.yaml; ${existing}`);
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
