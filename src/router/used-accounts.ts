import type { Account, FindAccount } from "../model/account.ts";
import type { Caller } from "../model/caller.ts";
import type { Method } from "../model/catalog.ts";
import { createError, type SkillgateError } from "../errors.ts";

/** A connection that a call uses: of its caller, or of everyone. */
export interface UsedAccount {
  readonly account: Account;
  readonly id: string;
  /** `github (ada)` */
  readonly title: string;
}

/** Returns the connections of a caller that requests of a method are made with. Throws if one is missing. */
export function findUsedAccounts(method: Method, caller: Caller, find: FindAccount): readonly UsedAccount[] {
  return (method.definition.accounts ?? []).map((name) => {
    const account = find(name);
    if (account === undefined) throw createUnknownError(method, name);
    return { account, id: account.getId(caller), title: account.getTitle(caller) };
  });
}

function createUnknownError(method: Method, name: string): SkillgateError {
  const says = `${method.path} uses the account ${name}, which the settings do not have; the owner writes it: accounts: { ${name}: … }`;
  return createError("ACCOUNT_MISSING", says, {
    skill: method.skill,
    method: method.name,
  });
}

/** Returns the digest key of a call: what its results and approvals depend on beside its arguments. */
export function createRequestKey(
  ofSkill: string | undefined,
  accounts: readonly Pick<UsedAccount, "id">[],
): string | undefined {
  return accounts.length === 0 ? ofSkill : JSON.stringify([ofSkill ?? null, ...accounts.map(({ id }) => id)]);
}
