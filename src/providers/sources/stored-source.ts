import { createHash, randomUUID } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { isRecord, parseJsonObject } from "../../model/json.ts";
import { makeFolder } from "../../shared/files/make-folder.ts";
import { CATALOG_FORMAT, type OpenCatalog, openCatalog } from "./catalog-file.ts";
import { getOperationKey } from "./compile/names.ts";

/** Facts about a source beside its catalog. */
interface SourceState {
  readonly format: string;
  readonly document: string;
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
  readonly #base: string;
  readonly #folder: string;

  /** `key` stands for the source of one project. */
  constructor(folder: string, key: string) {
    this.#folder = folder;
    this.#base = join(folder, createHash("sha256").update(key).digest("hex").slice(0, 32));
  }

  /** Returns the state; `undefined` if it is missing or cannot be read. */
  async readState(): Promise<SourceState | undefined> {
    const state = parseJsonObject(await readFile(`${this.#base}.json`, "utf8").catch(() => ""));
    const { format, document, digest, readAt, names } = state ?? {};
    const isState = typeof format === "string" && typeof document === "string" && typeof digest === "string";
    return isState && typeof readAt === "number" && isRecord(names) ? (state as unknown as SourceState) : undefined;
  }

  /** Opens the catalog; `undefined` if it is missing or of another format. */
  open(): OpenCatalog | undefined {
    try {
      return openCatalog(`${this.#base}.cat`);
    } catch {
      return undefined;
    }
  }

  /** Has a catalog written to a file, and puts it into its place unless that fails. */
  async replace<Result>(write: (file: string) => Promise<Result>): Promise<Result> {
    await makeFolder(this.#folder, 0o700);
    const draft = `${this.#base}.${randomUUID()}`;
    try {
      const result = await write(draft);
      await rename(draft, `${this.#base}.cat`);
      return result;
    } finally {
      await rm(draft, { force: true });
    }
  }

  async writeState(state: Omit<SourceState, "format" | "names">, catalog: OpenCatalog): Promise<void> {
    const before = await this.readState();
    const names = catalog.index.operations.map((row) => [getOperationKey(row), row.name] as const);
    const all = { ...before?.names, ...Object.fromEntries(names) };
    const text = JSON.stringify({ format: CATALOG_FORMAT, ...state, names: all });
    const draft = `${this.#base}.${randomUUID()}`;
    await writeFile(draft, text, { mode: 0o600 });
    await rename(draft, `${this.#base}.json`);
  }
}
