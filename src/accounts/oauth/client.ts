import type { OAuthDefinition } from "../definition.ts";
import { beginDevice, type DeviceAuthorization } from "./device.ts";
import { OAuthFailure } from "./failure.ts";
import { describeProvider, NO_ISSUER, openProvider, type OAuthProvider, readGrant, toFailure } from "./provider.ts";
import type { Grant, OAuthTokens } from "./tokens.ts";

/** Requests tokens of one provider. All methods reject with an `OAuthFailure`. */
export interface OAuthClient {
  /** Begins an authorization in the browser, which returns to exactly this URL; for the scopes of the settings by default. */
  begin(redirectUrl: string, scopes?: readonly string[]): Promise<Authorization>;
  /** Requests tokens for the URL to which the browser has returned. */
  finish(secrets: AuthorizationSecrets, returned: URL): Promise<Grant>;
  /** Begins an authorization by a code that a person types on another device; for the scopes of the settings by default. */
  beginDevice(scopes?: readonly string[]): Promise<DeviceAuthorization>;
  /** Requests tokens for the client itself. */
  requestOwn(): Promise<Grant>;
  /** Requests new tokens with the same scopes. Rejects as `refused` if there is nothing by which to request them. */
  renew(tokens: OAuthTokens): Promise<Grant>;
  /** Revokes tokens at the provider; false if it offers no way. */
  revoke(tokens: OAuthTokens): Promise<boolean>;
}

/** An authorization that was begun. */
export interface Authorization {
  /** The page of the provider. */
  readonly url: URL;
  readonly secrets: AuthorizationSecrets;
}

/** The secrets by which the answer of the browser is used. */
export interface AuthorizationSecrets {
  readonly state: string;
  readonly verifier: string;
  readonly redirectUrl: string;
  readonly scopes: readonly string[];
}

/** The metadata of a provider are read again after this time. */
const METADATA_MS = 3_600_000;

/** Creates a client. It loads the library and asks the provider with the first request. */
export function createOAuthClient(definition: OAuthDefinition, now: () => number = Date.now): OAuthClient {
  const open = createOpener(definition, now);
  const withProvider = async <Result>(
    work: (provider: OAuthProvider) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> => {
    try {
      return await work(await open());
    } catch (error) {
      signal?.throwIfAborted();
      throw toFailure(error, definition);
    }
  };
  const requestOwn = (): Promise<Grant> => withProvider((provider) => requestForClient(provider, definition));
  return {
    begin: (redirectUrl, scopes = definition.scopes) =>
      withProvider((provider) => begin(provider, definition, { redirectUrl, scopes })),
    finish: (secrets, returned) => withProvider((provider) => finish(provider, definition, { secrets, returned })),
    async beginDevice(scopes = definition.scopes) {
      const begin = (provider: OAuthProvider): Promise<DeviceAuthorization> =>
        beginDevice(provider, createParameters(definition, scopes), scopes);
      const device = await withProvider(begin);
      return { ...device, wait: (signal) => withProvider(() => device.wait(signal), signal) };
    },
    requestOwn,
    renew: (tokens) =>
      definition.grant === "client" ? requestOwn() : withProvider((provider) => renew(provider, definition, tokens)),
    revoke: (tokens) => withProvider((provider) => revoke(provider, tokens)),
  };
}

/** Opens the provider once for many requests, and again after an error. */
function createOpener(definition: OAuthDefinition, now: () => number): () => Promise<OAuthProvider> {
  let opened: { readonly provider: Promise<OAuthProvider>; readonly until: number } | undefined;
  return () => {
    if (opened !== undefined && performance.now() < opened.until) return opened.provider;
    const provider = openProvider(definition, now);
    opened = { provider, until: performance.now() + METADATA_MS };
    provider.catch(() => {
      opened = undefined;
    });
    return provider;
  };
}

/** The parameters of an authorization: those of the settings, then those that they cannot change. */
function createParameters(definition: OAuthDefinition, scopes: readonly string[]): URLSearchParams {
  const { parameters, audience, resource } = definition;
  return new URLSearchParams({
    ...parameters,
    ...(audience !== undefined && { audience }),
    ...(resource !== undefined && { resource }),
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
  });
}

async function begin(
  provider: OAuthProvider,
  definition: OAuthDefinition,
  { redirectUrl, scopes }: Pick<AuthorizationSecrets, "redirectUrl" | "scopes">,
): Promise<Authorization> {
  const { oauth, server, client } = provider;
  const url = provider.getPage(server.authorization_endpoint, "authorizationUrl");
  const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()];
  const parameters = {
    ...Object.fromEntries(createParameters(definition, scopes)),
    response_type: "code",
    client_id: client.client_id,
    redirect_uri: redirectUrl,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url, secrets: { state, verifier, redirectUrl, scopes } };
}

