/** A request to the API of a source, without what the owner adds to each request. */
export interface ApiRequest {
  readonly method: string;
  /** The operation, for messages and rate limits: `GET /repos/{owner}`. */
  readonly operation: string;
  /** Path with query, below the address of the server; begins with "/". */
  readonly target: string;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Returns the request with these fields of its body, in place of others with their names. Throws for a body without fields. */
  readonly withFields?: (fields: ReadonlyMap<string, string>) => ApiRequest;
}
