import type { IncomingHttpHeaders } from "node:http";

import { type Caller, OWNER } from "../../../model/caller.ts";
import type { CredentialLife } from "../../../model/credential.ts";
import { isRecord } from "../../../model/json.ts";

/** The sender of a request, as far as its token identifies it. */
export type Authentication =
  /** `life` is that of the key; tokens have none. */
  | { readonly kind: "caller"; readonly caller: Caller; readonly life?: CredentialLife }
  /** The token is valid, but lacks scopes that every request requires. */
  | { readonly kind: "insufficient"; readonly scopes: readonly string[] }
  /** The request carries a token that is unknown, expired or revoked. */
  | { readonly kind: "invalid" }
  | { readonly kind: "missing" };

/** Identifies the sender by a token; `undefined` for a token of another kind, or an invalid one. */
export type TokenCheck = (token: string) => Promise<Authentication | undefined> | Authentication | undefined;

/** Identifies callers by their bearer token. */
export interface Authenticator {
  authenticate(headers: IncomingHttpHeaders): Promise<Authentication>;
  /** Identifies the caller of a JSON-RPC message, which may carry its token beside the parameters. */
  authenticateMessage(message: unknown): Promise<Authentication>;
}

/** Asks the checks in their order. Accepts every request if `checks` is absent. */
export function createAuthenticator(checks?: readonly TokenCheck[]): Authenticator {
  async function identify(token: string | undefined): Promise<Authentication> {
    if (checks === undefined) return OWNER_AUTHENTICATION;
    if (token === undefined) return MISSING;
    for (const check of checks) {
      const found = await check(token);
      if (found !== undefined) return found;
    }
    return INVALID;
  }
  return {
    authenticate: ({ authorization }) => identify(/^Bearer +([^\s]+) *$/i.exec(authorization ?? "")?.[1]),
    authenticateMessage(message) {
      const auth = isRecord(message) ? message["auth"] : undefined;
      const token = isRecord(auth) && auth["type"] === "bearer" ? auth["token"] : undefined;
      return identify(typeof token === "string" ? token : undefined);
    },
  };
}

/** Recognizes the token of the server, which its owner has. */
export function createOwnTokenCheck(isToken: (token: string) => boolean): TokenCheck {
  return (token) => (isToken(token) ? OWNER_AUTHENTICATION : undefined);
}

/** The sender of a request without a token for a server that requires none, or with the token of the server. */
export const OWNER_AUTHENTICATION: Authentication = { kind: "caller", caller: OWNER };

const MISSING: Authentication = { kind: "missing" };

const INVALID: Authentication = { kind: "invalid" };

export function getCaller(authentication: Authentication): Caller | undefined {
  return authentication.kind === "caller" ? authentication.caller : undefined;
}