async function finish(
  provider: OAuthProvider,
  definition: OAuthDefinition,
  { secrets, returned }: { readonly secrets: AuthorizationSecrets; readonly returned: URL },
): Promise<Grant> {
  const { oauth, server, client, authentication, http } = provider;
  // Each account has a redirect URL of its own: the answer of another provider does not arrive here.
  if (`${returned.origin}${returned.pathname}` !== secrets.redirectUrl)
    throw new OAuthFailure("refused", `the browser has returned to another address than ${secrets.redirectUrl}`);
  const answer = new URLSearchParams(returned.searchParams);
  if (server.issuer === NO_ISSUER) answer.delete("iss");
  const parameters = oauth.validateAuthResponse(server, client, answer, secrets.state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authentication,
    parameters,
    secrets.redirectUrl,
    secrets.verifier,
    { ...http, additionalParameters: getResource(definition) },
  );
  return readGrant(provider, response, secrets.scopes);
}

/** Tokens for one API are requested with its name each time (RFC 8707). */
function getResource({ resource }: OAuthDefinition): Record<string, string> {
  return resource === undefined ? {} : { resource };
}

async function requestForClient(provider: OAuthProvider, definition: OAuthDefinition): Promise<Grant> {
  const { oauth, server, client, authentication, http } = provider;
  const parameters = createParameters(definition, definition.scopes);
  const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, parameters, http);
  return readGrant(provider, response, definition.scopes);
}

async function renew(provider: OAuthProvider, definition: OAuthDefinition, tokens: OAuthTokens): Promise<Grant> {
  const { oauth, server, client, authentication, http } = provider;
  if (tokens.refresh === undefined)
    throw new OAuthFailure(
      "refused",
      `${describeProvider(definition)} gave no refresh token, by which a new one is requested`,
    );
  const response = await oauth.refreshTokenGrantRequest(server, client, authentication, tokens.refresh, {
    ...http,
    additionalParameters: getResource(definition),
  });
  const grant = await readGrant(provider, response, tokens.scopes);
  // Without a new refresh token, the old one stays valid.
  return { ...grant, tokens: { ...grant.tokens, refresh: grant.tokens.refresh ?? tokens.refresh } };
}

async function revoke(
  { oauth, server, client, authentication, http }: OAuthProvider,
  tokens: OAuthTokens,
): Promise<boolean> {
  if (server.revocation_endpoint === undefined) return false;
  const end = async (token: string, kind: string): Promise<void> => {
    const options = { ...http, additionalParameters: { token_type_hint: kind } };
    const response = await oauth.revocationRequest(server, client, authentication, token, options);
    await oauth.processRevocationResponse(response);
  };
  const kinds = { refresh_token: tokens.refresh, access_token: tokens.access };
  let failure: unknown;
  for (const [kind, token] of Object.entries(kinds)) {
    const error = token === undefined ? undefined : await end(token, kind).catch((thrown: unknown) => thrown);
    // Some providers answer so for a token that has ended before.
    const isOver = error instanceof OAuthFailure && error.code === "invalid_token";
    if (!isOver) failure ??= error;
  }
  if (failure !== undefined) throw failure;
  return true;
}
