import { createError } from "../../errors.ts";
import type { CredentialRefusal, OpenAccount } from "../../model/account.ts";
import { quote } from "../../shared/format-text.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import type { OpenedUse, OpenOAuth } from "../account.ts";
import type { OAuthDefinition } from "../definition.ts";
import { withScopes } from "../failures.ts";
import type { OAuthClient } from "./client.ts";
import { OAuthFailure } from "./failure.ts";
import type { TokenRenewal } from "./renewal.ts";
import { isEnding, listTokens, type OAuthTokens } from "./tokens.ts";

export interface OpenerOptions {
  readonly renewal: TokenRenewal;
  readonly getClient: (definition: OAuthDefinition) => OAuthClient;
  readonly secrets: Pick<KnownSecrets, "addPassing">;
  readonly now: () => number;
}

/** Creates the function that opens accounts for requests. */
export function createOpener(options: OpenerOptions): OpenOAuth {
  const getOwn = createOwnTokens(options);
  return async (definition, use) => {
    const { row } = use;
    if (row === undefined) {
      const get = (refused?: OAuthTokens): Promise<OAuthTokens> => getOwn(definition, use, refused);
      return toOpenAccount(use, await get(), { get, now: options.now });
    }
    const connection = { definition, id: use.id, title: use.title, connect: use.connect };
    const get = (refused: OAuthTokens): Promise<OAuthTokens> => options.renewal.replace(connection, refused);
    const end = (tokens: OAuthTokens): Promise<never> =>
      options.renewal.end(connection, tokens, "the service refuses its token, and it has no refresh token");
    return toOpenAccount(use, await options.renewal.getTokens(connection, row), { get, end, now: options.now });
  };
}

interface TokenSource {
  /** Returns tokens in place of refused ones. */
  readonly get: (refused: OAuthTokens) => Promise<OAuthTokens>;
  /** Ends a connection that cannot get other tokens. Always throws. */
  readonly end?: (refused: OAuthTokens) => Promise<never>;
  readonly now: () => number;
}

function toOpenAccount(use: OpenedUse, tokens: OAuthTokens, source: TokenSource): OpenAccount {
  const { id, title } = use;
  return {
    id,
    title,
    credential: [{ in: "header", name: "Authorization", value: `Bearer ${tokens.access}` }],
    async renew(refusal) {
      requireScopes(refusal, use, tokens);
      if (refusal.status !== 401 || isReplacement(tokens, source.now())) return undefined;
      if (tokens.refresh !== undefined || source.end === undefined)
        return toOpenAccount(use, await source.get(tokens), source);
      return isTokenRefused(refusal) ? source.end(tokens) : undefined;
    },
  };
}

/** A service that refuses the token that replaced a refused one would refuse the next one, too: it is for another audience. */
const REPLACEMENT_MS = 30_000;

function isReplacement({ isAfterRefusal, received }: OAuthTokens, now: number): boolean {
  return isAfterRefusal === true && Math.abs(now - received) < REPLACEMENT_MS;
}

/** True if the service names the token as the reason, or none at all. */
function isTokenRefused({ challenge }: CredentialRefusal): boolean {
  return challenge === undefined || readParameter(challenge, "error") === "invalid_token";
}

/** Throws `ACCOUNT_SCOPES` if the service asks for more scopes (RFC 6750). */
function requireScopes(
  { challenge = "" }: CredentialRefusal,
  { title, connect }: OpenedUse,
  tokens: OAuthTokens,
): void {
  if (readParameter(challenge, "error") !== "insufficient_scope") return;
  const scopes = readParameter(challenge, "scope");
  const granted = tokens.scopes.length > 0 ? `has the scopes ${quote(tokens.scopes.join(" "))}` : "has no scopes";
  const request = scopes === undefined ? "more" : quote(scopes);
  const values = `${title} ${granted}, and the service asks for ${request}; ${withScopes(connect, scopes)}`;
  throw createError("ACCOUNT_SCOPES", values);
}

/** Reads a parameter of the header `WWW-Authenticate`. */
function readParameter(challenge: string, name: string): string | undefined {
  const [, quoted, bare] = new RegExp(`(?:^|[\\s,])${name}=(?:"([^"]*)"|([^\\s,"]+))`, "i").exec(challenge) ?? [];
  return quoted ?? bare;
}

/** Keeps the tokens that clients get for themselves. They are not stored: each process can request its own. */
function createOwnTokens({ getClient, secrets, now }: OpenerOptions) {
  const owned = new WeakMap<OAuthDefinition, { readonly tokens: Promise<OAuthTokens> }>();

  async function request(definition: OAuthDefinition, title: string, isAfterRefusal: boolean): Promise<OAuthTokens> {
    try {
      const { tokens } = await getClient(definition).requestOwn();
      secrets.addPassing(listTokens(tokens));
      return isAfterRefusal ? { ...tokens, isAfterRefusal } : tokens;
    } catch (error) {
      owned.delete(definition);
      if (!(error instanceof OAuthFailure)) throw error;
      const what = error.kind === "unavailable" ? "try again later" : "correct the settings of the account";
      throw createError("ACCOUNT_UNAVAILABLE", `${title}: ${error.message}; ${what}`);
    }
  }

  return async (definition: OAuthDefinition, { title }: OpenedUse, refused?: OAuthTokens): Promise<OAuthTokens> => {
    const own = owned.get(definition);
    const tokens = await own?.tokens;
    const isUsable = tokens !== undefined && tokens.access !== refused?.access && !isEnding(tokens, now());
    if (isUsable) return tokens;
    const current = owned.get(definition);
    if (current !== own && current !== undefined) return current.tokens; // another call has requested new ones meanwhile
    const next = { tokens: request(definition, title, refused !== undefined) };
    owned.set(definition, next);
    return next.tokens;
  };
}
