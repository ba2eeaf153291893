/** The OAuth 2.1 settings of a remote server. Missing values are discovered or registered. */
export interface OAuthConfig {
  /** The id of a pre-registered client; without it, a client metadata document or dynamic registration is used. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** HTTPS URL of the client metadata document, for servers that accept the URL as the client id. */
  readonly clientMetadataUrl?: string;
  /** Separated by spaces. */
  readonly scope?: string;
  /** The user allows access in a browser (the default), or the client's own credentials are enough. */
  readonly grant?: "authorization_code" | "client_credentials";
  /** PEM; signs a JWT in place of the client secret, with client credentials. */
  readonly privateKey?: string;
  /** The signature algorithm; ES256 by default. */
  readonly algorithm?: string;
  /** The only authorization server that may see the client's credentials. */
  readonly issuer?: string;
  /** Port on the loopback address to which the browser returns; a free one by default. */
  readonly callbackPort?: number;
  /** The server may name authorization servers in a private network. Always true for a server in such a network. */
  readonly allowPrivate?: boolean;
}
