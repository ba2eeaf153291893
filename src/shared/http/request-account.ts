import { createError, type SkillgateError } from "../../errors.ts";
import type { Account, Credential, CredentialRefusal } from "../../model/account.ts";
import type { CallContext } from "../../model/skill.ts";
import { truncateText } from "../format-text.ts";
import { toVisibleLine } from "../visible-text.ts";

/** The account with whose credential a request is made. */
export interface RequestAccount {
  /** Identifies the connection. */
  readonly id: string;
  readonly account: Pick<Account, "name" | "isPrivate">;
  readonly credential: Credential;
  /** `github (ada)` */
  readonly title: string;
  /** Says what to do about an answer 401. */
  readonly advice: string;
  /** Returns the credential in place of one that was refused; `undefined` if it has no other. Rejects with an error that says what to do. */
  renew(refusal: CredentialRefusal): Promise<Credential | undefined>;
}

/** Opens the account of a request. */
export async function openRequestAccount(
  account: Account,
  context: Pick<CallContext, "caller" | "openAccount">,
): Promise<RequestAccount> {
  const opened = await (context.openAccount?.(account.name) ?? account.open(context.caller));
  const { id, credential, title } = opened;
  const connect = account.describeConnect(context.caller);
  return {
    id,
    account: { name: account.name, isPrivate: account.isPrivate },
    credential,
    title,
    async renew(refusal) {
      const scopes = findScopes(refusal);
      if (refusal.status === 403 && scopes === undefined) return undefined;
      const renewed = await opened.renew(refusal);
      if (renewed === undefined && scopes !== undefined) throw createScopesError(title, scopes, connect);
      return renewed?.credential;
    },
    advice: `The service does not accept the credential of the account ${title}, which is connected; ${connect}`,
  };
}

/** Returns the scopes that an answer asks for; `undefined` if the credential has all that are needed. */
function findScopes({ status, challenge = "" }: CredentialRefusal): string | undefined {
  if (status !== 403 || !/\berror\s*=\s*"?insufficient_scope\b/i.test(challenge)) return undefined;
  return /\bscope\s*=\s*"([^"]*)"/i.exec(challenge)?.[1] ?? "";
}

const MAX_SCOPES_UNITS = 300;

function createScopesError(title: string, scopes: string, connect: string): SkillgateError {
  const request = scopes === "" ? "more scopes" : `the scopes ${truncateText(toVisibleLine(scopes), MAX_SCOPES_UNITS)}`;
  const says = `the service wants ${request} for ${title}; ${connect}`;
  return createError("ACCOUNT_SCOPES", says);
}
