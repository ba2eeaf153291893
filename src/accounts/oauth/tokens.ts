import { isRecord, isTextList } from "../../model/json.ts";

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

/** New tokens are requested this long before the access token ends. */
const EARLY_MS = 60_000;

/** True if new tokens should be requested: 60 s before the end, or after half of a life that is shorter than 2 minutes. */
export function isEnding({ received, expires }: OAuthTokens, now: number): boolean {
  return expires !== undefined && now >= expires - Math.min(EARLY_MS, (expires - received) / 2);
}

export function isOver({ expires }: OAuthTokens, now: number): boolean {
  return expires !== undefined && now >= expires;
}

/** Parses the decrypted value of a connection; `undefined` for another value. */
export function parseTokens(value: unknown): OAuthTokens | undefined {
  return isRecord(value) && typeof value["access"] === "string" && isTextList(value["scopes"])
    ? (value as unknown as OAuthTokens)
    : undefined;
}

export function listTokens({ access, refresh }: OAuthTokens): readonly string[] {
  return refresh === undefined ? [access] : [access, refresh];
}
