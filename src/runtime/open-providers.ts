import { join } from "node:path";

import { findServerSecrets } from "../config/index.ts";
import type { ListName } from "../model/mcp-features.ts";
import type { RuntimeAccounts } from "./accounts.ts";
import type { LogListener } from "./options.ts";
import type { SkillGate } from "../model/provider.ts";
import type { TokenStore } from "../model/account.ts";
import type { LiveTrust } from "./settings/live-trust.ts";
import type { RuntimeSettings } from "./settings/runtime-settings.ts";
import type { McpProvider, RequestAsker, ServerConfig, ServerStatus } from "../providers/mcp/index.ts";
import type { SavedHost, SavedModule, SkillInspector, SkillsProvider } from "../providers/skills/index.ts";
import type { SourceConfig, SourceProvider } from "../providers/sources/index.ts";
import type { KnownSecrets } from "../shared/secrets.ts";
import type { NodeProvider, NodeSettings, NodeStatus } from "../providers/nodes/index.ts";
import { getMessage } from "../errors.ts";
import type { SkillSources } from "./skill-sources.ts";
import { VERSION } from "../shared/version.ts";

/** The providers that settings ask for, from their start to their end. */
export interface Providers {
  /** Settles when local skills are loaded, and MCP servers have begun to connect. */
  open(): Promise<void>;
  /** Settles when the tools of every MCP server are known. Opens the providers that are not open yet. */
  whenKnown(): Promise<void>;
  /** Settles when every MCP server is connected or has failed. Opens the providers that are not open yet. */
  ready(): Promise<void>;
  /** True when no more skills follow. */
  readonly isComplete: boolean;
  readonly servers: readonly ServerStatus[];
  /** Other machines whose skills can be called. */
  readonly nodes: readonly NodeStatus[];
  /** The APIs of the settings; `undefined` if there are none, or providers are not open. */
  readonly apis: SourceProvider | undefined;
  /** Lists the tools that MCP servers have only for such a request; `undefined` if they are known. */
  listWith(asker: RequestAsker): Promise<void> | undefined;
  /** Connects at once to the MCP servers that could not be reached and whose skills a text names; `undefined` if there are none. */
  reach(text: string): Promise<void> | undefined;
  /** Accepts the tools of an MCP server as they are now. */
  accept(server: string): void;
  /** Loads the skill files that have changed, at once. */
  reloadSkills(): Promise<void>;
  /**
   * Starts, restarts and stops MCP servers so that they are those of `servers`; of those that are held, none restarts. One change at a
   * time: two at once would each create the provider.
   */
  replaceServers(servers: readonly ServerConfig[], heldServers: ReadonlyMap<string, string>): Promise<void>;
  /** Opens and closes APIs so that they are those of `configs`; one change at a time. */
  replaceApis(configs: readonly SourceConfig[]): Promise<void>;
  /** The saved skills of the folder, also those that are not offered because they failed. */
  readonly saved: readonly SavedModule[];
  close(): Promise<void>;
}

/** Settings that providers need. */
export interface ProviderSettings extends Pick<
  RuntimeSettings,
  "watch" | "serverUse" | "timeouts" | "limits" | "env" | "cwd"
> {
  /** Returns the folder of skills and the servers to start; called when the providers are opened. */
  readonly sources: () => Promise<Pick<RuntimeSettings, "skillsDir" | "servers" | "nodes" | "apis" | "trust">>;
  readonly trust: LiveTrust;
  /** The variables that the settings name for skills. */
  readonly skillVariables: () => Readonly<Record<string, string>>;
  /** Names of the skills that want a process of their own. */
  readonly isolated: readonly string[];
  readonly inspector: SkillInspector | undefined;
  readonly defersImports: boolean;
  readonly log: LogListener;
  readonly secrets: KnownSecrets;
  readonly accounts: Pick<RuntimeAccounts, "find" | "refresh" | "open" | "definitions">;
  /** The grants of logins at MCP servers; without it, they end with the process. */
  readonly tokens: TokenStore | undefined;
  readonly saved: SavedHost;
  /** Called after each change of an MCP server. */
  readonly onServers: () => void;
  readonly onListChanged: (skill: string, list: ListName) => void;
}

