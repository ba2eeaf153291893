import { sentence, SkillgateError } from "../../errors.ts";
import type { Account, CredentialRefusal } from "../../model/account.ts";
import type { CallContext } from "../../model/skill.ts";
import { truncateText } from "../../shared/format-text.ts";
import { toVisibleLine } from "../../shared/visible-text.ts";
import type { RequestAccount } from "./http/api-client.ts";

/** Opens the account of a request. */
export async function openRequestAccount(
  account: Account,
  context: Pick<CallContext, "caller" | "openAccount">,
): Promise<RequestAccount> {
  const opened = await (context.openAccount?.(account.name) ?? account.open(context.caller));
  const { credential, title } = opened;
  const connect = account.describeConnect(context.caller);
  return {
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
  const wanted = scopes === "" ? "more scopes" : `the scopes ${truncateText(toVisibleLine(scopes), MAX_SCOPES_UNITS)}`;
  const says = `the service wants ${wanted} for ${title}; ${connect}`;
  return new SkillgateError("ACCOUNT_SCOPES", sentence("ACCOUNT_SCOPES", says));
}
