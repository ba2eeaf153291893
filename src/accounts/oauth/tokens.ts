/** The tokens of a connection, as they are stored encrypted. Times are in milliseconds since 1970, by the clock of the process that got them. */
export interface OAuthTokens {
  /** Secret. */
  readonly access: string;
  /** Secret. */
  readonly refresh?: string;
  readonly scopes: readonly string[];
  readonly received: number;
  /** When the access token ends; `undefined` if the provider does not say so. */
  readonly expires?: number;
  /** The service had refused the token before this one. */
  readonly isAfterRefusal?: true;
}

/** The tokens that a provider has granted, and for whom. */
export interface Grant {
  readonly tokens: OAuthTokens;
  /** The user at the provider, if it says who it is. */
  readonly label?: string;
}