/** Creates the providers; opens nothing before it is needed. */
export function createProviders(settings: ProviderSettings, sources: SkillSources): Providers {
  let opening: Promise<OpenedProviders> | undefined;
  let opened: OpenedProviders = {};
  let isOpen = false;
  let isComplete = false;
  const open = async (): Promise<void> => {
    const first = await (opening ??= openProviders(settings, sources));
    if (isOpen) return;
    opened = first;
    isOpen = true;
  };
  return {
    open,
    async whenKnown() {
      await open();
      await sources.whenKnown();
      isComplete = true;
    },
    async ready() {
      await open();
      await sources.ready();
      isComplete = true;
    },
    get isComplete() {
      return isComplete;
    },
    get servers() {
      return opened.mcp?.servers ?? [];
    },
    get nodes() {
      return opened.nodes?.nodes ?? [];
    },
    get apis() {
      return opened.apis;
    },
    listWith: (asker) => (isOpen ? opened.mcp?.listWith(asker) : open().then(() => opened.mcp?.listWith(asker))),
    reach: (text) => opened.mcp?.reach(text),
    accept: (server) => opened.mcp?.accept(server),
    async reloadSkills() {
      await open();
      await opened.skills?.refresh();
    },
    async replaceServers(servers, heldServers) {
      await open();
      if (opened.mcp !== undefined) return opened.mcp.replace(servers, heldServers);
      const mcp = await openMcp(servers, settings, sources);
      opened = { ...opened, mcp };
    },
    async replaceApis(configs) {
      await open();
      if (opened.apis !== undefined) return opened.apis.replace(configs);
      if (configs.length === 0) return;
      const apis = await openApis(configs, settings, sources);
      opened = { ...opened, apis };
      await apis.known;
    },
    get saved() {
      return opened.skills?.saved ?? [];
    },
    async close() {
      // Providers can be closed only once they are open.
      if (opening !== undefined) await open();
      await sources.close();
    },
  };
}

/** The providers whose members are used beyond those that all providers have. */
interface OpenedProviders {
  readonly mcp?: McpProvider | undefined;
  readonly skills?: SkillsProvider | undefined;
  readonly nodes?: NodeProvider | undefined;
  readonly apis?: SourceProvider | undefined;
}

/** Loads the folder of skills, and lets MCP servers connect in the background. Modules without work are not loaded. */
async function openProviders(settings: ProviderSettings, sources: SkillSources): Promise<OpenedProviders> {
  const { skillsDir, servers, nodes: network, apis: configs, trust } = await settings.sources();
  // Providers find accounts from the start.
  if (settings.accounts.definitions.length > 0) await settings.accounts.open();
  const gate = trust?.ownsSkills === true ? settings.trust.gate : undefined;
  // One after the other, because of two skills with one name that of the first provider is used.
  const skills = skillsDir === undefined ? undefined : await openSkills(skillsDir, gate, { settings, sources });
  const nodes = network === undefined ? undefined : await openNodes(network, settings, sources);
  const apis = configs.length === 0 ? undefined : await openApis(configs, settings, sources);
  return { skills, nodes, apis, mcp: await openMcp(await servers(), settings, sources) };
}

interface ProviderContext {
  readonly settings: ProviderSettings;
  readonly sources: SkillSources;
}

async function openSkills(
  folder: string,
  gate: SkillGate | undefined,
  { settings: { watch, isolated, log, inspector, defersImports, skillVariables, saved }, sources }: ProviderContext,
): Promise<SkillsProvider> {
  const { loadSkills } = await import("../providers/skills/index.ts");
  const variables = skillVariables();
  const options = { isolated, watch, log, inspector, defersImports, gate, variables, saved };
  return sources.add(await loadSkills(folder, options));
}

async function openMcp(
  servers: readonly ServerConfig[],
  { serverUse, timeouts, env, secrets, accounts, tokens, trust, onServers, onListChanged }: ProviderSettings,
  sources: SkillSources,
): Promise<McpProvider | undefined> {
  if (servers.length === 0) return undefined;
  // Again: a person may have been asked for some of them.
  secrets.add(servers.flatMap(findServerSecrets));
  const { connectServers } = await import("../providers/mcp/index.ts");
  const clientInfo = { name: "skillgate", version: VERSION };
  const connectTimeoutMs = timeouts.connectMs;
  const findObstacle = (server: string): Promise<string | undefined> => trust.whyServerHeld(server);
  const common = { connectTimeoutMs, env, secrets, accounts, clientInfo, findObstacle, onListChanged };
  const options = { ...serverUse, ...common, ...(tokens !== undefined && { tokens }) };
  const provider = sources.add(connectServers(servers, options));
  provider.onChange(onServers);
  return provider;
}

/** Without a folder for what is kept of servers, catalogs of documents are kept as long as the process. */
async function openApis(
  configs: readonly SourceConfig[],
  { serverUse: { stateDir }, limits: { answerBytes }, cwd, accounts }: ProviderSettings,
  sources: SkillSources,
): Promise<SourceProvider> {
  const { openSources } = await import("../providers/sources/index.ts");
  const folder = stateDir === undefined ? undefined : join(stateDir, "sources");
  return sources.add(
    openSources(configs, { cwd, answerBytes, findAccount: accounts.find, ...(folder !== undefined && { folder }) }),
  );
}

/**
 * Connects to the network of other machines in the background. A key that cannot be read is a problem, and no machine is
 * used.
 */
async function openNodes(
  network: NodeSettings,
  { log }: ProviderSettings,
  sources: SkillSources,
): Promise<NodeProvider | undefined> {
  const { connectNodes } = await import("../providers/nodes/index.ts");
  try {
    return sources.add(await connectNodes(network, (text) => log("warn", text)));
  } catch (error) {
    sources.addProblem({ source: "nodes", error: getMessage(error) });
    return undefined;
  }
}
