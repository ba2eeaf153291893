/** An order to the thread that compiles documents. */
export interface CompileOrder {
  /** The document: a URL of http, https or file. */
  readonly document: string;
  readonly isPrivate: boolean;
  /** The file of a JSON patch, which changes the document before it is compiled. */
  readonly patch?: string;
  /** The names that operations had before, by verb and path. */
  readonly names: readonly (readonly [operation: string, name: string])[];
  /** The file to write the catalog to. */
  readonly target: string;
}

export interface CompiledReport {
  readonly kind: "compiled";
  /** The SHA-256 digest of the document with its files. */
  readonly digest: string;
}

/** The answer of the thread. */
export type CompileReport = CompiledReport | { readonly kind: "failed"; readonly error: string };
