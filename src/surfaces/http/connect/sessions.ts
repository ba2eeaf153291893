import { hash, randomBytes } from "node:crypto";

import { findSurplus } from "../../../shared/lru.ts";

/** The logins of browsers that connect accounts, in memory and for a short time. */
export interface ConnectSessions {
  /** Keeps a token or key; returns the secret for the cookie. Beyond the limit, the caller that has the most sessions loses its oldest. */
  open(token: string, caller: string): string;
  /** Returns the token of a session. */
  find(secret: string): string | undefined;
}

/** Milliseconds that a person has to finish. */
const SESSION_MS = 10 * 60_000;

const MAX_SESSIONS = 1_000;

export function createConnectSessions(now: () => number = Date.now): ConnectSessions {
  const sessions = new Map<string, { readonly token: string; readonly caller: string; readonly until: number }>();
  return {
    open(token, caller) {
      const secret = randomBytes(32).toString("base64url");
      sessions.set(digest(secret), { token, caller, until: now() + SESSION_MS });
      const surplus = sessions.size > MAX_SESSIONS ? findSurplus(sessions, ([, session]) => session.caller) : undefined;
      if (surplus !== undefined) sessions.delete(surplus[0]);
      return secret;
    },
    find(secret) {
      const key = digest(secret);
      const session = sessions.get(key);
      if (session === undefined || session.until > now()) return session?.token;
      sessions.delete(key);
      return undefined;
    },
  };
}

/** A lookup by digest takes the same time for every wrong secret. */
function digest(secret: string): string {
  return hash("sha256", secret, "base64url");
}
