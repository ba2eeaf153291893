import { sentence, SkillgateError } from "../../../errors.ts";
import type { UsableAccounts } from "../../../model/account.ts";
import type { Caller } from "../../../model/caller.ts";
import type { Catalog } from "../../../model/catalog.ts";
import type { UsedAccount } from "../../../router/index.ts";

/** The ids of the connections of a run, by the names of their accounts. */
export type AccountIds = Readonly<Record<string, string>>;

/** The connections that the calls of a run use. A run uses no other connection than that with which it began. */
export class RunAccounts {
  readonly #ids: Map<string, string>;
  readonly #end: (why: string) => void;
  readonly #followed = new Set<string>();
  readonly #stops: (() => void)[] = [];
  /** Those that the record of the run does not have. */
  #unrecorded: Record<string, string> = {};

  /** `end` ends the run. */
  constructor(ids: AccountIds, end: (why: string) => void) {
    this.#ids = new Map(Object.entries(ids));
    this.#end = end;
  }

  /** Takes the connections of a call. Ends the run, and throws, if it has used another one of the same account. */
  readonly use = (accounts: readonly UsedAccount[]): void => {
    for (const used of accounts) {
      const { name } = used.account;
      const before = this.#ids.get(name);
      if (before !== undefined && before !== used.id) throw this.#refuse(used);
      if (before === undefined) this.#unrecorded[name] = used.id;
      this.#ids.set(name, used.id);
      this.#follow(used);
    }
  };

  /** Returns the connections that were used since the last call and that the record of the run does not have. */
  takeUnrecorded(): AccountIds | undefined {
    const ids = this.#unrecorded;
    this.#unrecorded = {};
    return Object.keys(ids).length === 0 ? undefined : ids;
  }

  close(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  #follow({ account, id, title }: UsedAccount): void {
    if (this.#followed.has(id)) return;
    this.#followed.add(id);
    this.#stops.push(account.onEnd(id, (end) => this.#end(`the account ${title} ${end}`)));
  }

  #refuse({ title, account }: UsedAccount): SkillgateError {
    const why = describeOther(account.name, title);
    this.#end(why);
    return new SkillgateError("ACCOUNT_UNAVAILABLE", sentence("ACCOUNT_UNAVAILABLE", why));
  }
}

function describeOther(name: string, title: string): string {
  return `the run began with another connection of the account ${name} than ${title}`;
}

/** Returns the connections that methods would use now, by the names of their accounts; none for an account that is not connected. */
export function listAccountIds(
  paths: readonly string[],
  { caller, catalog }: { readonly caller: Caller; readonly catalog: Pick<Catalog, "method"> },
  { find }: Pick<UsableAccounts, "find">,
): AccountIds {
  const names = new Set(paths.flatMap((path) => catalog.method(path)?.definition.accounts ?? []));
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const id = findConnection(name, caller, find)?.id;
      return id === undefined ? [] : [[name, id]];
    }),
  );
}

/**
 * Says why a run must not be continued with the connections that its caller has now: one that it began with was revoked or replaced.
 * `undefined` if it may.
 */
export async function whyOtherAccounts(
  recorded: AccountIds,
  caller: Caller,
  accounts: UsableAccounts,
): Promise<string | undefined> {
  const entries = Object.entries(recorded);
  if (entries.length === 0) return undefined;
  await accounts.refresh();
  for (const [name, id] of entries) {
    const now = findConnection(name, caller, accounts.find);
    if (now === undefined) return `the account ${name} with which it began was revoked`;
    if (now.id !== undefined && now.id !== id) return describeOther(name, now.title);
  }
  return undefined;
}

/** The connection of a caller; without an id if it has one that the service does not accept any more. */
function findConnection(
  name: string,
  caller: Caller,
  find: UsableAccounts["find"],
): { readonly id: string | undefined; readonly title: string } | undefined {
  const account = find(name);
  try {
    return account && { id: account.getId(caller), title: account.getTitle(caller) };
  } catch (error) {
    const isMissing = error instanceof SkillgateError && error.code === "ACCOUNT_MISSING";
    return isMissing ? undefined : { id: undefined, title: name };
  }
}
