import {
  type AuthorizationServerMetadata,
  discoverAuthorizationServerMetadata,
  type FetchLike,
  fetchToken,
  OAuthError,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";

import type { KnownSecrets } from "../../../shared/secrets.ts";
import type { IdentityProviderConfig } from "./config.ts";
import { GrantFlow, type TokenTarget } from "./flow.ts";
import { guardedFetch } from "../../../shared/http/guarded-fetch.ts";
import { describeRefusal } from "./reasons.ts";
import { ID_JAG_TYPE, isExpired, requireAssertion, requireIdToken } from "./identity-tokens.ts";
import { tokensInMemory } from "./tokens-in-memory.ts";

/** The user's login at the identity provider, which all servers of a company share. */
export interface IdentityLogin {
  tokens(): Promise<StoredOAuthTokens | undefined>;
  /** Replaces the refused tokens; false if that needs a user and none can be asked. */
  renew(refused: StoredOAuthTokens | undefined): Promise<boolean>;
  /** Refreshes the tokens without a user; forgets the login if the provider refuses that. */
  refresh(): Promise<void>;
  forget(): Promise<void>;
}

export interface IdentityProviderOptions {
  readonly config: IdentityProviderConfig;
  readonly login: IdentityLogin;
  /** Reads the configured ID token again; a command may print another one now. */
  readonly readIdToken: () => Promise<string | undefined>;
  /** Receives the tokens that are used. */
  readonly secrets: KnownSecrets;
}

/**
 * The identity provider of a company. It exchanges the user's ID token (RFC 8693) for an assertion, the ID-JAG, with which
 * the authorization server of an MCP server grants access without a question to the user.
 */
export class IdentityProvider {
  readonly #options: IdentityProviderOptions;

  constructor(options: IdentityProviderOptions) {
    this.#options = options;
  }

  /** Returns an ID token that has not expired, after a login if necessary; `undefined` if no user can be asked for one. */
  async idToken(): Promise<string | undefined> {
    const { config, readIdToken } = this.#options;
    if (config.idToken === undefined) return this.#idTokenOfLogin();
    const idToken = (await isExpired(config.idToken)) ? await readIdToken() : config.idToken;
    return requireIdToken(idToken, config);
  }

  /** Exchanges an ID token for the assertion; rejects if the provider refuses, or answers with another one. */
  async requestAssertion(idToken: string, target: TokenTarget, clientId: string | undefined): Promise<string> {
    const { config, login, secrets } = this.#options;
    secrets.add([idToken]);
    try {
      const assertion = await exchange(config, idToken, target);
      secrets.add([assertion]);
      return await requireAssertion(assertion, { provider: config.issuer, audience: target.issuer, clientId });
    } catch (thrown) {
      // The login may have ended at the provider, or the provider refuses this server only.
      if (config.idToken === undefined && thrown instanceof OAuthError && thrown.code === "invalid_grant")
        await login.refresh().catch(() => {}); // the provider may be out of order; the refusal is reported
      throw new Error(
        `the identity provider ${config.issuer} gives no assertion for this server: ${describeRefusal(thrown)}`,
        {
          cause: thrown,
        },
      );
    }
  }

  async #idTokenOfLogin(): Promise<string | undefined> {
    const { config, login } = this.#options;
    const stored = await login.tokens();
    if (stored !== undefined) {
      const valid = await this.#findValid();
      if (valid !== undefined) return valid;
      if (!(await login.renew(stored))) return undefined; // the provider may only be out of order
      const renewed = await this.#findValid();
      if (renewed !== undefined) return renewed;
      await login.forget(); // some providers refresh a login without an ID token
    }
    if (!(await login.renew(undefined))) return undefined;
    const idToken = await this.#findValid();
    if (idToken !== undefined) return idToken;
    throw new Error(
      `the identity provider ${config.issuer} gives no valid ID token; add openid to the scope of identityProvider`,
    );
  }

  async #findValid(): Promise<string | undefined> {
    const { config, login } = this.#options;
    const idToken = (await login.tokens())?.id_token;
    return idToken === undefined || (await isExpired(idToken)) ? undefined : requireIdToken(idToken, config);
  }
}

async function exchange(config: IdentityProviderConfig, idToken: string, target: TokenTarget): Promise<string> {
  const fetchFn: FetchLike = guardedFetch("private"); // the owner has configured the address
  const metadata = await findMetadata(config, fetchFn);
  const { issuer: audience, resource, scope } = target;
  if (resource === undefined)
    throw new Error("the MCP server does not describe itself at /.well-known/oauth-protected-resource (RFC 9728)");
  const parameters = async (): Promise<URLSearchParams> =>
    new URLSearchParams({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      requested_token_type: ID_JAG_TYPE,
      audience,
      resource,
      ...(scope !== undefined && { scope }),
      subject_token: idToken,
      subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
    });
  const { scope: _ofLogin, ...client } = config;
  const flow = new GrantFlow({
    config: client,
    store: tokensInMemory(),
    owner: { server: config.issuer, caller: "" },
    redirectUrl: undefined,
    parameters,
  });
  return (await fetchToken(flow, config.issuer, { metadata, fetchFn })).access_token;
}

async function findMetadata(
  { issuer, tokenEndpoint }: IdentityProviderConfig,
  fetchFn: FetchLike,
): Promise<AuthorizationServerMetadata> {
  if (tokenEndpoint !== undefined)
    return { issuer, token_endpoint: tokenEndpoint, authorization_endpoint: issuer, response_types_supported: [] };
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn });
  if (metadata !== undefined) return metadata;
  throw new Error("it has no metadata at /.well-known/openid-configuration; set tokenEndpoint of identityProvider");
}
