import { EventEmitter } from "node:events";

import { getMessage } from "../../errors.ts";
import type { ListName } from "../../model/mcp-features.ts";
import type { Catalog } from "../../model/catalog.ts";
import type { ProvidedSkill } from "../../model/skill.ts";
import type { ExecutorPool, VersionedRuntime } from "../../executors/index.ts";
import type { Problem } from "../../model/provider.ts";
import type { ServerStatus } from "../../providers/mcp/index.ts";
import type { SavedHost } from "../../providers/skills/index.ts";
import { type LivePolicy, openPolicy } from "../../policy/index.ts";
import { type Registry, createRegistry } from "../../registry/index.ts";
import type { RuntimeEvents } from "../../runtime.ts";
import { KnownSecrets } from "../../shared/secrets.ts";
import {
  type LazyDatabase,
  type RetentionSchedule,
  type Store,
  createLazyDatabase,
  createStore,
  scheduleRetention,
} from "../../store/index.ts";
import { createQueue, type Queue } from "../../shared/threads/queue.ts";
import type { EndedConnection } from "../../accounts/index.ts";
import { createRuntimeAccounts, type RuntimeAccounts } from "../accounts.ts";
import { createRuntimeAlerts, type RuntimeAlerts } from "./alerts.ts";
import { createRuntimeLogins, type RuntimeLogins } from "./server-logins.ts";
import { type RuntimeAudit, createAudit } from "../audit.ts";
import type { CallElsewhere } from "../../router/index.ts";
import { readSavedProgram, SavedCalls } from "../saved/index.ts";
import { type Providers, createProviders } from "../open-providers.ts";
import type { LogListener, RuntimeOptions } from "../options.ts";
import { readOptions } from "../settings/index.ts";
import { createLiveTrust, type LiveTrust, readAgain } from "../settings/live-trust.ts";
import type { RuntimeSettings } from "../settings/runtime-settings.ts";
import { SkillSettings } from "../skill-settings.ts";
import { createTakeOver } from "../storage/program-files.ts";
import { createProgramStore, type ProgramStore } from "../storage/program-store.ts";
import { createOwnSkills } from "../storage/store-skill.ts";
import { SkillSources } from "../skill-sources.ts";
import { type LastingStatistics, createLastingStatistics, readUsedPaths } from "../statistics.ts";

/** The modules and settings that the methods of a runtime use. */
export interface RuntimeParts {
  readonly options: RuntimeOptions;
  readonly settings: RuntimeSettings;
  /** Returns the problems of the configuration files that were read. */
  readonly fromFiles: () => readonly Problem[];
  /** Takes settings that were read again. */
  readonly onReload: (fresh: RuntimeSettings) => void;
  /** Reads files and applies them one time after the other: what was read last is in force at the end. */
  readonly inTurn: Queue;
  readonly registry: Registry;
  readonly sources: SkillSources;
  readonly providers: Providers;
  readonly events: EventEmitter<RuntimeEvents>;
  readonly skillSettings: SkillSettings;
  readonly store: Store;
  readonly database: LazyDatabase;
  readonly programStore: ProgramStore;
  readonly accounts: RuntimeAccounts;
  /** The logins at MCP servers; `undefined` if they end with the process. */
  readonly logins: RuntimeLogins | undefined;
  readonly alerts: RuntimeAlerts;
  readonly statistics: LastingStatistics;
  readonly secrets: KnownSecrets;
  readonly log: LogListener;
  readonly savedCalls: SavedCalls;
  readonly policy: LivePolicy;
  readonly trust: LiveTrust;
  /** The executors that execute the runs; `undefined` if this process executes them. */
  readonly executors: ExecutorPool | undefined;
  /** How executors and fronts make calls with accounts. */
  readonly fronts: FrontLinks;
  readonly audit: RuntimeAudit | undefined;
  readonly retention: RetentionSchedule;
  /** Sentences about a store that cannot be used as it is. */
  readonly storeProblems: readonly Problem[];
  readonly used: ReadonlySet<string>;
}

