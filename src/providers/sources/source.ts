import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { getMessage } from "../../errors.ts";
import type { Problem } from "../../model/provider.ts";
import type { ProvidedSkill } from "../../model/skill.ts";
import { hasSameOperations, type SourceCatalog } from "./catalog-file.ts";
import type { KnownDocument } from "./compile/protocol.ts";
import { GRAPHQL } from "./graphql/graphql-kind.ts";
import { type ShownOperation, listOperations } from "./list-operations.ts";
import { OPENAPI } from "./openapi/openapi-kind.ts";
import {
  countChanges,
  findOperationChanges,
  type OfferedOperations,
  type OperationChange,
} from "./operation-changes.ts";
import { findAccountName, findAccountProblems } from "./source-accounts.ts";
import { describeDocument, type SourceConfig, type SourceType } from "./source-config.ts";
import type { ConnectedSource, SourceKind, SourceServices } from "./source-kind.ts";
import { findSettingProblems, selectOperations } from "./source-skill.ts";
import { listWantedSecurity, type WantedSecurity } from "./wanted-security.ts";
import { type SourceState, StoredSource } from "./stored-source.ts";

/** How a source is. */
export interface SourceStatus {
  readonly name: string;
  readonly kind: SourceType;
  readonly skill: string;
  readonly document: string;
  readonly title: string;
  readonly version: string;
  /** The base of its requests; `undefined` if neither the settings nor the document name one that may be used. */
  readonly server: string | undefined;
  /** The first server of the document. */
  readonly documentServer: string | undefined;
  /** The SHA-256 digest of the document with its files. */
  readonly digest: string | undefined;
  /** Methods, and all operations of the document: the root fields of a GraphQL API. */
  readonly methods: number;
  readonly operations: number;
  /** Operations that the settings leave out. */
  readonly left: number;
  /** When the document was read, in milliseconds since 1970. */
  readonly readAt: number | undefined;
  readonly problems: readonly string[];
  /** The credentials that its operations want and the settings do not have. */
  readonly security: readonly WantedSecurity[];
  /** Operations that were changed, added or removed since they were accepted. */
  readonly changes: readonly OperationChange[];
  /** Operations that were changed or added are not offered until they are accepted. */
  readonly holdsChanges: boolean;
  /** Why it has no methods, or those of an older document. */
  readonly error: string | undefined;
}

export interface SourceOptions extends SourceServices {
  /** The folder of catalogs. */
  readonly folder: string;
  /** The folder of the project: each project has catalogs of its own. */
  readonly cwd: string;
  /** Called after its skill or its problems have changed. */
  readonly onChange: () => void;
}

/** A document that could not be read is asked for again after this time at most. */
const RETRY_MS = 3_600_000;

/** The longest delay of a timer. */
const MAX_DELAY_MS = 2_147_483_647;

/** Opens a source of any kind. */
export function openSource(config: SourceConfig, options: SourceOptions): ApiSource {
  return config.kind === "graphql"
    ? new ApiSource(config, options, GRAPHQL)
    : new ApiSource<SourceCatalog>(config, options, OPENAPI);
}

/** One source: its document becomes a catalog once, and a skill at each start. */
export class ApiSource<Catalog extends SourceCatalog = SourceCatalog> {
  readonly config: SourceConfig;
  skill: ProvidedSkill | undefined;
  readonly #options: SourceOptions;
  readonly #kind: SourceKind<Catalog>;
  readonly #stored: StoredSource<Catalog>;
  readonly #end = new AbortController();
  /** Settles when the catalog is open. */
  readonly known: Promise<void>;
  /** The last reading of the document. */
  #lastRead: Promise<void> = Promise.resolve();
  #failedAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #catalog: Catalog | undefined;
  #changes: readonly OperationChange[] = [];
  #left = 0;
  /** The servers of operations that the settings do not name. */
  #missingServers: readonly string[] = [];
  #security: readonly WantedSecurity[] = [];
  /** Names and patterns of the settings that the document does not have. */
  #settingProblems: readonly string[] = [];
  /** Catalogs and connections of runs that began before a refresh. */
  readonly #earlier: { close(): void | Promise<void> }[] = [];
  #connected: ConnectedSource<Catalog> | undefined;
  /** The places of the credentials of its accounts. */
  #accountLocations = "";
  #state: SourceState | undefined;
  #error: string | undefined;

  constructor(config: SourceConfig, options: SourceOptions, kind: SourceKind<Catalog>) {
    this.config = config;
    this.#options = options;
    this.#kind = kind;
    const key = JSON.stringify([options.cwd, config.name, config.document]);
    this.#stored = new StoredSource(options.folder, key, (file) => kind.openCatalog(file));
    this.known = this.#open();
  }

