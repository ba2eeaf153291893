import type * as OAuth from "oauth4webapi";

import { getMessage } from "../../errors.ts";
import { toRecord } from "../../model/json.ts";
import { isNear } from "../../shared/http/addresses.ts";
import { truncateText } from "../../shared/format-text.ts";
import { toVisibleLine } from "../../shared/visible-text.ts";
import type { OAuthDefinition } from "../definition.ts";
import { OAuthFailure } from "./failure.ts";
import { createProviderFetch, type ProviderFetch, requireEncryption, USER } from "./provider-fetch.ts";
import type { Grant } from "./tokens.ts";

/** The library, and what its functions get. */
export interface OAuthProvider {
  readonly oauth: typeof OAuth;
  readonly server: OAuth.AuthorizationServer;
  readonly client: OAuth.Client;
  readonly authentication: OAuth.ClientAuth;
  readonly http: ProviderHttp;
  readonly now: () => number;
  /** Returns the URL of a page of the provider, which a browser opens. */
  getPage(url: string | undefined, name: string): URL;
}

interface ProviderHttp {
  readonly [OAuth.customFetch]: ProviderFetch;
  /** `http:` is refused by `fetch` itself, except where the settings have it. */
  readonly [OAuth.allowInsecureRequests]: true;
}

/** Loads the library and finds the endpoints of a provider, by discovery where the settings do not have them. */
export async function openProvider(definition: OAuthDefinition, now: () => number): Promise<OAuthProvider> {
  const oauth = await import("oauth4webapi");
  const own = listOwnUrls(definition);
  const plain = own.filter((url) => url.protocol === "http:" && (definition.isPrivate || isNear(url)));
  const plainOrigins = new Set(plain.map(({ origin }) => origin));
  // Private addresses are for a provider that the settings place there; the metadata of one on the Internet must not name them.
  const reach = definition.isPrivate || own.some(isNear) ? "private" : "public";
  const fetch = createProviderFetch({ reach, plainOrigins, clientSecret: definition.clientSecret });
  const http: ProviderHttp = { [oauth.customFetch]: fetch, [oauth.allowInsecureRequests]: true };
  return {
    oauth,
    http,
    now,
    server: await findEndpoints(definition, oauth, http),
    client: { client_id: definition.clientId },
    authentication: authenticate(definition, oauth),
    getPage(text, name) {
      const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
      if (url === undefined) throw new OAuthFailure("invalid", `the provider has no ${name}; set it in the settings`);
      requireEncryption(url, plainOrigins); // the address is opened on the user's machine: another scheme could start a program
      return url;
    },
  };
}

/** Ten years: a later end of a token may be no date. */
const MAX_LIFE_SECONDS = 315_360_000;

/** Requests tokens, and returns what the provider grants; `scopes` are those of a provider that does not name them. */
export async function readGrant(
  { oauth, server, client, now }: OAuthProvider,
  response: Response,
  scopes: readonly string[],
): Promise<Grant> {
  const answer = await oauth.processGenericTokenEndpointResponse(server, client, response);
  const received = now();
  const { access_token: access, refresh_token: refresh, expires_in: seconds, scope, [USER]: label } = answer;
  return {
    tokens: {
      access,
      ...(refresh !== undefined && { refresh }),
      scopes: scope === undefined ? scopes : scope.split(/[\s,]+/).filter((each) => each !== ""),
      received,
      ...(seconds !== undefined && { expires: received + Math.min(seconds, MAX_LIFE_SECONDS) * 1_000 }),
    },
    ...(typeof label === "string" && { label }),
  };
}

/** Creates the failure for an error of the library: the browser has returned with an error, or an answer cannot be used. */
export function toFailure(thrown: unknown, definition: OAuthDefinition): OAuthFailure {
  if (thrown instanceof OAuthFailure) return thrown;
  const provider = describeProvider(definition);
  const { error, error_description: description } = toRecord(thrown);
  if (typeof error === "string") {
    const text = typeof description === "string" ? `${error}: ${description}` : error;
    return new OAuthFailure("refused", `${provider} gives no access: ${cut(text)}`, { code: cut(error) });
  }
  const why = cut(getMessage(thrown).replaceAll('"response" body ', ""));
  return new OAuthFailure("invalid", `an answer of ${provider} cannot be used: ${why}`);
}

function cut(text: string): string {
  return toVisibleLine(truncateText(text, 300));
}

/** Returns the host of a provider, for messages. */
export function describeProvider(definition: OAuthDefinition): string {
  return listOwnUrls(definition)[0]?.host ?? "the provider";
}

function listOwnUrls({
  issuer,
  tokenUrl,
  authorizationUrl,
  deviceUrl,
  revocationUrl,
}: OAuthDefinition): readonly URL[] {
  return [issuer, tokenUrl, authorizationUrl, deviceUrl, revocationUrl].flatMap((url) =>
    url !== undefined && URL.canParse(url) ? [new URL(url)] : [],
  );
}

/** The settings are stronger than the metadata of the provider. */
async function findEndpoints(
  definition: OAuthDefinition,
  oauth: typeof OAuth,
  http: ProviderHttp,
): Promise<OAuth.AuthorizationServer> {
  const { issuer, authorizationUrl, tokenUrl, deviceUrl, revocationUrl } = definition;
  const own = {
    ...(authorizationUrl !== undefined && { authorization_endpoint: authorizationUrl }),
    ...(tokenUrl !== undefined && { token_endpoint: tokenUrl }),
    ...(deviceUrl !== undefined && { device_authorization_endpoint: deviceUrl }),
    ...(revocationUrl !== undefined && { revocation_endpoint: revocationUrl }),
  };
  if (issuer === undefined) return { issuer: NO_ISSUER, ...own };
  return { ...(await discover(new URL(issuer), oauth, http)), ...own };
}

/** The issuer of a provider of which the settings have only URLs: what it says of its issuer cannot be checked. */
export const NO_ISSUER = "about:blank";

async function discover(issuer: URL, oauth: typeof OAuth, http: ProviderHttp): Promise<OAuth.AuthorizationServer> {
  const request = async (algorithm: "oidc" | "oauth2"): Promise<OAuth.AuthorizationServer> =>
    oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm, ...http }));
  try {
    return await request("oidc");
  } catch (error) {
    if (error instanceof OAuthFailure && error.kind === "invalid") return request("oauth2");
    throw error;
  }
}

function authenticate({ clientAuth, clientSecret }: OAuthDefinition, oauth: typeof OAuth): OAuth.ClientAuth {
  if (clientSecret === undefined || clientAuth === "none") return oauth.None();
  return clientAuth === "post" ? oauth.ClientSecretPost(clientSecret) : oauth.ClientSecretBasic(clientSecret);
}