/** On an executor, fronts make the calls with accounts; a front makes those of executors. */
export interface FrontLinks {
  elsewhere?: CallElsewhere;
  served?: { close(): Promise<void> };
}

const NOTHING_USED: ReadonlySet<string> = new Set();

/** Opens the modules of a runtime. */
export async function openParts(options: RuntimeOptions): Promise<RuntimeParts> {
  const settings = await readOptions(options);
  const registry = createRegistry();
  const refresh = createRefresh(registry, (skill) => skillSettings.of(skill));
  const secrets = new KnownSecrets(settings.secretValues, refresh);
  const skillSettings = new SkillSettings(settings.sections["skills"], settings.variables, (v) => secrets.add(v));
  const sources = new SkillSources(registry, settings.skills, skillSettings.disabled);
  // Each MCP session listens: with more than ten, Node would warn of a leak.
  const events = new EventEmitter<RuntimeEvents>().setMaxListeners(0);
  registry.onChange(() => void (events.listenerCount("catalog") > 0 && events.emit("catalog", registry.catalog)));
  forwardLog(events, options.log);
  const store = createStore(settings.store, settings.timeouts.lockMs);
  const onLog: LogListener = (level, text, path) =>
    void events.emit("log", { level, text: secrets.maskText(text), ...(path !== undefined && { path }) });
  const statistics = openStatistics(store, onLog);
  const policy = await openPolicy(settings.policyFile, settings.policy);
  let current = settings;
  const trusted = async (): Promise<RuntimeSettings> => {
    current = await settings.trusted();
    if (current === settings) return current;
    secrets.add(current.secretValues);
    skillSettings.replace(current.sections["skills"], current.variables);
    policy.configure(current.policy);
    accounts.replace(current.accounts);
    return current;
  };
  const { inspectSkills: inspector, deferSkills: defersImports = false } = options;
  const skillVariables = (): Readonly<Record<string, string>> => skillSettings.environment;
  const needs = { isolated: skillSettings.isolated, inspector, defersImports, skillVariables };
  const savedCalls = new SavedCalls();
  const saved = createSavedHost(settings, { savedCalls, store, log: onLog });
  const trust = createLiveTrust(
    () => current,
    async () => (current = await readAgain(options)),
  );
  const stored = createDatabaseParts(settings, { options, secrets, log: onLog, events });
  const { database, accounts } = stored;
  const programStore = openProgramStore(settings, database);
  sources.add(createOwnSkills(programStore));
  const own = { accounts, tokens: stored.logins?.tokens, ...createServerListeners(events, () => providers.servers) };
  const parts = { ...own, sources: trusted, trust, log: onLog, secrets, saved };
  const providers = createProviders({ ...settings, ...needs, ...parts }, sources);
  if (options.lazy !== true) await providers.open();
  const audit = createAudit(settings, database, onLog);
  if (options.lazy !== true) await audit?.open();
  return {
    options,
    settings,
    fromFiles: () => current.problems,
    onReload: (fresh: RuntimeSettings) => void (current = fresh),
    inTurn: createQueue(),
    registry,
    sources,
    providers,
    events,
    skillSettings,
    store,
    ...stored,
    programStore,
    statistics,
    secrets,
    log: onLog,
    savedCalls,
    policy,
    trust,
    executors: await openExecutors(settings, { registry, policy, log: onLog }),
    fronts: {},
    audit,
    used: options.lazy === true ? NOTHING_USED : await readUsedPaths(statistics),
  };
}

function openStatistics(store: RuntimeParts["store"], log: LogListener): RuntimeParts["statistics"] {
  return createLastingStatistics(store, (error) => log("warn", `Cannot keep statistics: ${getMessage(error)}`));
}

