/** An order to the thread that compiles documents. */
export interface CompileOrder {
  /** The document: a URL of http, https or file. */
  readonly document: string;
  readonly isPrivate: boolean;
  /** The file of a JSON patch, which changes the document before it is compiled. */
  readonly patch?: string;
  /** The document that was read last, if it need not be compiled again when it is the same. */
  readonly last?: KnownDocument;
  /** The names that operations had before, by verb and path. */
  readonly names: readonly (readonly [operation: string, name: string])[];
  /** The file to write the catalog to. */
  readonly target: string;
}

/** A document as it was read. */
export interface KnownDocument {
  /** The SHA-256 digest of the document with its files. */
  readonly digest: string;
  /** The headers `ETag` and `Last-Modified` of a document in one file, which a server compares. */
  readonly validators?: Validators;
}

/** The headers by which a server says that a file is as it was. */
export interface Validators {
  readonly etag?: string;
  readonly modified?: string;
}

export type CompiledReport = KnownDocument & { readonly kind: "compiled" | "unchanged" };

/** The answer of the thread. */
export type CompileReport = CompiledReport | { readonly kind: "failed"; readonly error: string };
