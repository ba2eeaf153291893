/** The OAuth 2.1 settings of a remote server. Missing values are discovered or registered. */
export interface OAuthConfig extends ClientCredentials {
  /** HTTPS URL of the client metadata document, for servers that accept the URL as the client id. */
  readonly clientMetadataUrl?: string;
  /** The user allows access in a browser (the default), or the client's own credentials or a signed assertion are enough. */
  readonly grant?: "authorization_code" | "client_credentials" | "jwt_bearer";
  /** With the grant `jwt_bearer`: a JWT of the platform on which this client runs. */
  readonly assertion?: string;
  /** With the grant `jwt_bearer`: the provider that vouches for the user. */
  readonly identityProvider?: IdentityProviderConfig;
  /** Tokens are bound to a key of this client (RFC 9449): always or never; by default, if the server asks for it. */
  readonly dpop?: boolean;
  /** The only authorization server that may see the client's credentials. */
  readonly issuer?: string;
  /** Port on the loopback address to which the browser returns; a free one by default. */
  readonly callbackPort?: number;
  /** The server may name authorization servers in a private network. Always true for a server in such a network. */
  readonly allowPrivate?: boolean;
}

/** How this client is known to an authorization server. */
interface ClientCredentials {
  /** The id of a pre-registered client; without it, a client metadata document or dynamic registration is used. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** PEM; signs a JWT in place of the client secret. */
  readonly privateKey?: string;
  /** The signature algorithm; ES256 by default. */
  readonly algorithm?: string;
  /** Separated by spaces. */
  readonly scope?: string;
}

/** The identity provider of a company, where this client is registered and the user logs in. */
export interface IdentityProviderConfig extends ClientCredentials {
  readonly issuer: string;
  readonly clientId: string;
  /** Where ID tokens are exchanged; by default, the address in the metadata of the issuer. */
  readonly tokenEndpoint?: string;
  /** The user's ID token; by default, the user logs in with a browser. */
  readonly idToken?: string;
}
