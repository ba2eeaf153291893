import { createHash, randomUUID } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";

import { isRecord } from "../../model/json.ts";
import { createFileCache, type KeyValueCache } from "../../shared/file-cache.ts";
import { makeFolder } from "../../shared/files/make-folder.ts";
import { type OpenCatalog, openCatalog } from "./catalog-file.ts";
import { getOperationKey } from "./compile/names.ts";

/** Facts about a source beside its catalog. */
interface SourceState {
  /** The SHA-256 digest of the document with its files. */
  readonly digest: string;
  /** When the document was read, in milliseconds since 1970. */
  readonly readAt: number;
  /** The time of change of a file and its size, which tell a changed file without reading it. */
  readonly stamp?: string;
  /** The name of each operation that was ever in the document, by verb and path. */
  readonly names: Readonly<Record<string, string>>;
}

/** The catalog of a source and its state, in two files of a folder. */
export class StoredSource {
  readonly #folder: string;
  readonly #key: string;
  readonly #catalogFile: string;
  readonly #states: KeyValueCache;

  /** `key` stands for the source of one project. */
  constructor(folder: string, key: string) {
    this.#folder = folder;
    this.#key = key;
    this.#catalogFile = join(folder, `${createHash("sha256").update(key).digest("hex")}.catalog`);
    this.#states = createFileCache(folder);
  }

  /** Returns the state; `undefined` if it is missing or cannot be read. */
  readState(): SourceState | undefined {
    const state = this.#states.get(this.#key);
    if (!isRecord(state) || typeof state["digest"] !== "string" || typeof state["readAt"] !== "number")
      return undefined;
    return isRecord(state["names"]) ? (state as unknown as SourceState) : undefined;
  }

  /** Opens the catalog; `undefined` if it is missing or of another format. */
  open(): OpenCatalog | undefined {
    try {
      return openCatalog(this.#catalogFile);
    } catch {
      return undefined;
    }
  }

  /** Has a catalog written to a file, and puts it into its place unless that fails. */
  async replace<Result>(write: (file: string) => Promise<Result>): Promise<Result> {
    await makeFolder(this.#folder, 0o700);
    const draft = `${this.#catalogFile}.${randomUUID()}`;
    try {
      const result = await write(draft);
      await rename(draft, this.#catalogFile);
      return result;
    } finally {
      await rm(draft, { force: true });
    }
  }

  writeState(state: Omit<SourceState, "names">, { index }: OpenCatalog): void {
    const names = index.operations.map((row) => [getOperationKey(row), row.name] as const);
    this.#states.set(this.#key, { ...state, names: { ...this.readState()?.names, ...Object.fromEntries(names) } });
  }
}