  /** Opens the stored catalog. A document that is new, or a file that has changed, is read first. */
  async #open(): Promise<void> {
    this.#state = this.#stored.readState();
    const catalog = this.#stored.open();
    if (catalog !== undefined) await this.#try(() => this.#use(catalog));
    const isSame = (await readStamp(this.config).catch(() => "missing")) === this.#state?.stamp;
    if (this.#catalog === undefined || this.#state === undefined || !isSame) await this.refresh();
    else this.#follow();
    this.#options.onChange();
  }

  /** Reads the document again, one time after the other. If that fails, the last catalog serves. */
  async refresh(): Promise<void> {
    this.#lastRead = this.#lastRead.then(() => this.#try(() => this.#compile()));
    await this.#lastRead;
    this.#follow();
  }

  /** Reads the document of a URL again when it is due, in the background. */
  #follow(): void {
    clearTimeout(this.#timer);
    const { document, refreshMs } = this.config;
    if (refreshMs === undefined || document.startsWith("file:") || this.#end.signal.aborted) return;
    const dueAt = Math.max((this.#state?.readAt ?? 0) + refreshMs, this.#failedAt + Math.min(refreshMs, RETRY_MS));
    const delayMs = Math.min(Math.max(dueAt - Date.now(), 0), MAX_DELAY_MS);
    this.#timer = setTimeout(() => {
      if (Date.now() < dueAt) this.#follow();
      else void this.refresh().then(this.#options.onChange);
    }, delayMs).unref();
  }

  /** Accepts the operations of the document as they are now. Throws if another process has read it again meanwhile. */
  async accept(): Promise<void> {
    const { name } = this.config;
    if (this.#catalog !== undefined && !(await this.#stored.accept(this.#catalog)))
      throw new Error(
        `The ${this.#kind.noun} of ${name} was read again by another process; look at what has changed: skillgate source check ${name}`,
      );
    await this.#offer();
  }

  get problems(): readonly Problem[] {
    const { name, changes } = this.config;
    const counts = countChanges(this.#changes);
    const remark = changes === "hold" ? "; what was changed or added is held back until it is accepted" : "";
    const changed =
      counts === undefined
        ? []
        : [`The ${this.#kind.noun} of ${name} has ${counts}${remark}: skillgate source check ${name}`];
    return [...(this.#error === undefined ? [] : [this.#error]), ...this.#settingProblems, ...changed].map((error) => ({
      source: `sources.${name}`,
      error,
    }));
  }

  get status(): SourceStatus {
    const { name, kind, skill, document } = this.config;
    const index = this.#catalog?.index;
    return {
      name,
      kind,
      skill,
      document: describeDocument(document),
      title: index?.title ?? "",
      version: index?.version ?? "",
      server: this.#connected?.server?.href,
      documentServer: this.#connected?.documentServer?.href,
      digest: this.#state?.digest,
      methods: this.skill?.methods.length ?? 0,
      operations: index?.operations.length ?? 0,
      left: this.#left,
      readAt: this.#state?.readAt,
      problems: [...(index?.problems ?? []), ...this.#missingServers].map((problem) => this.#hideQuery(problem)),
      security: this.#security,
      changes: this.#changes,
      holdsChanges: this.config.changes === "hold",
      error: this.#error,
    };
  }

  /** The operations that the settings select, those that are held included. */
  get operations(): readonly ShownOperation[] {
    if (this.#catalog === undefined) return [];
    return listOperations(this.config, selectOperations(this.config, this.#catalog), this.#changes);
  }

  /** The scopes that the selected operations with an account ask for. */
  listScopes(account: string): readonly string[] {
    if (this.#catalog === undefined) return [];
    const { rows } = selectOperations(this.config, this.#catalog);
    const missing = new Set(this.config.changes === "hold" ? this.#changes.map(({ name }) => name) : []);
    const own = [...rows].filter(([name, row]) => !missing.has(name) && findAccountName(this.config, row) === account);
    return own.flatMap(([, { scopes = [] }]) => scopes);
  }

  async close(): Promise<void> {
    this.#end.abort();
    clearTimeout(this.#timer);
    await this.known;
    await this.#lastRead;
    for (const each of [...this.#earlier, this.#catalog, this.#connected]) await each?.close();
  }

  async #try(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#error = undefined;
    } catch (error) {
      const { name, document } = this.config;
      const { noun } = this.#kind;
      this.#failedAt = Date.now();
      const serves = this.#catalog === undefined ? "it has no methods" : `the catalog of its last ${noun} serves`;
      const why = this.#hideQuery(getMessage(error));
      this.#error = `Cannot use the ${noun} of ${name}, ${describeDocument(document)}: ${why}; ${serves}`;
    }
  }

  async #compile(): Promise<void> {
    const stamp = await readStamp(this.config);
    const state = this.#stored.readState();
    const last = this.#getLast(state, stamp);
    const names = state?.names ?? {};
    const context = { ...this.#options, signal: this.#end.signal };
    const { kind, ...facts } = await this.#stored.replace((target) =>
      this.#kind.compile(this.config, { target, names, ...(last !== undefined && { last }) }, context),
    );
    const catalog = kind === "unchanged" ? this.#catalog : this.#stored.open();
    if (catalog === undefined) throw new Error("its catalog cannot be written");
    this.#stored.writeState({ ...facts, readAt: Date.now(), ...(stamp !== undefined && { stamp }) }, catalog);
    this.#state = this.#stored.readState();
    if (kind === "compiled") await this.#use(catalog);
  }

  /** Returns the document of the open catalog, unless another process has stored a later one. */
  #getLast(stored: SourceState | undefined, stamp: string | undefined): KnownDocument | undefined {
    if (this.#catalog === undefined || stored === undefined || stored.digest !== this.#state?.digest) return undefined;
    const { digest, validators } = stored;
    // The server of the document knows nothing of the patch.
    return { digest, ...(validators !== undefined && stored.stamp === stamp && { validators }) };
  }

  async #use(catalog: Catalog): Promise<void> {
    if (this.#catalog !== undefined) this.#earlier.push(this.#catalog);
    if (this.#connected !== undefined) this.#earlier.push(this.#connected);
    this.#catalog = catalog;
    this.#connected = this.#kind.connect(this.config, catalog, this.#options);
    await this.#offer();
  }

  /** Makes the skill again if other accounts, or other places of their credentials, hide other arguments. */
  async followAccounts(): Promise<void> {
    if (this.#accountLocations !== this.#describePlaces()) await this.#offer();
  }

  #describePlaces(): string {
    return JSON.stringify(this.config.accounts.map(([, name]) => this.#options.findAccount(name)?.places ?? null));
  }

  /** Makes the skill of the catalog, without the operations that are held. */
  async #offer(): Promise<void> {
    const catalog = this.#catalog;
    const connected = this.#connected;
    if (catalog === undefined || connected === undefined) return;
    const offered = selectOperations(this.config, catalog);
    this.#left = catalog.index.operations.length - offered.rows.size;
    this.#changes = await this.#findChanges(offered);
    this.#missingServers = connected.describeMissing(offered.rows.values());
    this.#security = listWantedSecurity(this.config, catalog.index.schemes, offered.rows.values());
    this.#accountLocations = this.#describePlaces();
    this.#settingProblems = [
      ...findSettingProblems(this.config, catalog),
      ...findAccountProblems(this.config, connected.server, this.#options.findAccount),
    ];
    this.skill = connected.createSkill({ ...offered, changes: this.#changes });
  }

  async #findChanges(offered: OfferedOperations): Promise<readonly OperationChange[]> {
    const { changes } = this.config;
    const { catalog } = offered;
    const accepted = this.#stored.openAccepted();
    if (accepted === undefined) return [];
    if (accepted === "unreadable") {
      if (changes === "report") await this.#stored.accept(catalog);
      return findOperationChanges(accepted, offered, changes);
    }
    // Definitions are read from it where a difference is shown.
    this.#earlier.push(accepted);
    // The document has become as it was when it was accepted, also where the settings leave operations out: they may be included
    // later. A catalog that is itself the accepted one is being replaced by another process.
    if (accepted.inode !== catalog.inode && hasSameOperations(accepted, catalog)) await this.#stored.accept(catalog);
    return findOperationChanges(selectOperations(this.config, accepted), offered, changes);
  }

  /** The address of a document may hold a key. */
  #hideQuery(text: string): string {
    const { document } = this.config;
    return text.replaceAll(document, describeDocument(document));
  }
}

/** Reads the times of change and the sizes of the files on this machine; `undefined` without one: a URL is read on demand only. */
async function readStamp({ document, patch }: SourceConfig): Promise<string | undefined> {
  const files = [
    ...(document.startsWith("file:") ? [fileURLToPath(document)] : []),
    ...(patch === undefined ? [] : [patch]),
  ];
  const stats = await Promise.all(files.map((file) => stat(file)));
  return stats.length === 0 ? undefined : stats.map(({ mtimeMs, size }) => `${mtimeMs} ${size}`).join(", ");
}
