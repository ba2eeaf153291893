import type { CredentialRefusal } from "../../../model/account.ts";

/** An order to the thread that compiles documents. */
export type CompileOrder = ApiOrder | SchemaOrder;

interface CommonOrder {
  /** The document: a URL of http, https or file. */
  readonly document: string;
  readonly isPrivate: boolean;
  /** The document that was read last, if it need not be compiled again when it is the same. */
  readonly last?: KnownDocument;
  /** The file to write the catalog to. */
  readonly target: string;
}

/** An order for an OpenAPI document. */
export interface ApiOrder extends CommonOrder {
  readonly kind: "openapi";
  /** The file of a JSON patch, which changes the document before it is compiled. */
  readonly patch?: string;
  /** The names that operations had before, by verb and path. */
  readonly names: readonly (readonly [operation: string, name: string])[];
}

/** An order for the schema of a GraphQL API. */
export interface SchemaOrder extends CommonOrder {
  readonly kind: "graphql";
  /** The endpoint whose schema it is. */
  readonly endpoint: string;
  /** Present if the document is the endpoint itself, which describes its schema. */
  readonly introspection?: IntrospectionRequest;
}

/** The parts of a request for a schema that the owner fills in. Secret. */
export interface IntrospectionRequest {
  /** The address, with parameters of the account. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
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
export type CompileReport = CompiledReport | FailedReport;

interface FailedReport {
  readonly kind: "failed";
  readonly error: string;
  /** Present if a server refused the credential of the request. */
  readonly refusal?: CredentialRefusal;
}
