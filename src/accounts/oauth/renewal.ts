import { setTimeout as wait } from "node:timers/promises";

import { createError } from "../../errors.ts";
import type { AccountRow } from "../../store/index.ts";
import { OAuthFailure } from "./failure.ts";
import {
  createReconnect,
  endConnection,
  type OldTokens,
  openTokens,
  type RenewalWork,
  type RenewedConnection,
  renewInTurn,
  type TokenRenewalOptions,
} from "./renew-row.ts";
import { isEnding, isOver, type OAuthTokens } from "./tokens.ts";

/** Reads the stored tokens of connections, and renews them: of all processes of a store, one at a time. */
export interface TokenRenewal {
  /** Returns tokens for a request; new ones if those of the row end soon. */
  getTokens(connection: RenewedConnection, row: AccountRow): Promise<OAuthTokens>;
  /** Returns tokens in place of those that a service has refused; those of the store, if it has others by now. */
  replace(connection: RenewedConnection, refused: OAuthTokens): Promise<OAuthTokens>;
  /** Decrypts the stored tokens of a connection. */
  read(row: AccountRow): Promise<OAuthTokens>;
  /** Ends a connection: its owner must connect it again. Always throws. */
  end(connection: RenewedConnection, tokens: OAuthTokens, reason: string): Promise<never>;
}

/** Requests that could use the old tokens wait this long for new ones. */
const PATIENCE_MS = 5_000;

/** After a failure the provider is not asked again for this time, if it names none. */
const PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 60_000;

/** The last failure of a provider for a connection. */
interface RenewalPause {
  readonly failure: OAuthFailure;
  /** A time of `performance.now()`. */
  readonly until: number;
}

export function createTokenRenewal(options: TokenRenewalOptions): TokenRenewal {
  const { now, database } = options;
  const work: RenewalWork = { ...options, unsaved: new Map() };
  const running = new Map<string, Promise<OAuthTokens>>();
  const pauses = new Map<string, RenewalPause>();

  /** Joins the renewal of this process that is running for a connection. */
  function renew(connection: RenewedConnection, old: OldTokens): Promise<OAuthTokens> {
    const { id } = connection;
    const renewed = running.get(id) ?? start(connection, old).finally(() => running.delete(id));
    running.set(id, renewed);
    return renewed;
  }

  async function start(connection: RenewedConnection, old: OldTokens): Promise<OAuthTokens> {
    const { id, title } = connection;
    const pause = pauses.get(id);
    if (pause !== undefined && performance.now() < pause.until) throw createUnavailable(title, pause);
    try {
      const tokens = await renewInTurn(connection, old, work);
      pauses.delete(id);
      return tokens;
    } catch (error) {
      if (!(error instanceof OAuthFailure)) throw error;
      const next = {
        failure: error,
        until: performance.now() + Math.min(error.retryAfterMs ?? PAUSE_MS, MAX_PAUSE_MS),
      };
      pauses.set(id, next);
      throw createUnavailable(title, next);
    }
  }

  return {
    async getTokens(connection, row) {
      const tokens = await openTokens(row, options);
      if (!isEnding(tokens, now())) return tokens;
      const renewed = renew(connection, { tokens, isRefused: false });
      if (isOver(tokens, now())) return renewed;
      const fallBack = (): OAuthTokens => tokens;
      return Promise.race([renewed.catch(fallBack), wait(PATIENCE_MS, tokens, { ref: false })]);
    },
    replace: (connection, refused) => renew(connection, { tokens: refused, isRefused: true }),
    read: (row) => openTokens(row, options),
    async end(connection, tokens, reason) {
      const { accounts } = await database.open();
      const row = await accounts.get(connection.id);
      const isCurrent = row !== undefined && (await openTokens(row, options)).access === tokens.access;
      if (isCurrent) await endConnection({ accounts }, row, reason, options);
      throw createReconnect(connection, reason);
    },
  };
}

function createUnavailable(title: string, { failure, until }: RenewalPause): Error {
  const seconds = Math.max(1, Math.ceil((until - performance.now()) / 1_000));
  const what = failure.kind === "invalid" ? "; correct the settings of the account" : `; try again in ${seconds} s`;
  return createError("ACCOUNT_UNAVAILABLE", `${title}: ${failure.message}${what}`);
}
