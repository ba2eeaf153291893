import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { FindAccount } from "../../model/account.ts";
import type { Provider } from "../../model/provider.ts";
import type { ShownOperation } from "./list-operations.ts";
import { canonicalText } from "../../shared/digest.ts";
import { type ApiSource, openSource, type SourceStatus } from "./source.ts";
import type { SourceConfig } from "./source-config.ts";

export type { ShownOperation } from "./list-operations.ts";
export type { SourceConfig } from "./source-config.ts";
export type { SourceStatus } from "./source.ts";

/** The skills of APIs that documents describe. */
export interface SourceProvider extends Provider {
  readonly sources: readonly SourceStatus[];
  /** Lists the operations of a source. */
  listOperations(name: string): readonly ShownOperation[];
  /** Lists the scopes of OAuth that the operations with an account ask for. */
  listScopes(account: string): readonly string[];
  /** Reads the document of a source again. */
  refresh(name: string): Promise<SourceStatus>;
  /** Opens the sources that are new or changed, and closes those that are gone. Settles when the new ones are known. */
  replace(configs: readonly SourceConfig[]): Promise<void>;
  /** Accepts the operations of a source as they are now. */
  accept(name: string): Promise<SourceStatus>;
}

export interface SourcesOptions {
  /** The folder of the project: each project has catalogs of its own. */
  readonly cwd: string;
  /** The folder of catalogs; without one, they are kept as long as the provider is open. */
  readonly folder?: string;
  /** The largest body of an answer, in bytes: no result of a call can have more. */
  readonly answerBytes: number;
  readonly findAccount: FindAccount;
}

/** Opens the catalogs of all sources in the background: those that are stored are there after some milliseconds. */
export function openSources(
  configs: readonly SourceConfig[],
  { cwd, folder: stateFolder, answerBytes, findAccount }: SourcesOptions,
): SourceProvider {
  const folder = stateFolder ?? mkdtempSync(join(tmpdir(), "skillgate-sources-"));
  const listeners: (() => void)[] = [];
  const announce = (): void => listeners.forEach((listener) => listener());
  const create = (config: SourceConfig): ApiSource =>
    openSource(config, { cwd, folder, answerBytes, findAccount, onChange: announce });
  let sources = configs.map(create);
  const find = (name: string): ApiSource => {
    const source = sources.find(({ config }) => config.name === name);
    if (source === undefined) throw new Error(`There is no source ${name}`);
    return source;
  };
  const change = async (name: string, work: (source: ApiSource) => Promise<void>): Promise<SourceStatus> => {
    const source = find(name);
    await work(source);
    announce();
    return source.status;
  };
  return {
    get skills() {
      return sources.flatMap(({ skill }) => skill ?? []);
    },
    get problems() {
      return sources.flatMap(({ problems }) => problems);
    },
    get sources() {
      return sources.map(({ status }) => status);
    },
    get known() {
      return Promise.all(sources.map((source) => source.known)).then(() => {});
    },
    listOperations: (name) => find(name).operations,
    listScopes: (account) => [...new Set(sources.flatMap((source) => source.listScopes(account)))],
    refresh: (name) => change(name, (source) => source.refresh()),
    accept: (name) => change(name, (source) => source.accept()),
    async replace(configs) {
      const before = new Map(sources.map((source) => [canonicalText(source.config), source]));
      sources = configs.map((config) => before.get(canonicalText(config)) ?? create(config));
      await Promise.all([...before.values()].filter((old) => !sources.includes(old)).map((old) => old.close()));
      await Promise.all(sources.map((source) => source.known));
      await Promise.all(sources.map((source) => source.followAccounts()));
      announce();
    },
    onChange: (listener) => void listeners.push(listener),
    async close() {
      await Promise.all(sources.map((source) => source.close()));
      if (stateFolder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
