import type { CredentialPlace, FindAccount } from "../../model/account.ts";
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

/** Says which accounts of a source the settings do not have. */
export function findAccountProblems(
  { accounts }: Pick<SourceConfig, "accounts">,
  find: FindAccount,
): readonly string[] {
  const unknown = new Set(accounts.map(([, name]) => name).filter((name) => find(name) === undefined));
  return [...unknown].map(
    (name) => `account names ${JSON.stringify(name)}, which the settings do not have: accounts: { ${name}: … }`,
  );
}
