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

/** Whose grant it is: of which server, and on whose behalf. */
export interface GrantOwner {
  /** URL of the MCP server. */
  readonly server: string;
  readonly caller: string;
}

/** One way through authorization, from the first question to the tokens; what it learns on the way ends with it. */
export class GrantFlow implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly #config: OAuthConfig;
  readonly #store: TokenStore;
  readonly #owner: GrantOwner;
  #verifier = "";
  #discovery: OAuthDiscoveryState | undefined;
  readonly #state = randomUUID();
  /** Where a person has to go; known after the first step. */
  authorizationUrl: URL | undefined;

  constructor(config: OAuthConfig, store: TokenStore, owner: GrantOwner, redirectUrl: string) {
    this.#config = config;
    this.#store = store;
    this.#owner = owner;
    this.redirectUrl = redirectUrl;
  }

  /** Empty for none. */
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

  async clientInformation({ issuer }: OAuthClientInformationContext = NOBODY): Promise<
    StoredOAuthClientInformation | undefined
  > {
    const { clientId, clientSecret, issuer: wanted } = this.#config;
    if (clientId === undefined) return parseClient(await this.#store.get(this.#clientKey(issuer)), this.redirectUrl);
    return {
      client_id: clientId,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
      ...(wanted !== undefined && { issuer: wanted }),
    };
  }

  async saveClientInformation(
    client: StoredOAuthClientInformation,
    { issuer }: OAuthClientInformationContext = NOBODY,
  ): Promise<void> {
    if (this.#config.clientId !== undefined) return; // what was configured is not ours to keep
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
    // It is opened on a person's machine: anything but a page could start a program.
    if (!/^https?:$/.test(authorizationUrl.protocol)) throw new Error("the server names no page to allow access on");
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

  /** What the browser came back with; throws if it is no answer to this flow, or a no. */
  readAnswer({ searchParams }: URL): { readonly authorizationCode: string; readonly iss?: string } {
    const [code, error, iss] = ["code", "error", "iss"].map((name) => searchParams.get(name) ?? undefined);
    if (searchParams.get("state") !== this.#state) throw new Error("the answer belongs to another question");
    if (code === undefined) throw new Error(`access was refused (${error ?? "no code"})`);
    return { authorizationCode: code, ...(iss !== undefined && { iss }) };
  }

  /** Under which the tokens are kept. Their issuer stands in them: they are never sent to another one. */
  static key({ server, caller }: GrantOwner): string {
    return `tokens ${server} ${caller}`;
  }

  #clientKey(issuer: string): string {
    return `client ${issuer} ${this.#owner.caller}`;
  }
}

const NOBODY: OAuthClientInformationContext = { issuer: "" };

/** What was granted, and the address for which it was. */
export interface OAuthGrant {
  readonly redirectUrl: string;
  readonly tokens: StoredOAuthTokens;
}

export function parseGrant(kept: unknown): OAuthGrant | undefined {
  if (!isRecord(kept) || !isRecord(kept["tokens"]) || typeof kept["tokens"]["access_token"] !== "string")
    return undefined;
  return typeof kept["redirectUrl"] === "string" ? (kept as unknown as OAuthGrant) : undefined;
}

/** A registration is of use only with the address for which it was made. */
function parseClient(kept: unknown, redirectUrl: string): StoredOAuthClientInformation | undefined {
  if (!isRecord(kept) || kept["redirectUrl"] !== redirectUrl) return undefined;
  const { client } = kept;
  return isRecord(client) && typeof client["client_id"] === "string"
    ? (client as unknown as StoredOAuthClientInformation)
    : undefined;
}
