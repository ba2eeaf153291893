import type { FindAccount } from "../../model/account.ts";
import type { ProvidedSkill } from "../../model/skill.ts";
import type { OperationRow, SourceCatalog } from "./catalog-file.ts";
import type { CompiledReport, KnownDocument } from "./compile/protocol.ts";
import { type ApiClient, createApiClient } from "./http/api-client.ts";
import type { OfferedOperations, OperationChange } from "./operation-changes.ts";
import type { SourceConfig } from "./source-config.ts";

/** The parts of the runtime that sources use. */
export interface SourceServices {
  /** The largest body of an answer, in bytes. */
  readonly answerBytes: number;
  readonly findAccount: FindAccount;
}

/** A document that is to be read. */
export interface ReadingOrder {
  /** The document that was read last. */
  readonly last?: KnownDocument;
  /** The names that operations had before, by `getOperationKey`. */
  readonly names: Readonly<Record<string, string>>;
  /** The file to write the catalog to. */
  readonly target: string;
}

/** The operations of a catalog, and how they differ from the accepted ones. */
export interface SkillOffer<Catalog extends SourceCatalog> extends OfferedOperations<Catalog> {
  readonly changes: readonly OperationChange[];
}

/** The connections of a source to its servers, for one catalog. */
export interface ConnectedSource<Catalog extends SourceCatalog> {
  /** The base of its requests; `undefined` if neither the settings nor the document name one that may be used. */
  readonly server: URL | undefined;
  /** The first server of the document. */
  readonly documentServer: URL | undefined;
  /** Says which operations are at servers that the settings do not name. */
  describeMissing(rows: Iterable<OperationRow>): readonly string[];
  createSkill(offer: SkillOffer<Catalog>): ProvidedSkill;
  close(): void | Promise<void>;
}

/** The parts of a source that depend on its kind. */
export interface SourceKind<Catalog extends SourceCatalog> {
  /** The word for its document in messages. */
  readonly noun: string;
  /** Throws for a file that is missing, cut or of another format. */
  openCatalog(file: string): Catalog;
  /** Reads the document, and writes its catalog. Rejects with an error for people. */
  compile(
    config: SourceConfig,
    order: ReadingOrder,
    context: SourceServices & { readonly signal: AbortSignal },
  ): Promise<CompiledReport>;
  connect(config: SourceConfig, catalog: Catalog, services: SourceServices): ConnectedSource<Catalog>;
}

/** Creates the client for the requests of a source to one server. */
export function createSourceClient(
  { headers, isPrivate, idempotencyHeader }: SourceConfig,
  server: URL,
  { answerBytes }: SourceServices,
): ApiClient {
  return createApiClient({
    server: server.href,
    headers: async () => headers,
    allowsPrivate: isPrivate,
    limits: { maxBytes: answerBytes },
    ...(idempotencyHeader !== undefined && { idempotencyHeader }),
  });
}
