import { fileURLToPath } from "node:url";

import type { ToolOverride } from "../../model/tools/tool-definition.ts";
import type { ChangePolicy } from "../../shared/changes/definition-changes.ts";
import type { SourceEffect } from "../../model/tools/source-effects.ts";
import type { QueryRequests } from "../../model/tools/source-requests.ts";
import type { PageSetting } from "../../model/tools/source-pages.ts";

/** The kinds of sources: APIs that an OpenAPI document describes, and those of GraphQL. */
export type SourceType = "openapi" | "graphql";

/** A source of the settings: an API that is described by a document. */
export interface SourceConfig {
  readonly kind: SourceType;
  /** Its name in the settings. */
  readonly name: string;
  /** The name of the skill: `GithubAPI`; of a GraphQL API, `GithubGraph`. */
  readonly skill: string;
  /** Where the document or the schema is: a URL of http, https or file. That of the endpoint itself asks it for its schema. */
  readonly document: string;
  /** The base of all requests; by default, the first server of the document. The endpoint of a GraphQL API, which has no other. */
  readonly server?: string;
  /** Further servers, where operations of the document have their own. */
  readonly servers: readonly string[];
  /** Headers of all requests, credentials among them. They are secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** The accounts with whose credentials requests are made, by pattern; the last pattern that matches decides. */
  readonly accounts: readonly (readonly [pattern: string, account: string])[];
  /** The document or the server may be at an address of a private network. */
  readonly isPrivate: boolean;
  /** The file of a JSON patch (RFC 6902), which changes the document before it is compiled. Absolute. */
  readonly patch?: string;
  /** Names and texts in place of those of methods, by the names of the document. */
  readonly methods: Readonly<Record<string, ToolOverride>>;
  /** Patterns of the operations that become methods; all of them without this. */
  readonly include?: readonly string[];
  /** Patterns of the operations that do not become methods. */
  readonly exclude: readonly string[];
  /** Effects of operations, by pattern; the last pattern that matches decides. */
  readonly effects: readonly (readonly [pattern: string, effect: SourceEffect])[];
  /** How an operation that is not as it was accepted is treated. */
  readonly changes: ChangePolicy;
  /** How the pages of operations follow each other, by pattern; the last pattern that matches decides. */
  readonly pages: readonly (readonly [pattern: string, setting: PageSetting])[];
  /** A document of a URL is read again after this time; without it, on demand only. */
  readonly refreshMs?: number;
  /** How queries of a GraphQL API are sent; `post` by default. */
  readonly requests?: QueryRequests;
  /** The name of a header that makes a repeated request harmless. */
  readonly idempotencyHeader?: string;
}

/** Returns a document's file, or its address without what may hold a key, for people and models. */
export function describeDocument(document: string): string {
  const { protocol, origin, pathname } = new URL(document);
  return protocol === "file:" ? fileURLToPath(document) : origin + pathname;
}

/** Lists the servers that may get the requests of an API: those of the settings, and those of its document. */
export function describeDestination(
  { server, servers, document }: Pick<SourceConfig, "server" | "servers" | "document">,
  ofDocument: readonly string[],
): string {
  const origins = server === undefined ? [...ofDocument, describeDocument(document)] : [server];
  return [...origins, ...servers].join(", ");
}