function openProgramStore({ store, timeouts }: RuntimeSettings, database: LazyDatabase): ProgramStore {
  const takeOver = store === undefined ? undefined : createTakeOver(store, timeouts.lockMs);
  return createProgramStore(() => database.open(), takeOver);
}

function createServerListeners(
  events: RuntimeParts["events"],
  listServers: () => readonly ServerStatus[],
): { readonly onServers: () => void; readonly onListChanged: (skill: string, list: ListName) => void } {
  return {
    onServers: () => void events.emit("servers", listServers()),
    onListChanged: (skill, list) => void events.emit("list", skill, list),
  };
}

/** Creates a function that reads the settings of all skills, once for each catalog. */
function createRefresh(registry: Registry, read: (skill: ProvidedSkill) => unknown): () => void {
  let catalog: Catalog | undefined;
  return () => {
    if (catalog === registry.catalog) return;
    catalog = registry.catalog;
    for (const { provided } of catalog.skills) read(provided);
  };
}

/** Opens the database at its first use, deletes old records in it, and says in the log when it fails and works again. */
function createDatabaseParts(
  settings: RuntimeSettings,
  { options: { lazy = false }, secrets, log, events }: Pick<RuntimeParts, "options" | "secrets" | "log" | "events">,
): Pick<RuntimeParts, "accounts" | "alerts" | "database" | "logins" | "retention" | "storeProblems"> {
  const { database: location, retention: retentionSettings, timeouts } = settings;
  const storeProblems: Problem[] = [];
  const retention = scheduleRetention(retentionSettings, (text) => log("warn", text));
  const warn = (error: string): void => void storeProblems.push({ source: "store", error, isForAllRuns: true });
  const database = createLazyDatabase(location, { lockMs: timeouts.lockMs, warn }, (opened) => {
    if (!lazy) retention.start(opened);
  });
  database.health.onChange((failure) => {
    if (failure === undefined) log("warn", "The store works again");
    else log("error", `The store fails: ${failure.message}`);
    events.emit("store", failure);
  });
  const alerts = createRuntimeAlerts(settings, log);
  const onReconnect = (connection: EndedConnection): void => alerts.onReconnect(connection);
  const accounts = createRuntimeAccounts({ settings, database, secrets, onReconnect });
  accounts.onEnd((ended) => {
    if (ended.end === undefined) log("warn", `The account ${ended.title} must be connected again: ${ended.why}`);
    events.emit("account", ended);
  });
  const logins = createRuntimeLogins({ settings, database, secrets });
  return { database, accounts, logins, alerts, retention, storeProblems };
}

function forwardLog(events: EventEmitter<RuntimeEvents>, log: RuntimeOptions["log"]): void {
  if (log !== undefined) events.on("log", ({ level, text, path }) => log(level, text, path));
}

/** Connects to the executors in the background. Throws `OPTION_INVALID` for a key that cannot be read. */
async function openExecutors(
  { executors, database, limits, timeouts, sections }: RuntimeSettings,
  { registry, policy, log }: Pick<RuntimeParts, "registry" | "policy" | "log">,
): Promise<ExecutorPool | undefined> {
  if (executors === undefined) return undefined;
  const { connectExecutors, createVersionReader } = await import("../../executors/index.ts");
  const getRuntime = (): VersionedRuntime => {
    return { catalog: registry.catalog, policy: policy.current, limits, timeouts, sections };
  };
  return connectExecutors({
    settings: executors,
    readVersion: createVersionReader(getRuntime, database),
    warn: (text) => log("warn", text),
    inform: (text) => log("info", text),
  });
}

function createSavedHost(
  { runs, limits }: RuntimeSettings,
  { savedCalls: { run }, store, log }: Pick<RuntimeParts, "savedCalls" | "store" | "log">,
): SavedHost {
  const { savedPasses: requiredPasses } = runs;
  const { wallMs } = limits;
  return { readProgram: readSavedProgram, run, counts: store.space("saved"), requiredPasses, wallMs, log };
}
