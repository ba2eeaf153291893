import type { IncomingHttpHeaders } from "node:http";

import { type Caller, OWNER } from "../../model/caller.ts";
import { isRecord } from "../../model/json.ts";

/** Identifies callers by their bearer token. */
export interface Authenticator {
  /** The caller of a request; `undefined` if it carries no valid token. */
  authenticate(headers: IncomingHttpHeaders): Caller | undefined;
  /** The caller of a JSON-RPC message, which may carry its token beside the parameters. */
  authenticateMessage(message: unknown): Caller | undefined;
}

/** Accepts every request if `isToken` is absent. */
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
