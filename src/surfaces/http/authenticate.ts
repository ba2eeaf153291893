import type { IncomingHttpHeaders } from "node:http";

import { type Caller, OWNER } from "../../model/caller.ts";
import { isRecord } from "../../model/json.ts";

/** Lets callers in by the token that they show. */
export interface Authenticator {
  /** The caller of a request; `undefined` for one that shows no valid token. */
  authenticate(headers: IncomingHttpHeaders): Caller | undefined;
  /** The same for a JSON-RPC message, which may carry its token beside the parameters (P1). */
  authenticateMessage(message: unknown): Caller | undefined;
}

/** `isToken` is absent where everybody who can reach the port may come in. */
export function createAuthenticator(isToken?: (token: string) => boolean): Authenticator {
  const enter = (token: string | undefined): Caller | undefined =>
    isToken === undefined || (token !== undefined && isToken(token)) ? OWNER : undefined;
  return {
    authenticate: ({ authorization }) => enter(/^Bearer +([^\s]+) *$/i.exec(authorization ?? "")?.[1]),
    authenticateMessage(message) {
      const auth = isRecord(message) ? message["auth"] : undefined;
      const token = isRecord(auth) && auth["type"] === "bearer" ? auth["token"] : undefined;
      return enter(typeof token === "string" ? token : undefined);
    },
  };
}
