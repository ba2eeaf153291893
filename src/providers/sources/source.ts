import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { getMessage } from "../../errors.ts";
import type { Problem } from "../../model/provider.ts";
import type { ProvidedSkill } from "../../model/skill.ts";
import { type ApiClient, createApiClient } from "./http/api-client.ts";
import { buildRequest } from "./openapi/build-request.ts";
import { compileInThread } from "./compile/compile-in-thread.ts";
import type { OpenCatalog } from "./catalog-file.ts";
import type { SourceConfig } from "./source-config.ts";
import { createSourceSkill, type SendOperation } from "./source-skill.ts";
import { StoredSource } from "./stored-source.ts";

/** How a source is. */
export interface SourceStatus {
  readonly name: string;
  readonly skill: string;
  readonly document: string;
  readonly title: string;
  readonly version: string;
  /** The base of its requests; `undefined` if neither the settings nor the document name one. */
  readonly server: string | undefined;
  /** Methods, and all operations of the document. */
  readonly methods: number;
  readonly operations: number;
  /** When the document was read, in milliseconds since 1970. */
  readonly readAt: number | undefined;
  readonly problems: readonly string[];
  /** Why it has no methods, or those of an older document. */
  readonly error: string | undefined;
}

export interface SourceOptions {
  /** The folder of catalogs. */
  readonly folder: string;
  /** The folder of the project: each project has catalogs of its own. */
  readonly cwd: string;
  readonly signal: AbortSignal;
}

/** One source: its document becomes a catalog once, and a skill at each start. */
export class ApiSource {
  readonly config: SourceConfig;
  skill: ProvidedSkill | undefined;
  readonly #options: SourceOptions;
  readonly #stored: StoredSource;
  #catalog: OpenCatalog | undefined;
  /** Runs that began before have methods of these. */
  readonly #earlier: OpenCatalog[] = [];
  #client: ApiClient | undefined;
  #readAt: number | undefined;
  #error: string | undefined;

  constructor(config: SourceConfig, options: SourceOptions) {
    this.config = config;
    this.#options = options;
    this.#stored = new StoredSource(options.folder, JSON.stringify([options.cwd, config.name, config.document]));
  }

  /** Opens the stored catalog. A document that is new, or a file that has changed, is read first. */
  async open(): Promise<void> {
    const state = await this.#stored.readState();
    this.#use(this.#stored.open());
    this.#readAt = state?.readAt;
    const isSame = state !== undefined && (await readStamp(this.config).catch(() => "missing")) === state.stamp;
    if (this.#catalog === undefined || !isSame) await this.refresh();
  }

  /** Reads the document again. If that fails, the last catalog serves. */
  async refresh(): Promise<void> {
    try {
      const stamp = await readStamp(this.config);
      await this.#compile(stamp);
      this.#error = undefined;
    } catch (error) {
      const { name, document } = this.config;
      const serves = this.#catalog === undefined ? "it has no methods" : "the catalog of its last document serves";
      this.#error = `Cannot read the document of ${name}, ${document}: ${getMessage(error)}; ${serves}`;
    }
  }

  get problems(): readonly Problem[] {
    return this.#error === undefined ? [] : [{ source: `sources.${this.config.name}`, error: this.#error }];
  }

  get status(): SourceStatus {
    const { name, skill, document } = this.config;
    const index = this.#catalog?.index;
    return {
      name,
      skill,
      document,
      title: index?.title ?? "",
      version: index?.version ?? "",
      server: this.#getServer()?.href,
      methods: this.skill?.methods.length ?? 0,
      operations: index?.operations.length ?? 0,
      readAt: this.#readAt,
      problems: index?.problems ?? [],
      error: this.#error,
    };
  }

  close(): void {
    for (const catalog of [...this.#earlier, this.#catalog]) catalog?.close();
    this.#client?.close();
  }

  async #compile(stamp: string | undefined): Promise<void> {
    const { document, isPrivate } = this.config;
    const names = Object.entries((await this.#stored.readState())?.names ?? {});
    const { digest } = await this.#stored.replace((target) =>
      compileInThread({ document, isPrivate, names, target }, this.#options.signal),
    );
    const catalog = this.#stored.open();
    if (catalog === undefined) throw new Error("its catalog cannot be written");
    this.#use(catalog);
    this.#readAt = Date.now();
    const state = { document, digest, readAt: this.#readAt, ...(stamp !== undefined && { stamp }) };
    await this.#stored.writeState(state, catalog);
  }

  #use(catalog: OpenCatalog | undefined): void {
    if (catalog === undefined) return;
    if (this.#catalog !== undefined) this.#earlier.push(this.#catalog);
    this.#catalog = catalog;
    this.#client?.close();
    const server = this.#getServer();
    this.#client = server && createClient(this.config, server);
    const send = this.#client === undefined ? refuseWithoutServer(this.config) : createSender(this.#client);
    this.skill = createSourceSkill(this.config, catalog, send);
  }

  /** A document may name its server relative to itself. */
  #getServer(): URL | undefined {
    const { server = this.#catalog?.index.servers[0], document } = this.config;
    if (server === undefined || !URL.canParse(server, document)) return undefined;
    const url = new URL(server, document);
    return url.protocol === "https:" || url.protocol === "http:" ? url : undefined;
  }
}

/** Reads the time of change and the size of a file; `undefined` for a document elsewhere, which is read again on demand only. */
async function readStamp({ document }: SourceConfig): Promise<string | undefined> {
  if (!document.startsWith("file:")) return undefined;
  const { mtimeMs, size } = await stat(fileURLToPath(document));
  return `${mtimeMs} ${size}`;
}

function createClient({ headers, isPrivate, idempotencyHeader }: SourceConfig, server: URL): ApiClient {
  return createApiClient({
    server: server.href,
    headers: async () => headers,
    allowsPrivate: isPrivate,
    ...(idempotencyHeader !== undefined && { idempotencyHeader }),
  });
}

function createSender(client: ApiClient): SendOperation {
  return (operation, input, { isRead, context }) => client.send(buildRequest(operation, input), context, { isRead });
}

function refuseWithoutServer({ name }: SourceConfig): SendOperation {
  return async () => {
    throw new Error(
      `The document of ${name} names no server; the owner sets it: sources: { ${name}: { server: https://… } }`,
    );
  };
}
