import { randomUUID } from "node:crypto";

import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";

import { isRecord } from "../../../model/json.ts";
import type { OAuthConfig } from "./config.ts";
import type { TokenStore } from "./token-file.ts";

/** The owner of a grant: the server, and the caller on whose behalf it is used. */
export interface GrantOwner {
  /** URL of the MCP server. */
  readonly server: string;
  readonly caller: string;
}

/** One authorization flow, from discovery to tokens. Its intermediate state ends with it. */
export class GrantFlow implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly #config: OAuthConfig;
  readonly #store: TokenStore;
  readonly #owner: GrantOwner;
  #verifier = "";
  #discovery: OAuthDiscoveryState | undefined;
  readonly #state = randomUUID();
  /** The page for the user; set after the first step. */
  authorizationUrl: URL | undefined;

  constructor(config: OAuthConfig, store: TokenStore, owner: GrantOwner, redirectUrl: string) {
    this.#config = config;
    this.#store = store;
    this.#owner = owner;
    this.redirectUrl = redirectUrl;
  }

  /** Empty if not configured. */
  get clientMetadataUrl(): string {
    return this.#config.clientMetadataUrl ?? "";
  }

  get clientMetadata(): OAuthClientMetadata {
    const { scope } = this.#config;
    return {
      client_name: "Skillgate",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      ...(scope !== undefined && { scope }),
    };
  }

  state(): string {
    return this.#state;
  }

  async clientInformation({ issuer }: OAuthClientInformationContext = NO_ISSUER): Promise<
    StoredOAuthClientInformation | undefined
  > {
    const { clientId, clientSecret, issuer: expectedIssuer } = this.#config;
    if (clientId === undefined) return parseClient(await this.#store.get(this.#clientKey(issuer)), this.redirectUrl);
    return {
      client_id: clientId,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
      ...(expectedIssuer !== undefined && { issuer: expectedIssuer }),
    };
  }

  async saveClientInformation(
    client: StoredOAuthClientInformation,
    { issuer }: OAuthClientInformationContext = NO_ISSUER,
  ): Promise<void> {
    if (this.#config.clientId !== undefined) return; // a configured client is not stored
    await this.#store.set(this.#clientKey(issuer), { redirectUrl: this.redirectUrl, client });
  }

  async tokens(context?: OAuthClientInformationContext): Promise<StoredOAuthTokens | undefined> {
    const tokens = parseGrant(await this.#store.get(GrantFlow.key(this.#owner)))?.tokens;
    return context === undefined || tokens?.issuer === context.issuer ? tokens : undefined;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    await this.#store.set(GrantFlow.key(this.#owner), { redirectUrl: this.redirectUrl, tokens });
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
    if (scope === "all" || scope === "tokens") await this.#store.delete(GrantFlow.key(this.#owner));
  }

  /** Reads the answer from the redirect URL; throws if it belongs to another flow or access was refused. */
  readAnswer({ searchParams }: URL): { readonly authorizationCode: string; readonly iss?: string } {
    const [code, error, iss] = ["code", "error", "iss"].map((name) => searchParams.get(name) ?? undefined);
    if (searchParams.get("state") !== this.#state) throw new Error("the answer belongs to another login");
    if (code === undefined) throw new Error(`access was refused (${error ?? "no code"})`);
    return { authorizationCode: code, ...(iss !== undefined && { iss }) };
  }

  /** Returns the key of the stored tokens. Tokens include their issuer and are never sent to another one. */
  static key({ server, caller }: GrantOwner): string {
    return `tokens ${server} ${caller}`;
  }

  #clientKey(issuer: string): string {
    return `client ${issuer} ${this.#owner.caller}`;
  }
}

const NO_ISSUER: OAuthClientInformationContext = { issuer: "" };

/** The granted tokens, and the redirect URL that was used. */
export interface OAuthGrant {
  readonly redirectUrl: string;
  readonly tokens: StoredOAuthTokens;
}

export function parseGrant(stored: unknown): OAuthGrant | undefined {
  if (!isRecord(stored) || !isRecord(stored["tokens"]) || typeof stored["tokens"]["access_token"] !== "string")
    return undefined;
  return typeof stored["redirectUrl"] === "string" ? (stored as unknown as OAuthGrant) : undefined;
}

/** Parses a stored registration; it is valid only with the redirect URL for which it was made. */
function parseClient(stored: unknown, redirectUrl: string): StoredOAuthClientInformation | undefined {
  if (!isRecord(stored) || stored["redirectUrl"] !== redirectUrl) return undefined;
  const { client } = stored;
  return isRecord(client) && typeof client["client_id"] === "string"
    ? (client as unknown as StoredOAuthClientInformation)
    : undefined;
}
