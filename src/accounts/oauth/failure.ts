/** Why a provider gave no tokens. Its message is one line, without tokens. */
export class OAuthFailure extends Error {
  /**
   * `refused`: the provider does not accept what was granted before, or the person has denied it; `unavailable`: it may work later;
   * `invalid`: the settings or an answer are wrong.
   */
  readonly kind: "refused" | "unavailable" | "invalid";
  /** The code of the provider: `invalid_grant`. */
  readonly code: string | undefined;
  /** Milliseconds after which the provider takes the request again, if it says so. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: OAuthFailure["kind"],
    message: string,
    { code, retryAfterMs }: { readonly code?: string; readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(message);
    this.kind = kind;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}
