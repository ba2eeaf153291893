import type { JWTPayload } from "jose";

import { quote } from "../../../shared/format-text.ts";
import type { IdentityProviderConfig } from "./config.ts";
import type { TokenTarget } from "./flow.ts";

/** The type of the assertion of an identity provider, by which RFC 8693 requests it. */
export const ID_JAG_TYPE = "urn:ietf:params:oauth:token-type:id-jag";

/** Maximum length of a token. */
const MAX_TOKEN_CHARACTERS = 64 << 10;

/** A token counts as expired this long before it is, because it has to arrive. */
const EXPIRY_MARGIN_SECONDS = 30;

/** True for a token whose time is over; false for one that is not a JWT. */
export async function isExpired(token: string): Promise<boolean> {
  const { claims } = await readToken(token).catch(() => ({ claims: {} as JWTPayload }));
  return claims.exp !== undefined && claims.exp - EXPIRY_MARGIN_SECONDS <= Date.now() / 1_000;
}

/** Reads whom a configured token is about; `undefined` for one that is not a JWT. */
export async function readUser(token: string | undefined): Promise<readonly unknown[] | undefined> {
  return token === undefined
    ? undefined
    : readToken(token).then(
        ({ claims: { iss, sub } }) => [iss, sub],
        () => undefined,
      );
}

/** Checks that the provider has issued an ID token to this client, before it is sent there. */
export async function requireIdToken(
  token: string | undefined,
  { issuer, clientId }: Pick<IdentityProviderConfig, "issuer" | "clientId">,
): Promise<string> {
  const what = "the ID token";
  const { claims } = await readToken(token ?? "").catch(() => fail(`${what} is not a JWT`));
  requireIssuer(claims, issuer, what);
  if (!toList(claims.aud).includes(clientId))
    fail(`${what} is for the client ${show(claims.aud)}, not for ${quote(clientId)}, the clientId of identityProvider`);
  requireTime(claims, what);
  return token ?? "";
}

interface WantedAssertion {
  /** Issuer of the assertion. */
  readonly provider: string;
  /** Issuer of the tokens for which it is exchanged. */
  readonly audience: string;
  readonly clientId: string | undefined;
}

/** Checks that an assertion is an ID-JAG for this client and authorization server, which would refuse it otherwise. */
export async function requireAssertion(
  token: string,
  { provider, audience, clientId }: WantedAssertion,
): Promise<string> {
  const what = "its assertion";
  const { type, claims } = await readToken(token).catch(() => fail(`${what} is not a JWT`));
  if (type?.toLowerCase() !== "oauth-id-jag+jwt") fail(`${what} has the type ${show(type)}, not "oauth-id-jag+jwt"`);
  requireIssuer(claims, provider, what);
  if (!toList(claims.aud).some((each) => isSameIssuer(each, audience)))
    fail(`${what} is for ${show(claims.aud)}, not for ${quote(audience)}, the authorization server of the MCP server`);
  const { client_id: client } = claims;
  if (clientId !== undefined && client !== clientId)
    fail(
      `${what} is for the client ${show(client)}, not for ${quote(clientId)}, the clientId of oauth; its administrator has to map the two`,
    );
  requireTime(claims, what);
  return token;
}

/** Checks that an assertion is for the authorization server to which it is sent: another one could use it there. */
export async function requireAudience(
  token: string,
  { issuer, tokenEndpoint }: Pick<TokenTarget, "issuer" | "tokenEndpoint">,
): Promise<void> {
  const what = "the assertion";
  const { claims } = await readToken(token).catch(() => fail(`${what} is not a JWT`));
  const isHere = (each: unknown): boolean =>
    isSameIssuer(each, issuer) || (each !== undefined && each === tokenEndpoint);
  if (!toList(claims.aud).some(isHere))
    fail(
      `${what} is for ${show(claims.aud)}, not for ${quote(issuer)}, the authorization server that the MCP server names; if that one may see it, write "issuer": ${quote(issuer)} in oauth`,
    );
}

/** Two spellings of one issuer: URLs are written with and without a slash at the end. */
export function isSameIssuer(one: unknown, other: string): boolean {
  return typeof one === "string" && one.replace(/\/$/, "") === other.replace(/\/$/, "");
}

function requireIssuer({ iss }: JWTPayload, issuer: string, what: string): void {
  if (!isSameIssuer(iss, issuer)) fail(`${what} is from ${show(iss)}, not from ${quote(issuer)}`);
}

function requireTime({ exp }: JWTPayload, what: string): void {
  if (typeof exp !== "number") fail(`${what} has no time at which it expires`);
  const seconds = Date.now() / 1_000 - exp;
  if (seconds >= 0) fail(`${what} expired ${Math.round(seconds)} s ago`);
}

/** Reads a JWT without its signature, which the server that it is sent to checks. */
async function readToken(token: string): Promise<{ readonly type: string | undefined; readonly claims: JWTPayload }> {
  if (token.length > MAX_TOKEN_CHARACTERS) throw new Error("too long");
  const { decodeJwt, decodeProtectedHeader } = await import("jose");
  return { type: decodeProtectedHeader(token).typ, claims: decodeJwt(token) };
}

function toList(audience: unknown): readonly unknown[] {
  return Array.isArray(audience) ? audience : [audience];
}

function show(claim: unknown): string {
  return claim === undefined ? "no value" : quote(typeof claim === "string" ? claim : JSON.stringify(claim));
}

function fail(message: string): never {
  throw new Error(message);
}
