import { createRemoteJWKSet, customFetch, type JWTPayload, jwtVerify, type RemoteJWKSet } from "jose";

import { getMessage } from "../../../errors.ts";
import type { Caller } from "../../../model/caller.ts";
import { isRecord } from "../../../model/json.ts";
import { fetchSameServer } from "../../../shared/http/fetch-same-server.ts";
import type { TokenCheck } from "../auth/authenticate.ts";
import { isLoopback } from "../origin-check.ts";
import type { IssuerSettings } from "./issuer-settings.ts";

/** Signatures with the private key of the issuer. A shared secret or `none` would let others create tokens. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** The most bytes of an answer of the issuer. */
const MAX_ANSWER_BYTES = 512 << 10;

const ANSWER_MS = 5_000;

/** Clocks of issuer and server may differ by this many seconds. */
const CLOCK_TOLERANCE_SECONDS = 30;

/** An unknown key id fetches the keys of the issuer again, at most once in this time. */
const REFETCH_MS = 30_000;

/** Keys of the issuer are fetched again after this time, so that a key that it withdraws ends here, too. */
const MAX_KEYS_AGE_MS = 600_000;

/** Milliseconds between two lines about refused tokens. */
const LOG_PAUSE_MS = 10_000;

/** A longer token is not examined. */
const MAX_TOKEN_CHARACTERS = 16_384;

/** Times of the key set, in milliseconds; tests shorten them. */
export interface KeySetTimes {
  readonly refetchMs?: number;
  readonly maxAgeMs?: number;
}

/** Checks access tokens of an issuer: signature, algorithm, issuer, audience, times and scopes. */
export function createAccessTokenCheck(
  settings: IssuerSettings,
  { log, times = {} }: { readonly log: (text: string) => void; readonly times?: KeySetTimes },
): TokenCheck {
  let keys: Promise<RemoteJWKSet> | undefined;
  let nextLog = 0;
  /** Strangers cannot fill the log: of many refusals, one is written. */
  function logSometimes(text: string): void {
    if (performance.now() < nextLog) return;
    nextLog = performance.now() + LOG_PAUSE_MS;
    log(text);
  }
  async function getKeys(): Promise<RemoteJWKSet> {
    keys ??= openKeySet(settings, times);
    keys.catch(() => (keys = undefined)); // the next token tries again
    return keys;
  }
  return async (token) => {
    if (!TOKEN_FORM.test(token) || token.length > MAX_TOKEN_CHARACTERS) return undefined;
    const payload = await verify(token, settings, getKeys, logSometimes);
    if (payload === undefined) return undefined;
    const scopes = getScopes(payload);
    const lacks = settings.requiredScopes.some((scope) => !scopes.includes(scope));
    if (lacks) return { kind: "insufficient", scopes: settings.requiredScopes };
    const caller = toCaller(payload, scopes, settings);
    const { exp = 0 } = payload;
    const until = (exp + CLOCK_TOLERANCE_SECONDS) * 1_000;
    return caller && { kind: "caller", caller: { ...caller, token: { issuer: settings.issuer, until } } };
  };
}

const TOKEN_FORM = /^[\w-]+\.[\w-]+\.[\w-]*$/;

async function verify(
  token: string,
  { issuer, audience }: IssuerSettings,
  getKeys: () => Promise<RemoteJWKSet>,
  log: (text: string) => void,
): Promise<JWTPayload | undefined> {
  try {
    const { payload } = await jwtVerify(token, await getKeys(), {
      issuer,
      audience: [...audience],
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ["exp"],
    });
    return payload;
  } catch (error) {
    log(`Cannot accept an access token of ${issuer}: ${getMessage(error)}`);
    return undefined;
  }
}

async function openKeySet(settings: IssuerSettings, { refetchMs, maxAgeMs }: KeySetTimes): Promise<RemoteJWKSet> {
  const uri = settings.jwksUri ?? (await findKeySetUri(settings.issuer));
  return createRemoteJWKSet(requireSafeUrl(uri), {
    timeoutDuration: ANSWER_MS,
    cooldownDuration: refetchMs ?? REFETCH_MS,
    cacheMaxAge: maxAgeMs ?? MAX_KEYS_AGE_MS,
    [customFetch]: async (url, options) => boundedResponse(await fetchSameServer(url, options)),
  });
}

/** Finds the URL of the keys in the metadata of the issuer, as RFC 8414 and OpenID Connect define it. */
async function findKeySetUri(issuer: string): Promise<string> {
  const { origin, pathname } = requireSafeUrl(issuer);
  const path = pathname.replace(/\/$/, "");
  const urls = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  for (const metadataUrl of urls) {
    const response = await fetchSameServer(metadataUrl, { redirect: "manual", signal: AbortSignal.timeout(ANSWER_MS) });
    if (response.status !== 200) continue;
    const metadata: unknown = await (await boundedResponse(response)).json();
    if (!isRecord(metadata) || metadata["issuer"] !== issuer || typeof metadata["jwks_uri"] !== "string") continue;
    return metadata["jwks_uri"];
  }
  throw new Error(`the issuer has no metadata with its own name and a jwks_uri at ${urls.join(" or ")}`);
}

/** Keys that travel unencrypted could be replaced on the way. */
function requireSafeUrl(text: string): URL {
  const url = new URL(text);
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))) return url;
  throw new Error(`${text} is not an https URL`);
}

/** Reads an answer up to a limit, in the time that its signal allows. */
async function boundedResponse(response: Response): Promise<Response> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) throw new Error(`the answer of the issuer exceeds ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status: response.status, headers: response.headers });
}

/** `scope` is one text in most tokens; `scp` is a list or a text in those of some issuers. */
function getScopes({ scope, scp }: JWTPayload): readonly string[] {
  const words = (value: unknown): readonly string[] =>
    typeof value === "string"
      ? value.split(" ")
      : Array.isArray(value)
        ? value.filter((each): each is string => typeof each === "string")
        : [];
  return [...new Set([...words(scope), ...words(scp)])].filter((each) => each !== "" && !each.includes("*"));
}

/** A client without a user has a prefix of its own: clients can choose an id that is the subject of a user. */
function findCallerId({ sub, client_id: client }: JWTPayload): string | undefined {
  const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
  if (isText(sub)) return `oauth:${sub}`;
  return isText(client) ? `oauth-client:${client}` : undefined;
}

/** The rights of a caller are those of its scopes; without a table of scopes, it may call what the policy allows. */
function toCaller(
  payload: JWTPayload,
  scopes: readonly string[],
  { scopes: table }: IssuerSettings,
): Caller | undefined {
  const id = findCallerId(payload);
  if (id === undefined) return undefined;
  if (table === undefined) return { id, permissions: ["call:*"], scopes };
  const rows = scopes.flatMap((scope) => table.get(scope) ?? []);
  return {
    id,
    permissions: rows.flatMap(({ permissions }) => permissions),
    scopes: [...scopes, ...rows.flatMap((row) => row.scopes)],
    roles: rows.flatMap(({ roles }) => roles),
  };
}
