import type { Account, CredentialPlace, FindAccount } from "../../model/account.ts";
import { findEncryptionFlaw } from "../../shared/http/find-encryption-flaw.ts";
import { matchesOperation, type OperationNames } from "./patterns.ts";
import type { SourceConfig } from "./source-config.ts";

/** Returns the name of the account of an operation: that of the last pattern of the settings that matches. */
export function findAccountName({ accounts }: Pick<SourceConfig, "accounts">, row: OperationNames): string | undefined {
  return accounts.findLast(([pattern]) => matchesOperation(pattern, row))?.[1];
}

/** Returns the places of requests of an operation that the owner fills in: those of its account, and the headers of the settings. */
export function listOwnPlaces(
  config: Pick<SourceConfig, "accounts" | "headers">,
  row: OperationNames,
  findAccount: FindAccount,
): readonly CredentialPlace[] {
  const name = findAccountName(config, row);
  const ofAccount = name === undefined ? [] : (findAccount(name)?.places ?? []);
  return [...ofAccount, ...Object.keys(config.headers).map((header) => ({ in: "header" as const, name: header }))];
}

/** Says which accounts of a source the settings do not have, and which get no credential to its server. */
export function findAccountProblems(
  config: Pick<SourceConfig, "accounts" | "isPrivate">,
  server: URL | undefined,
  find: FindAccount,
): readonly string[] {
  const names = new Set(config.accounts.map(([, name]) => name));
  return [...names].flatMap((name) => {
    const account = find(name);
    if (account === undefined)
      return `account names ${JSON.stringify(name)}, which the settings do not have: accounts: { ${name}: … }`;
    return (server && findServerFlaw(server, account, config)) ?? [];
  });
}

/** Says why a server gets no credential of an account. The server of a source in a private network is one of its accounts, too. */
export function findServerFlaw(
  server: URL,
  { name, isPrivate }: Pick<Account, "name" | "isPrivate">,
  config: Pick<SourceConfig, "isPrivate">,
): string | undefined {
  return findEncryptionFlaw(server, { name, isPrivate: isPrivate || config.isPrivate });
}
