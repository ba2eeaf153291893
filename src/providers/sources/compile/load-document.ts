import { createHash } from "node:crypto";

import { getMessage } from "../../../errors.ts";
import { parse } from "../../../shared/package/yaml.ts";
import { DocumentError } from "../documents/document-error.ts";
import { MAX_DOCUMENT_BYTES, type ReadFile } from "../documents/read-file.ts";
import { applyPatch } from "./json-patch.ts";
import { DocumentFiles, isReference, resolveReference, splitKey, walkObjects } from "./document-files.ts";

/** Files of one document. DigitalOcean's has 1,900. */
const MAX_FILES = 3_000;

/** Files that are read at once. */
const AT_ONCE = 8;

/** Aliases of YAML multiply what they stand for. */
const MAX_ALIASES = 1_000;

export interface LoadedDocument {
  readonly files: DocumentFiles;
  /** The SHA-256 digest of all its files. */
  readonly digest: string;
  /** Files that could not be read, each with its reason. */
  readonly problems: readonly string[];
}

/** The text of a JSON patch of the owner, and its file for messages. */
export interface DocumentPatch {
  readonly file: string;
  readonly text: string;
}

/**
 * Reads a document, changes it by the owner's patch, and reads the files that its references lead to. Throws a `DocumentError` if the
 * document cannot be read or changed so.
 */
export async function loadDocument(location: string, read: ReadFile, patch?: DocumentPatch): Promise<LoadedDocument> {
  const loader = new DocumentLoader(read);
  await loader.add(location);
  if (patch !== undefined) loader.change(location, patch);
  let open = loader.findMissing(location);
  while (open.length > 0) {
    const batch = open.slice(0, AT_ONCE);
    await Promise.all(batch.map((url) => loader.tryToAdd(url)));
    open = [...new Set([...open.slice(AT_ONCE), ...batch.flatMap((url) => loader.findMissing(url))])];
  }
  return loader.finish();
}

class DocumentLoader {
  readonly #read: ReadFile;
  readonly #contents = new Map<string, unknown>();
  readonly #digests = new Map<string, string>();
  readonly #problems = new Map<string, string>();
  #patchDigest: readonly string[] = [];
  #bytes = 0;

  constructor(read: ReadFile) {
    this.#read = read;
  }

  async add(url: string): Promise<void> {
    const text = await this.#read(url);
    this.#bytes += Buffer.byteLength(text);
    this.#requireBounds();
    this.#digests.set(url, hashText(text));
    this.#contents.set(url, parseText(text, url));
  }

  change(url: string, { file, text }: DocumentPatch): void {
    try {
      this.#contents.set(url, applyPatch(this.#contents.get(url), parseText(text, file)));
    } catch (error) {
      throw new DocumentError(`the patch ${file} cannot be applied: ${getMessage(error)}`);
    }
    this.#patchDigest = [hashText(text)];
  }

  /** A file that cannot be read is a problem of what refers to it. */
  async tryToAdd(url: string): Promise<void> {
    try {
      await this.add(url);
    } catch (error) {
      this.#requireBounds();
      this.#problems.set(url, `${url}: ${getMessage(error)}; what refers to it is left out`);
    }
  }

  /** Finds the files that references in a file lead to, without those that are known. */
  findMissing(file: string): readonly string[] {
    const found = new Set<string>();
    for (const part of walkObjects(this.#contents.get(file))) {
      if (!isReference(part) || part.$ref.startsWith("#")) continue;
      const location = resolveReference(part.$ref, file);
      const [url] = location === undefined ? [] : splitKey(location);
      if (url !== undefined && !this.#contents.has(url) && !this.#problems.has(url)) found.add(url);
    }
    return [...found];
  }

  /** Files are read in any order, and have one. */
  finish(): LoadedDocument {
    const [root = ""] = this.#contents.keys();
    const urls = [root, ...[...this.#contents.keys()].filter((url) => url !== root).toSorted()];
    const digests = [...urls.map((url) => `${url} ${this.#digests.get(url)}`), ...this.#patchDigest].join("\n");
    return {
      files: new DocumentFiles(new Map(urls.map((url) => [url, this.#contents.get(url)]))),
      digest: hashText(digests),
      problems: [...this.#problems.values()].toSorted(),
    };
  }

  #requireBounds(): void {
    if (this.#bytes > MAX_DOCUMENT_BYTES)
      throw new DocumentError(`the document has more than ${MAX_DOCUMENT_BYTES >> 20} MB with its files`);
    if (this.#contents.size >= MAX_FILES) throw new DocumentError(`the document has more than ${MAX_FILES} files`);
  }
}

function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function parseText(text: string, url: string): unknown {
  const start = text.search(/[^\s\uFEFF]/);
  const isJson = text[start] === "{" || text[start] === "[";
  try {
    if (isJson) return JSON.parse(text.slice(start)) as unknown;
    // As JSON, so that no alias leads in a circle.
    return JSON.parse(JSON.stringify(parse(text, { maxAliasCount: MAX_ALIASES, uniqueKeys: false })) ?? "null");
  } catch (error) {
    throw new DocumentError(`${url} is neither JSON nor YAML: ${getMessage(error).split("\n")[0]}`);
  }
}
