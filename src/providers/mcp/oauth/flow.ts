import { randomUUID } from "node:crypto";

import {
  type AddClientAuthentication,
  createPrivateKeyJwtAuth,
  type DpopSession,
  type OAuthClientInformationContext,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";

import { isRecord } from "../../../model/json.ts";
import { hashValue } from "../../../shared/digest.ts";
import { quote } from "../../../shared/format-text.ts";
import type { OAuthConfig } from "./config.ts";
import { isSameIssuer, readUser } from "./identity-tokens.ts";
import { createProofKey, parseProofKey, type ProofKey, ProofSessions } from "./proof-keys.ts";
import type { TokenStore } from "../../../model/account.ts";

/** The owner of a grant: the server, and the caller on whose behalf it is used. */
export interface GrantOwner {
  /** URL of the MCP server, or the issuer of an identity provider. */
  readonly server: string;
  readonly caller: string;
  /** The id of this client at an identity provider. */
  readonly identityClient?: string;
}

/** The authorization server and the resource for which a token is requested. */
export interface TokenTarget {
  /** Issuer of the token. */
  readonly issuer: string;
  /** As the metadata of the issuer names it. */
  readonly tokenEndpoint: string | undefined;
  /** The MCP server as its metadata names it; `undefined` if it has none. */
  readonly resource: string | undefined;
  /** Separated by spaces. */
  readonly scope: string | undefined;
}

export interface FlowOptions {
  readonly config: OAuthConfig;
  readonly store: TokenStore;
  readonly owner: GrantOwner;
  /** `undefined` for a grant that needs no browser. */
  readonly redirectUrl: string | undefined;
  /** The parameters of the token request; by default, those for the code that the browser brings. */
  readonly parameters?: (target: TokenTarget) => Promise<URLSearchParams>;
  readonly proofs?: ProofSessions;
  /** The server asks for tokens that are bound to a key. */
  readonly isProofAsked?: boolean;
}

/** One authorization flow, from discovery to tokens. Its intermediate state ends with it. */
export class GrantFlow implements OAuthClientProvider {
  readonly redirectUrl: string | undefined;
  readonly addClientAuthentication?: AddClientAuthentication;
  /** An identity provider has no resource. */
  readonly validateResourceURL?: () => Promise<undefined>;
  readonly #options: FlowOptions;
  readonly #config: OAuthConfig;
  readonly #store: TokenStore;
  #verifier = "";
  #discovery: OAuthDiscoveryState | undefined;
  #issuer = "";
  #resource: string | undefined;
  #proofKey: ProofKey | undefined;
  readonly #state = randomUUID();
  /** The page for the user; set after the first step. */
  authorizationUrl: URL | undefined;

  constructor(options: FlowOptions) {
    const { config, store, owner, redirectUrl } = options;
    const { clientId, privateKey, algorithm: alg = "ES256" } = config;
    this.#options = options;
    this.#config = config;
    this.#store = store;
    this.redirectUrl = redirectUrl;
    if (privateKey !== undefined && clientId !== undefined)
      this.addClientAuthentication = createPrivateKeyJwtAuth({ issuer: clientId, subject: clientId, privateKey, alg });
    if (owner.identityClient === undefined) return;
    this.validateResourceURL = async () => undefined;
    this.#discovery = { authorizationServerUrl: owner.server, resourceMetadata: { resource: owner.server } };
  }

  /** Empty if not configured. */
  get clientMetadataUrl(): string {
    return this.#config.clientMetadataUrl ?? "";
  }

  get clientMetadata(): OAuthClientMetadata {
    const { scope } = this.#config;
    const rest = { token_endpoint_auth_method: "none", ...(scope !== undefined && { scope }) };
    if (this.redirectUrl === undefined)
      return { client_name: "Skillgate", redirect_uris: [], grant_types: [], ...rest };
    return {
      client_name: "Skillgate",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      ...rest,
    };
  }

  state(): string {
    return this.#state;
  }

  async clientInformation({ issuer }: OAuthClientInformationContext = NO_ISSUER): Promise<
    StoredOAuthClientInformation | undefined
  > {
    const { clientId, clientSecret, issuer: expectedIssuer = issuer } = this.#config;
    if (!isSameIssuer(issuer, expectedIssuer))
      throw new Error(
        `the server names the authorization server ${quote(issuer)}, and issuer allows only ${quote(expectedIssuer)}`,
      );
    if (clientId === undefined) return parseClient(await this.#store.get(this.#clientKey(issuer)), this.redirectUrl);
    return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }), issuer };
  }

  async saveClientInformation(
    client: StoredOAuthClientInformation,
    { issuer }: OAuthClientInformationContext = NO_ISSUER,
  ): Promise<void> {
    if (this.#config.clientId !== undefined) return; // a configured client is not stored
    await this.#store.set(this.#clientKey(issuer), { redirectUrl: this.redirectUrl, client });
  }

  async tokens(context?: OAuthClientInformationContext): Promise<StoredOAuthTokens | undefined> {
    const tokens = (await this.#readGrant())?.tokens;
    return context === undefined || tokens?.issuer === context.issuer ? tokens : undefined;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    const { config, owner, redirectUrl } = this.#options;
    const isBound = isBoundToKey(tokens);
    if (isBound && this.#proofKey === undefined)
      throw new Error("the authorization server gives a token that is bound to a key, which was not asked for");
    if (!isBound && config.dpop === true)
      throw new Error(
        `the authorization server gives a token that is not bound to a key (token_type ${quote(tokens.token_type)}), and dpop is true`,
      );
    const mark = await getGrantMark(config);
    await this.#store.set(GrantFlow.key(owner), {
      ...(redirectUrl !== undefined && { redirectUrl }),
      ...(mark !== undefined && { mark }),
      tokens,
      ...(isBound && { proofKey: this.#proofKey }),
    });
  }

  /** Returns the parameters of the token request; `undefined` for the code that the browser brings. */
  async prepareTokenRequest(scope?: string): Promise<URLSearchParams | undefined> {
    const tokenEndpoint = this.#discovery?.authorizationServerMetadata?.token_endpoint;
    const target = { issuer: this.#issuer, tokenEndpoint, resource: this.#resource, scope };
    const parameters = await this.#options.parameters?.(target);
    if (scope !== undefined && scope !== "") parameters?.set("scope", scope);
    return parameters;
  }

  /** Signs the proofs of token requests, if tokens are to be bound to a key. */
  async dpop(): Promise<DpopSession | undefined> {
    const { config, isProofAsked = false, proofs = new ProofSessions() } = this.#options;
    if (config.dpop === false) return undefined;
    this.#proofKey ??= (await this.#readGrant())?.proofKey; // the refresh token is bound to it
    const { resourceMetadata, authorizationServerMetadata } = this.#discovery ?? {};
    const isWanted =
      config.dpop === true || isProofAsked || resourceMetadata?.dpop_bound_access_tokens_required === true;
    if (isWanted) this.#proofKey ??= await createProofKey(getAlgorithms(authorizationServerMetadata));
    return this.#proofKey && proofs.open(this.#proofKey);
  }

  saveAuthorizationServerUrl(issuer: string): void {
    this.#issuer = issuer;
  }

  saveResourceUrl(resource: string): void {
    this.#resource = resource;
  }

  redirectToAuthorization(authorizationUrl: URL): void {
    // The URL is opened on the user's machine: another scheme could start a program.
    if (!/^https?:$/.test(authorizationUrl.protocol))
      throw new Error("the server's authorization URL is not an http or https address");
    this.authorizationUrl = authorizationUrl;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  async invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    const issuer =
      this.#discovery?.authorizationServerMetadata?.issuer ?? this.#discovery?.authorizationServerUrl ?? "";
    if (scope === "all" || scope === "client") await this.#store.delete(this.#clientKey(issuer));
    if (scope === "all" || scope === "tokens") await this.#store.delete(GrantFlow.key(this.#options.owner));
  }

  /** Reads the answer from the redirect URL; throws if it belongs to another flow or access was refused. */
  readAnswer({ searchParams }: URL): { readonly authorizationCode: string; readonly iss?: string } {
    const [code, error, iss] = ["code", "error", "iss"].map((name) => searchParams.get(name) ?? undefined);
    if (searchParams.get("state") !== this.#state) throw new Error("the answer belongs to another login");
    if (code === undefined) throw new Error(`access was refused (${error ?? "no code"})`);
    return { authorizationCode: code, ...(iss !== undefined && { iss }) };
  }

  /** Returns the key of the stored tokens. Tokens include their issuer and are never sent to another one. */
  static key({ server, caller, identityClient }: GrantOwner): string {
    return identityClient === undefined
      ? `tokens ${server} ${caller}`
      : `identity ${server} ${identityClient} ${caller}`;
  }

  #clientKey(issuer: string): string {
    return `client ${issuer} ${this.#options.owner.caller}`;
  }

  async #readGrant(): Promise<OAuthGrant | undefined> {
    const { config, store, owner } = this.#options;
    return parseGrant(await store.get(GrantFlow.key(owner)), config);
  }
}

/** The algorithms for proofs that an authorization server accepts; `undefined` if it does not list them. */
function getAlgorithms(metadata: OAuthDiscoveryState["authorizationServerMetadata"]): readonly string[] | undefined {
  return metadata !== undefined && "dpop_signing_alg_values_supported" in metadata
    ? metadata.dpop_signing_alg_values_supported
    : undefined;
}

const NO_ISSUER: OAuthClientInformationContext = { issuer: "" };

/** The granted tokens, and the redirect URL that was used. */
export interface OAuthGrant {
  readonly redirectUrl?: string;
  readonly tokens: StoredOAuthTokens;
  /** The key to which the tokens are bound. */
  readonly proofKey?: ProofKey;
}

/** Parses stored tokens; `undefined` for those of another client, or of a grant that the settings no longer have. */
export async function parseGrant(stored: unknown, config: OAuthConfig): Promise<OAuthGrant | undefined> {
  if (!isRecord(stored) || !isRecord(stored["tokens"]) || typeof stored["tokens"]["access_token"] !== "string")
    return undefined;
  const { redirectUrl, mark } = stored;
  if (mark !== (await getGrantMark(config)) || (mark === undefined && typeof redirectUrl !== "string"))
    return undefined;
  const tokens = stored["tokens"] as unknown as StoredOAuthTokens;
  const proofKey = parseProofKey(stored["proofKey"]);
  const isBound = isBoundToKey(tokens);
  if ((isBound && proofKey === undefined) || (config.dpop ?? isBound) !== isBound) return undefined;
  return {
    ...(typeof redirectUrl === "string" && { redirectUrl }),
    tokens,
    ...(proofKey !== undefined && { proofKey }),
  };
}

/** Identifies the settings of a grant that needs no browser, and their user: tokens of other settings are not used. */
async function getGrantMark(config: OAuthConfig): Promise<string | undefined> {
  const { grant = "authorization_code", clientId, scope, issuer, identityProvider, assertion } = config;
  if (grant === "authorization_code") return undefined;
  const provider = identityProvider && [identityProvider.issuer, identityProvider.clientId];
  const user = await readUser(identityProvider?.idToken ?? assertion);
  return hashValue([grant, clientId, scope, issuer, provider, user]);
}

export function isBoundToKey({ token_type: type }: { readonly token_type?: unknown }): boolean {
  return typeof type === "string" && type.toLowerCase() === "dpop";
}

/** Parses a stored registration; it is valid only with the redirect URL for which it was made. */
function parseClient(stored: unknown, redirectUrl: string | undefined): StoredOAuthClientInformation | undefined {
  if (!isRecord(stored) || stored["redirectUrl"] !== redirectUrl) return undefined;
  const { client } = stored;
  return isRecord(client) && typeof client["client_id"] === "string"
    ? (client as unknown as StoredOAuthClientInformation)
    : undefined;
}
