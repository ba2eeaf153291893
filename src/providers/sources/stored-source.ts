import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { constants, copyFile, link, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

import { isRecord } from "../../model/json.ts";
import { createFileCache, type KeyValueCache } from "../../shared/file-cache.ts";
import { makeFolder } from "../../shared/files/make-folder.ts";
import type { CatalogFile } from "./catalog-file.ts";
import type { CompiledReport, KnownDocument } from "./compile/protocol.ts";
import { getOperationKey } from "./compile/names.ts";

/** A document is compiled in two minutes at most. */
const MAX_DRAFT_MS = 600_000;

/** Facts about a source beside its catalog. */
export interface SourceState extends KnownDocument {
  /** When the document was read, in milliseconds since 1970. */
  readonly readAt: number;
  /** The time of change of a file and its size, which tell a changed file without reading it. */
  readonly stamp?: string;
  /** The name of each operation that was ever in the document, by verb and path. */
  readonly names: Readonly<Record<string, string>>;
}

/** The catalog of a source, its state, and the catalog that was accepted before, in files of a folder. */
export class StoredSource<Catalog extends CatalogFile> {
  readonly #folder: string;
  readonly #key: string;
  readonly #catalogFile: string;
  readonly #acceptedFile: string;
  readonly #states: KeyValueCache;
  readonly #openCatalog: (file: string) => Catalog;

  /** `key` stands for the source of one project. `open` throws for a file that is missing or of another format. */
  constructor(folder: string, key: string, open: (file: string) => Catalog) {
    this.#folder = folder;
    this.#openCatalog = open;
    this.#key = key;
    const file = join(folder, createHash("sha256").update(key).digest("hex"));
    this.#catalogFile = `${file}.catalog`;
    this.#acceptedFile = `${file}.accepted`;
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
  open(): Catalog | undefined {
    try {
      return this.#openCatalog(this.#catalogFile);
    } catch {
      return undefined;
    }
  }

  /** Opens the catalog of the operations that were accepted, if there are later ones; `unreadable` if it is of another format. */
  openAccepted(): Catalog | "unreadable" | undefined {
    try {
      return this.#openCatalog(this.#acceptedFile);
    } catch {
      return existsSync(this.#acceptedFile) ? "unreadable" : undefined;
    }
  }

  /** Accepts the operations of a catalog. Returns false if another process has put a later one into its place. */
  async accept({ inode }: CatalogFile): Promise<boolean> {
    const { ino } = await stat(this.#catalogFile);
    if (ino !== inode) return false;
    await rm(this.#acceptedFile, { force: true });
    return true;
  }

  /**
   * Has a catalog written to a file, and puts it into its place unless that fails. The catalog before it stays as the accepted one,
   * if the document has changed. Nothing is written for a document that is the same.
   */
  async replace(write: (file: string) => Promise<CompiledReport>): Promise<CompiledReport> {
    await makeFolder(this.#folder, 0o700);
    await this.#removeOldDrafts();
    const draft = `${this.#catalogFile}.${randomUUID()}`;
    try {
      const result = await write(draft);
      if (result.kind === "unchanged") return result;
      if (result.digest !== this.readState()?.digest) await this.#keepAccepted();
      await rename(draft, this.#catalogFile);
      return result;
    } finally {
      await rm(draft, { force: true });
    }
  }

  /** Keeps the catalog as the accepted one, unless it is missing, or an earlier one waits to be compared. */
  async #keepAccepted(): Promise<void> {
    const [from, to] = [this.#catalogFile, this.#acceptedFile];
    // Some file systems have no links.
    await link(from, to)
      .catch((error: unknown) => (isNeedless(error) ? undefined : copyFile(from, to, constants.COPYFILE_EXCL)))
      .catch((error: unknown) => {
        if (!isNeedless(error)) throw error;
      });
  }

  /** Removes the drafts of processes that were killed while they wrote. */
  async #removeOldDrafts(): Promise<void> {
    const names = await readdir(this.#folder);
    const drafts = names
      .map((name) => join(this.#folder, name))
      .filter((file) => file.startsWith(`${this.#catalogFile}.`));
    for (const draft of drafts) {
      const { mtimeMs } = await stat(draft).catch(() => ({ mtimeMs: Infinity })); // another process has just removed it
      if (mtimeMs < Date.now() - MAX_DRAFT_MS) await rm(draft, { force: true });
    }
  }

  writeState(state: Omit<SourceState, "names">, { index }: CatalogFile): void {
    const names = index.operations.map((row) => [getOperationKey(row), row.name] as const);
    this.#states.set(this.#key, { ...state, names: { ...this.readState()?.names, ...Object.fromEntries(names) } });
  }
}

/** True if a file is not copied because it is missing, or because the copy exists. */
function isNeedless(error: unknown): boolean {
  return isRecord(error) && (error["code"] === "ENOENT" || error["code"] === "EEXIST");
}
