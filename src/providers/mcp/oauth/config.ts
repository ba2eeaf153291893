/** How a remote server is authorized by OAuth 2.1. What is not said is found out, or registered. */
export interface OAuthConfig {
  /** As registered beforehand; without it, a client metadata document or a registration by itself. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** HTTPS address of a document that describes the client, for servers that take its address as the id. */
  readonly clientMetadataUrl?: string;
  /** Separated by spaces. */
  readonly scope?: string;
  /** A person allows it in a browser (the default), or the client's own credentials are enough. */
  readonly grant?: "authorization_code" | "client_credentials";
  /** PEM; signs in place of a secret, with client credentials. */
  readonly privateKey?: string;
  /** Of the signature; ES256 by default. */
  readonly algorithm?: string;
  /** The only authorization server that may see the client's credentials. */
  readonly issuer?: string;
  /** Port on the loopback address to which the browser comes back; a free one by default. */
  readonly callbackPort?: number;
  /** The server may name authorization servers in one's own network. It may if it is there itself. */
  readonly allowPrivate?: boolean;
}
