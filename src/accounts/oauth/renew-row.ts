import { createError } from "../../errors.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import { type AccountRow, type Database, type LazyDatabase, waitForChange } from "../../store/index.ts";
import type { OAuthDefinition } from "../definition.ts";
import type { Vault } from "../vault.ts";
import { CLAIM_MS, claimConnection, createHolder, ForeignClaim } from "./claim.ts";
import type { OAuthClient } from "./client.ts";
import { OAuthFailure } from "./failure.ts";
import { type Grant, listTokens, type OAuthTokens, parseTokens } from "./tokens.ts";

/** A connection whose tokens are renewed. */
export interface RenewedConnection {
  readonly definition: OAuthDefinition;
  readonly id: string;
  /** `github (ada)` */
  readonly title: string;
  /** How the caller connects it: `connect it: skillgate account connect github`. */
  readonly connect: string;
}

export interface TokenRenewalOptions {
  readonly database: Pick<LazyDatabase, "open">;
  readonly vault: Vault;
  /** Takes every token before it is used. */
  readonly secrets: Pick<KnownSecrets, "addPassing">;
  readonly getClient: (definition: OAuthDefinition) => OAuthClient;
  /** Gets each connection that this process has found to be over. */
  readonly onReconnect: (row: AccountRow, reason: string) => void;
  readonly now: () => number;
}

/** Another process has ended its renewal, or its claim is over, before this time. */
const MAX_WAIT_MS = CLAIM_MS + 20_000;

export interface RenewalWork extends TokenRenewalOptions {
  /** Granted tokens that could not be stored, by the connection: their provider accepts none before them any more. */
  readonly unsaved: Map<string, { readonly old: OAuthTokens; readonly grant: Grant }>;
}

/** The tokens that are to be renewed. */
export interface OldTokens {
  readonly tokens: OAuthTokens;
  /** The service has refused them. */
  readonly isRefused: boolean;
}

/** Renews the tokens of a connection, or waits for the process that renews them. Rejects with an `OAuthFailure` too. */
export async function renewInTurn(
  connection: RenewedConnection,
  old: OldTokens,
  work: RenewalWork,
): Promise<OAuthTokens> {
  const database = await work.database.open();
  const holder = createHolder();
  const foreign = new ForeignClaim();
  const end = performance.now() + MAX_WAIT_MS;
  while (performance.now() < end) {
    const row = requireConnected(await database.accounts.get(connection.id), connection);
    const tokens = await openTokens(row, work);
    if (tokens.access !== old.tokens.access) return tokens;
    if (foreign.isOver(row) && (await claimConnection(database.accounts, row, holder))) {
      const renewed = await renewClaimed(database, { connection, old, holder }, work);
      if (renewed !== undefined) return renewed;
    } else await waitForChange(database);
  }
  throw new OAuthFailure("unavailable", "another process that renews its tokens does not end");
}

interface ClaimedRenewal {
  readonly connection: RenewedConnection;
  readonly old: OldTokens;
  readonly holder: string;
}

/** Renews the tokens of a claimed connection; `undefined` if its row was changed meanwhile. */
async function renewClaimed(
  { accounts }: Database,
  { connection, old, holder }: ClaimedRenewal,
  work: RenewalWork,
): Promise<OAuthTokens | undefined> {
  const { id, definition } = connection;
  try {
    const row = requireConnected(await accounts.get(id), connection);
    const tokens = await openTokens(row, work);
    if (tokens.access !== old.tokens.access) return tokens;
    const unsaved = work.unsaved.get(id);
    const client = work.getClient(definition);
    const grant = unsaved?.old.access === tokens.access ? unsaved.grant : await client.renew(tokens);
    work.unsaved.set(id, { old: tokens, grant });
    const next = { ...grant.tokens, ...(old.isRefused && { isAfterRefusal: true as const }) };
    const saved = await saveTokens({ accounts }, row, { old: tokens, next, label: grant.label }, work);
    work.unsaved.delete(id);
    if (saved !== undefined) return saved;
    await client.revoke(next).catch(() => {}); // the connection was deleted meanwhile; the provider ends the tokens by itself, too
    throw createReconnect(connection, "it was revoked");
  } catch (error) {
    if (!(error instanceof OAuthFailure) || error.kind !== "refused") throw error;
    const row = await accounts.get(id);
    if (row === undefined || (await openTokens(row, work)).access !== old.tokens.access) return undefined;
    const reason = `its provider does not accept it any more (${error.message})`;
    if (!(await endConnection({ accounts }, row, reason, work))) return undefined;
    throw createReconnect(connection, reason);
  } finally {
    await accounts.release(id, holder).catch(() => {}); // the claim ends by itself
  }
}

interface NewTokens {
  readonly old: OAuthTokens;
  readonly next: OAuthTokens;
  readonly label: string | undefined;
}

/** Stores new tokens in place of the old ones, and returns the stored ones; `undefined` if the connection was deleted. */
async function saveTokens(
  { accounts }: Pick<Database, "accounts">,
  row: AccountRow,
  { old, next, label }: NewTokens,
  work: RenewalWork,
): Promise<OAuthTokens | undefined> {
  work.secrets.addPassing(listTokens(next));
  const { scopes, expires = null } = next;
  let current: AccountRow | undefined = row;
  while (current !== undefined) {
    const value = await work.vault.seal(current, next);
    const changes = { value, scopes, expires, label: label ?? current.label };
    if (await accounts.update(current, changes)) return next;
    current = await accounts.get(row.id);
    const stored = current && (await openTokens(current, work));
    if (stored !== undefined && stored.access !== old.access) return stored;
  }
  return undefined;
}

/** Marks a connection as one that its owner must connect again. Returns false if its row was changed meanwhile. */
export async function endConnection(
  { accounts }: Pick<Database, "accounts">,
  row: AccountRow,
  reason: string,
  { onReconnect }: Pick<TokenRenewalOptions, "onReconnect">,
): Promise<boolean> {
  if (row.state === "reconnect") return true;
  const isEnded = await accounts.update(row, { state: "reconnect", reason });
  if (isEnded) onReconnect(row, reason);
  return isEnded;
}

/** Decrypts the tokens of a row, which become known secrets. */
export async function openTokens(
  row: AccountRow,
  { vault, secrets }: Pick<TokenRenewalOptions, "vault" | "secrets">,
): Promise<OAuthTokens> {
  const tokens = parseTokens(await vault.open(row));
  if (tokens === undefined) throw createError("ACCOUNT_UNAVAILABLE", `${row.name} has a stored value of another form`);
  secrets.addPassing(listTokens(tokens));
  return tokens;
}

function requireConnected(row: AccountRow | undefined, connection: RenewedConnection): AccountRow {
  if (row === undefined) throw createReconnect(connection, "it was revoked or connected again");
  if (row.state === "reconnect")
    throw createReconnect(connection, row.reason ?? "its provider does not accept it any more");
  return row;
}

export function createReconnect({ title, connect, definition }: RenewedConnection, reason: string): Error {
  return createError("ACCOUNT_RECONNECT", `${title}: ${reason}; ${connect}`, { account: definition.name, connect });
}
