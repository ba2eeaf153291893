import { createHash, randomBytes } from "node:crypto";

import { findSurplus, setBounded } from "../../../shared/lru.ts";

/** The credential of a login: the text that the person entered, or a link of the owner. */
export type LoginCredential = { readonly kind: "token"; readonly token: string } | { readonly kind: "link" };

/** A login of a browser. */
export interface ConsoleSession {
  readonly credential: LoginCredential;
  /** Aborts at the logout, or when newer sessions take its place. */
  readonly ended: AbortSignal;
}

/** The logins of browsers, in memory: a restart of the server ends those without a token. */
export interface ConsoleSessions {
  /** Creates a code that `redeem` accepts once, for five minutes. */
  createCode(): string;
  redeem(code: string): boolean;
  /** Returns the secret of the new session. Beyond the limit, the caller that has the most sessions loses its oldest. */
  open(credential: LoginCredential, caller: string): string;
  find(secret: string): ConsoleSession | undefined;
  close(secret: string): void;
}

/** Milliseconds that a one-time code is valid. */
const CODE_MS = 5 * 60_000;

/** Milliseconds after the last request at which a session ends. */
const SESSION_IDLE_MS = 12 * 3_600_000;

const MAX_CODES = 64;
const MAX_SESSIONS = 1_024;

interface OpenSession extends ConsoleSession {
  readonly caller: string;
  readonly controller: AbortController;
  lastUsed: number;
}

/** Creates an empty set of sessions. Codes and secrets are stored as SHA-256 digests. */
export function createSessions(now: () => number = Date.now): ConsoleSessions {
  const codes = new Map<string, number>();
  const sessions = new Map<string, OpenSession>();

  function remove(key: string): void {
    const session = sessions.get(key);
    sessions.delete(key);
    session?.controller.abort();
  }

  return {
    createCode() {
      const code = createSecret();
      setBounded(codes, [digest(code), now() + CODE_MS], MAX_CODES);
      return code;
    },
    redeem(code) {
      const key = digest(code);
      const expires = codes.get(key) ?? 0;
      codes.delete(key);
      return expires > now();
    },
    open(credential, caller) {
      const secret = createSecret();
      const controller = new AbortController();
      sessions.set(digest(secret), { credential, caller, controller, ended: controller.signal, lastUsed: now() });
      const surplus = sessions.size > MAX_SESSIONS ? findSurplus(sessions, ([, session]) => session.caller) : undefined;
      if (surplus !== undefined) remove(surplus[0]);
      return secret;
    },
    find(secret) {
      const key = digest(secret);
      const session = sessions.get(key);
      if (session === undefined) return undefined;
      if (session.lastUsed + SESSION_IDLE_MS <= now()) {
        remove(key);
        return undefined;
      }
      session.lastUsed = now();
      return session;
    },
    close: (secret) => remove(digest(secret)),
  };
}

function createSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** A lookup by digest takes the same time for every wrong secret. */
function digest(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url");
}
