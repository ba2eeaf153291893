import { createHash, type Hash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

import { isRecord, type JsonSchema, toRecord } from "../../model/json.ts";
import { OMITTED_TYPE } from "../../model/skill.ts";
import { type CompiledDocument, type CompiledOperation, DocumentError } from "./compile/compile-document.ts";
import { walkObjects } from "./compile/document-files.ts";
import type { DescribedOperation } from "./openapi/operation.ts";
import { toPlainName } from "./pages/cursor-members.ts";

/** Changes with each change of what a catalog contains; a catalog of another format is made again. */
export const CATALOG_FORMAT = "skillgate-openapi-7";

/** Bytes of a catalog: forty times that of the largest public document (GitHub, 4 MB). */
const MAX_BYTES = 160 << 20;

/** Bytes of the index, which is in memory: thirty times that of GitHub. */
const MAX_INDEX_BYTES = 8 << 20;

/** Bytes of an operation, and of the types that its arguments, or its result, refer to: more takes too long when it is called. */
const MAX_OPERATION_BYTES = 256 << 10;

/** The bytes in front of the index: its length. */
const HEAD_BYTES = 4;

/** Where a part of the catalog stands behind the index. */
type Extent = readonly [start: number, length: number];

/** Facts about an operation that are in memory without reading it. */
export interface OperationRow {
  readonly name: string;
  readonly verb: string;
  readonly path: string;
  readonly summary: string;
  readonly argumentNames: readonly string[];
  readonly tags: readonly string[];
  readonly isDeprecated: boolean;
  readonly servers: readonly string[];
  /** The scopes of OAuth that it asks for. */
  readonly scopes?: readonly string[];
  /** The digest of all that its definition says, with its types. */
  readonly digest: string;
  readonly at: Extent;
}

/** The index of a catalog. */
export interface CatalogIndex extends Omit<CompiledDocument, "definitions"> {
  readonly format: string;
  readonly operations: readonly OperationRow[];
  /** Each named schema: where it stands, and the names that it refers to. */
  readonly definitions: Readonly<Record<string, readonly [...Extent, references: readonly string[]]>>;
}

/** 132 bits: two definitions with one digest cannot be found. */
const DIGEST_CHARACTERS = 22;

/** A row whose digest waits for the types of the document. */
interface WrittenRow {
  readonly row: Omit<OperationRow, "digest">;
  readonly hash: Hash;
  readonly types: readonly { readonly names: readonly string[]; readonly levels: number }[];
}

/** Collects the parts of a catalog. */
export class CatalogWriter {
  readonly #chunks: Buffer[] = [];
  readonly #rows: WrittenRow[] = [];
  #bytes = 0;
  #indexBytes = 0;

  /** Adds an operation, or says why it is left out. */
  add({ name, summary, tags, isDeprecated, servers, scopes, ...operation }: CompiledOperation): string | undefined {
    const { verb, path, input, output } = operation;
    const argumentNames = Object.keys(toRecord(input["properties"]));
    const bytes = Buffer.from(JSON.stringify(operation));
    if (bytes.length > MAX_OPERATION_BYTES)
      return `its parameters and types have more than ${MAX_OPERATION_BYTES >> 10} KB`;
    const facts = { verb, path, summary, tags, isDeprecated, servers };
    const row = { name, ...facts, ...(scopes && { scopes }), argumentNames, at: [this.#bytes, bytes.length] as const };
    const indexBytes = this.#indexBytes + Buffer.byteLength(JSON.stringify(row)) + DIGEST_CHARACTERS;
    if (indexBytes > MAX_INDEX_BYTES || this.#bytes + bytes.length > MAX_BYTES)
      return "the operations before it are as large as a catalog can be";
    this.#put(bytes);
    this.#indexBytes = indexBytes;
    this.#rows.push({
      row,
      hash: createHash("sha256").update(JSON.stringify(facts)).update(bytes),
      types: [
        { names: findReferences(input), levels: Infinity },
        { names: findReferences(output), levels: OUTPUT_LEVELS },
      ],
    });
    return undefined;
  }

  /** Returns the whole catalog. Throws a `DocumentError` if its types are too large. */
  finish({ definitions, ...document }: CompiledDocument): Buffer {
    const digests = new Map<string, Buffer>();
    const locations = [...definitions].map(([name, schema]) => {
      const bytes = Buffer.from(JSON.stringify(schema));
      digests.set(name, createHash("sha256").update(bytes).digest());
      return [name, [...this.#put(bytes), findReferences(schema)]] as const;
    });
    const index: CatalogIndex = {
      format: CATALOG_FORMAT,
      ...document,
      definitions: Object.fromEntries(locations),
      operations: [],
    };
    const operations = this.#rows.map(({ row, hash, types }) => {
      for (const { names, levels } of types)
        for (const [name, isWhole] of collectNames(names, index.definitions, levels))
          hash.update(`${name}\n`).update((isWhole && digests.get(name)) || "");
      return { ...row, digest: hash.digest("base64url").slice(0, DIGEST_CHARACTERS) };
    });
    const text = Buffer.from(JSON.stringify({ ...index, operations }));
    if (this.#bytes > MAX_BYTES || text.length > 2 * MAX_INDEX_BYTES)
      throw new DocumentError("the named schemas of the document are larger than a catalog can be");
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32LE(text.length);
    return Buffer.concat([head, text, ...this.#chunks]);
  }

  #put(bytes: Buffer): Extent {
    const start = this.#bytes;
    this.#bytes += bytes.length;
    this.#chunks.push(bytes);
    return [start, bytes.length];
  }
}

function findReferences(schema: unknown): readonly string[] {
  const names = new Set<string>();
  for (const { $ref } of walkObjects(schema))
    if (typeof $ref === "string" && $ref.startsWith(PREFIX)) names.add($ref.slice(PREFIX.length));
  return [...names];
}

const PREFIX = "#/$defs/";

/** A catalog of which only the index is in memory. */
export interface OpenCatalog {
  readonly index: CatalogIndex;
  /** The number of its file, which another one has when it is replaced. */
  readonly inode: number;
  read(row: OperationRow): DescribedOperation;
  /** Returns a named schema; the case of letters and characters that are not in all languages do not count. */
  readonly findType: (name: string) => JsonSchema | undefined;
  close(): void;
}

/** Opens a catalog file. Throws for one that is missing, cut or of another format. */
export function openCatalog(file: string): OpenCatalog {
  const descriptor = openSync(file, "r");
  try {
    const length = readBytes(descriptor, 0, HEAD_BYTES).readUInt32LE();
    const index = JSON.parse(readBytes(descriptor, HEAD_BYTES, length).toString()) as unknown;
    if (!isRecord(index) || index["format"] !== CATALOG_FORMAT) throw new Error("another format");
    return createReader(descriptor, HEAD_BYTES + length, index as unknown as CatalogIndex);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** True if two catalogs have the same operations, with all that their definitions say. */
export function hasSameOperations({ index: one }: OpenCatalog, { index: other }: OpenCatalog): boolean {
  const digests = new Map(one.operations.map(({ name, digest }) => [name, digest]));
  return (
    one.operations.length === other.operations.length &&
    other.operations.every(({ name, digest }) => digests.get(name) === digest)
  );
}

function createReader(descriptor: number, base: number, index: CatalogIndex): OpenCatalog {
  let isClosed = false;
  const read = ([start, length]: Extent): unknown => {
    // The number of a closed file may be that of another one.
    if (isClosed) throw new Error("The catalog is closed");
    return JSON.parse(readBytes(descriptor, base + start, length).toString());
  };
  const collect = (schema: JsonSchema, levels: number): JsonSchema => {
    const closure = collectNames(findReferences(schema), index.definitions, levels);
    const definitions = [...closure].map(([name, isWhole]) => {
      const location = index.definitions[name];
      return [
        name,
        location !== undefined && isWhole ? read([location[0], location[1]]) : { title: name, [OMITTED_TYPE]: true },
      ];
    });
    return definitions.length === 0 ? schema : { ...schema, $defs: Object.fromEntries(definitions) };
  };
  return {
    index,
    inode: fstatSync(descriptor).ino,
    read(row) {
      const { input, output, ...operation } = read(row.at) as DescribedOperation;
      return {
        ...operation,
        input: collect(input, Infinity),
        ...(output !== undefined && { output: collect(output, OUTPUT_LEVELS) }),
      };
    },
    findType(name) {
      const found = Object.keys(index.definitions).find((each) => toPlainName(each) === toPlainName(name));
      return found === undefined ? undefined : collect({ $ref: `${PREFIX}${found}` }, OUTPUT_LEVELS);
    },
    close() {
      if (!isClosed) closeSync(descriptor);
      isClosed = true;
    },
  };
}

/** Levels of named types in the type of a result. All of them would be 58,000 tokens for a customer of Stripe. */
const OUTPUT_LEVELS = 2;

/** Returns the names that are reached, and whether they are within the levels and the limit of bytes. */
function collectNames(
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
