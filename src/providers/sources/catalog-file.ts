import { closeSync, fstatSync, openSync, readSync } from "node:fs";

import { isRecord } from "../../model/json.ts";
import type { SecurityScheme } from "./compile/security-schemes.ts";
import type { Definition } from "../../shared/changes/definition-changes.ts";

/** Bytes of an operation, and of the types that its arguments, or its result, refer to: more takes too long when it is called. */
export const MAX_OPERATION_BYTES = 256 << 10;

/** The bytes in front of the index: its length. */
export const HEAD_BYTES = 4;

/** Where a part of the catalog stands behind the index. */
export type Extent = readonly [start: number, length: number];

/** Facts about an operation that are in memory without reading it. */
export interface OperationRow {
  /** The name of its method: `repos_get`; of a root field of GraphQL, `query:issues`. */
  readonly name: string;
  /** A verb of HTTP in lower case, or `query` or `mutation`. */
  readonly verb: string;
  /** The template of its path; of a root field of GraphQL, its name. */
  readonly path: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly isDeprecated: boolean;
  /** Its own servers, where the document names some. */
  readonly servers: readonly string[];
  /** The scopes of OAuth that it asks for; absent if it asks for none. */
  readonly scopes?: readonly string[];
  /** Its schema has one type for queries and mutations, so that also a query with this root field may change something. */
  readonly isOfMutations?: true;
  /** The names of the security schemes that a request needs together; absent if it needs none. */
  readonly security?: readonly string[];
  readonly argumentNames: readonly string[];
  readonly at: Extent;
  /** The digest of all that its definition says, with its types. */
  readonly digest: string;
}

/** The facts of a document that its catalog begins with. */
export interface CatalogHead {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly servers: readonly string[];
  /** Parts that are left out or changed, each with its location. */
  readonly problems: readonly string[];
  /** The security schemes of an OpenAPI document. */
  readonly schemes?: Readonly<Record<string, SecurityScheme>>;
  /** Where the whole schema stands, in the catalog of a GraphQL API. */
  readonly schema?: Extent;
}

/** The index of a catalog. */
export interface CatalogIndex extends CatalogHead {
  /** Changes with each change of what a catalog contains; a catalog of another format is made again. */
  readonly format: string;
  readonly operations: readonly OperationRow[];
  /** Each named type: where it stands, and the names that it refers to. */
  readonly definitions: Readonly<Record<string, readonly [...Extent, references: readonly string[]]>>;
}

/** A file of which only the index is in memory. */
export interface CatalogFile {
  readonly index: CatalogIndex;
  /** The number of its file, which another one has when it is replaced. */
  readonly inode: number;
  /** Reads a part as it was written. */
  readPart(extent: Extent): string;
  close(): void;
}

/** A catalog whose operations can be compared with those of another one. */
export interface SourceCatalog extends CatalogFile {
  /** Returns the definition of an operation, with its types, for describing its changes. */
  readDefinition(row: OperationRow): Definition;
}

/** Opens a catalog file. Throws for one that is missing, cut or of another format. */
export function openCatalogFile(file: string, format: string): CatalogFile {
  const descriptor = openSync(file, "r");
  try {
    const length = readBytes(descriptor, 0, HEAD_BYTES).readUInt32LE();
    const index = JSON.parse(readBytes(descriptor, HEAD_BYTES, length).toString()) as unknown;
    if (!isRecord(index) || index["format"] !== format) throw new Error("another format");
    return createReader(descriptor, HEAD_BYTES + length, index as unknown as CatalogIndex);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** True if two catalogs have the same operations, with all that their definitions say. */
export function hasSameOperations({ index: one }: CatalogFile, { index: other }: CatalogFile): boolean {
  const digests = new Map(one.operations.map(({ name, digest }) => [name, digest]));
  return (
    one.operations.length === other.operations.length &&
    other.operations.every(({ name, digest }) => digests.get(name) === digest)
  );
}

function createReader(descriptor: number, base: number, index: CatalogIndex): CatalogFile {
  let isClosed = false;
  return {
    index,
    inode: fstatSync(descriptor).ino,
    readPart([start, length]) {
      // The number of a closed file may be that of another one.
      if (isClosed) throw new Error("The catalog is closed");
      return readBytes(descriptor, base + start, length).toString();
    },
    close() {
      if (!isClosed) closeSync(descriptor);
      isClosed = true;
    },
  };
}

/** Levels of named types in the type of a result. All of them would be 58,000 tokens for a customer of Stripe. */
export const OUTPUT_LEVELS = 2;

/** Returns the names that are reached, and whether they are within the levels and the limit of bytes. */
export function collectNames(
  first: readonly string[],
  definitions: CatalogIndex["definitions"],
  levels: number,
): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  let open = first;
  let bytesLeft = MAX_OPERATION_BYTES;
  for (let level = 0; open.length > 0; level++) {
    const next: string[] = [];
    for (const name of open) {
      // Data of a document can look like a reference.
      const definition = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
      if (found.has(name) || definition === undefined) continue;
      const [, length, references] = definition;
      const isWhole = level < levels && length <= bytesLeft;
      found.set(name, isWhole);
      if (!isWhole) continue;
      bytesLeft -= length;
      next.push(...references);
    }
    open = next;
  }
  return found;
}

function readBytes(descriptor: number, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const count = readSync(descriptor, bytes, read, length - read, from + read);
    if (count === 0) throw new Error("the file is cut");
    read += count;
  }
  return bytes;
}
