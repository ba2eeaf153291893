import type { SchemaConverter } from "./convert-schema.ts";
import type { DocumentFiles } from "./document-files.ts";
import type { FindSecurity } from "./security-schemes.ts";
import type { FindScopes } from "./security-scopes.ts";
import type { Verb } from "../openapi/operation.ts";

type RawObject = Readonly<Record<string, unknown>>;

/** An operation of a document: its object, and that of its path, with their files. */
export interface FoundOperation {
  readonly verb: Verb;
  readonly path: string;
  readonly operation: RawObject;
  readonly file: string;
  readonly item: RawObject;
  readonly itemFile: string;
}

/** Facts that the operations of a document share. */
export interface DocumentContext {
  readonly files: DocumentFiles;
  readonly schemas: SchemaConverter;
  readonly isSwagger: boolean;
  /** The document's own `consumes` and `produces`, of Swagger 2.0. */
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  /** The parameters that carry credentials: `query api_key`. They are no arguments. */
  readonly credentials: ReadonlySet<string>;
  readonly findScopes: FindScopes;
  readonly findSecurity: FindSecurity;
  /** Reports what of the operation is left out. */
  readonly report: (problem: string) => void;
}

/** A parameter object, and its file. */
export interface FoundParameter {
  readonly value: RawObject & { readonly name: string };
  readonly file: string;
}
