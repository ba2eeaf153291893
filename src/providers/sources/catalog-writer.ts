import { createHash, type Hash } from "node:crypto";

import { DocumentError } from "./documents/document-error.ts";
import {
  type CatalogHead,
  type CatalogIndex,
  collectNames,
  type Extent,
  HEAD_BYTES,
  MAX_OPERATION_BYTES,
  OUTPUT_LEVELS,
  type OperationRow,
} from "./catalog-file.ts";

/** Bytes of a catalog: forty times that of the largest public document (GitHub, 4 MB). */
const MAX_BYTES = 160 << 20;

/** Bytes of the index, which is in memory: thirty times that of GitHub. */
const MAX_INDEX_BYTES = 8 << 20;

/** 132 bits: two definitions with one digest cannot be found. */
const DIGEST_CHARACTERS = 22;

/** The content of a row, which is read when it is needed, and the named types that it leads to. */
export interface RowContent {
  readonly content: object;
  /** The text that the digest is made of; the content by default. */
  readonly digested?: string;
  readonly inputTypes: readonly string[];
  readonly outputTypes: readonly string[];
}

/** A named type: what is stored of it, and the types that it refers to. */
export interface CatalogDefinition {
  readonly content: object;
  readonly references: readonly string[];
}

/** A row whose digest waits for the types of the document. */
interface WrittenRow {
  readonly row: Omit<OperationRow, "digest">;
  readonly hash: Hash;
  readonly types: readonly { readonly names: readonly string[]; readonly levels: number }[];
}

/** Collects the parts of a catalog. */
export class CatalogWriter {
  readonly #format: string;
  readonly #chunks: Buffer[] = [];
  readonly #rows: WrittenRow[] = [];
  #bytes = 0;
  #indexBytes = 0;

  constructor(format: string) {
    this.#format = format;
  }

  /** Adds an operation, or says why it is left out. */
  add(
    { name, argumentNames, scopes, security, ...facts }: Omit<OperationRow, "digest" | "at">,
    { content, digested, inputTypes, outputTypes }: RowContent,
  ): string | undefined {
    const bytes = Buffer.from(JSON.stringify(content));
    if (bytes.length > MAX_OPERATION_BYTES)
      return `its parameters and types have more than ${MAX_OPERATION_BYTES >> 10} KB`;
    const needs = { ...(scopes && { scopes }), ...(security && { security }) };
    const row = { name, ...facts, ...needs, argumentNames, at: [this.#bytes, bytes.length] as const };
    const indexBytes = this.#indexBytes + Buffer.byteLength(JSON.stringify(row)) + DIGEST_CHARACTERS;
    if (indexBytes > MAX_INDEX_BYTES || this.#bytes + bytes.length > MAX_BYTES)
      return "the operations before it are as large as a catalog can be";
    this.put(bytes);
    this.#indexBytes = indexBytes;
    this.#rows.push({
      row,
      hash: createHash("sha256")
        .update(JSON.stringify(facts))
        .update(digested ?? bytes),
      types: [
        { names: inputTypes, levels: Infinity },
        { names: outputTypes, levels: OUTPUT_LEVELS },
      ],
    });
    return undefined;
  }

  /** Returns the whole catalog. Throws a `DocumentError` if its types are too large. */
  finish(head: CatalogHead, definitions: ReadonlyMap<string, CatalogDefinition>): Buffer {
    const digests = new Map<string, Buffer>();
    const locations = [...definitions].map(([name, { content, references }]) => {
      const bytes = Buffer.from(JSON.stringify(content));
      digests.set(name, createHash("sha256").update(bytes).digest());
      return [name, [...this.put(bytes), references]] as const;
    });
    const index: CatalogIndex = {
      format: this.#format,
      ...head,
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
      throw new DocumentError("the named types of the document are larger than a catalog can be");
    const length = Buffer.alloc(HEAD_BYTES);
    length.writeUInt32LE(text.length);
    return Buffer.concat([length, text, ...this.#chunks]);
  }

  /** Adds bytes, and returns where they stand. */
  put(bytes: Buffer): Extent {
    const start = this.#bytes;
    this.#bytes += bytes.length;
    this.#chunks.push(bytes);
    return [start, bytes.length];
  }
}
