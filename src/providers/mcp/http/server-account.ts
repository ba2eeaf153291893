import { createError } from "../../../errors.ts";
import type { Account, FindAccount } from "../../../model/account.ts";
import type { Caller } from "../../../model/caller.ts";
import type { RequestValues } from "../../../model/requests/request-values.ts";
import type { RequestContext } from "../../../model/skill.ts";
import { createCredentialMask, listCredentialTexts } from "../../../shared/http/add-credential.ts";
import { findEncryptionFlaw } from "../../../shared/http/find-encryption-flaw.ts";
import { openRequestAccount, type RequestAccount } from "../../../shared/http/request-account.ts";
import { KnownSecrets } from "../../../shared/secrets.ts";
import { getAccountName, type ServerConfig } from "../server-config.ts";
import { fillInRequest, type RequestConfig } from "../connections/request-config.ts";

/** The account of one connection to a server. */
export interface ConnectionAccount {
  /** Reads the account for a request. Rejects if the caller has another connection of it by now. */
  readonly open: () => Promise<RequestAccount>;
  /** Calls back once when the connection of the account ends. Returns a function that removes the listener. */
  readonly onEnd: (listener: () => void) => () => void;
  /** All credentials that were sent. */
  readonly secrets: KnownSecrets;
}

/** The configuration of a server for the request of one caller, with its account. */
export interface CallerConfig extends RequestConfig {
  readonly account?: ConnectionAccount;
}

/**
 * Returns the configuration of a server for the request of one caller; `undefined` for a server that is the same for all callers.
 * Rejects with `SESSION_VALUE_MISSING`, `SESSION_VALUE_INVALID`, and as `Account.open` does.
 */
export async function openForCaller(
  config: ServerConfig,
  context: RequestContext,
  find: FindAccount,
): Promise<CallerConfig | undefined> {
  const filled = fillInRequest(config, context.requestValues);
  const account = findServerAccount(config, find);
  if (account === undefined) return filled;
  const opened = await openRequestAccount(account, context);
  const common = filled ?? { config, values: [], headerSecrets: new KnownSecrets() };
  return {
    ...common,
    key: JSON.stringify([filled?.key ?? null, opened.id]),
    account: createConnectionAccount(config, { context, opened, find }),
  };
}

/** True if a caller has all that the configuration of a server takes from callers, as far as this process knows. */
export function mayOpenForCaller(
  config: ServerConfig,
  { caller, requestValues }: Pick<RequestContext, "caller" | "requestValues">,
  find: FindAccount,
): boolean {
  try {
    fillInRequest(config, requestValues);
    findServerAccount(config, find)?.getId(caller);
    return true;
  } catch {
    return false; // a call says what is missing
  }
}

/** Returns a key of what results of a server depend on: the values of a request, and the account of a caller if one is given. */
export function createCallerKey(
  config: ServerConfig,
  values: RequestValues | undefined,
  { caller, find }: { readonly caller: Caller | undefined; readonly find: FindAccount },
): string | undefined {
  const key = fillInRequest(config, values)?.key;
  const id = caller && findServerAccount(config, find)?.getId(caller);
  return id === undefined ? key : JSON.stringify([key ?? null, id]);
}

/** Says why the account of a server cannot be used by any caller; `undefined` if it can, and for a server without one. */
export function findAccountFlaw(config: ServerConfig, find: FindAccount): string | undefined {
  const name = getAccountName(config);
  if (name === undefined) return undefined;
  const account = find(name);
  if (account === undefined)
    return `account names ${JSON.stringify(name)}, which the settings do not have: accounts: { ${name}: … }`;
  if (!account.places.some((location) => location.in === "body"))
    return config.transport === "stdio" ? undefined : findEncryptionFlaw(new URL(config.url), account);
  return `account names ${JSON.stringify(name)}, whose credential is a field of the body; a server gets it in a header, the query or a cookie`;
}

/** Returns the account of a server. Throws `ACCOUNT_MISSING` for a name that the settings do not have. */
function findServerAccount(config: ServerConfig, find: FindAccount): Account | undefined {
  const name = getAccountName(config);
  if (name === undefined) return undefined;
  const flaw = findAccountFlaw(config, find);
  const account = find(name);
  if (flaw === undefined && account !== undefined) return account;
  throw createError("ACCOUNT_MISSING", `"${config.name}": ${flaw ?? name}`);
}

interface AccountUse {
  /** The caller with whose call the connection begins. */
  readonly context: Pick<RequestContext, "caller">;
  readonly opened: Pick<RequestAccount, "id" | "credential">;
  readonly find: FindAccount;
}

function createConnectionAccount(
  config: ServerConfig,
  { context, opened: first, find }: AccountUse,
): ConnectionAccount {
  const { caller } = context;
  const secrets = createCredentialMask(first.credential);
  return {
    secrets,
    onEnd: (listener) => findServerAccount(config, find)?.onEnd(first.id, listener) ?? ((): void => {}),
    async open() {
      const account = findServerAccount(config, find);
      const opened = account && (await openRequestAccount(account, { caller }));
      if (opened?.id !== first.id)
        throw createError("ACCOUNT_UNAVAILABLE", `the connection to "${config.name}" began with another account`);
      secrets.add(listCredentialTexts(opened.credential));
      return {
        ...opened,
        async renew(refusal) {
          const renewed = await opened.renew(refusal);
          if (renewed !== undefined) secrets.add(listCredentialTexts(renewed));
          return renewed;
        },
      };
    },
  };
}
