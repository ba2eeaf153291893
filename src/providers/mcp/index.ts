import { homedir } from "node:os";
import { join } from "node:path";

import type { Implementation } from "@modelcontextprotocol/client";

import { SkillgateError } from "../../errors.ts";
import { NO_ACCOUNTS, type TokenStore, type UsableAccounts } from "../../model/account.ts";
import type { Client } from "../../model/client-requests.ts";
import { OWNER } from "../../model/caller.ts";
import { canonicalText } from "../../shared/digest.ts";
import { toSkillName } from "../../shared/names/skill-names.ts";
import type { Provider } from "../../model/provider.ts";
import type { CallContext } from "../../model/skill.ts";
import { KnownSecrets } from "../../shared/secrets.ts";
import { RESTART_POLICY, type RestartPolicy } from "./connections/backoff.ts";
import { StartQueue } from "./connections/start-queue.ts";
import type { LogLevel } from "../../model/skill.ts";
import { createFileCache } from "../../shared/file-cache.ts";
import { LISTINGS } from "./known-server.ts";
import { Server, type ServerOptions, type ServerStatus } from "./server.ts";
import type { ChangePolicy } from "../../shared/changes/definition-changes.ts";
import type { Authorize } from "./oauth/session.ts";
import { knownTokens, withoutUnreadable } from "./oauth/known-tokens.ts";
import { tokensInMemory } from "./oauth/tokens-in-memory.ts";
import type { ServerConfig } from "./server-config.ts";
import type { ProcessEnvironment } from "../../shared/process/child-environment.ts";
import { killOrphans } from "./stdio/process-registry.ts";

export type { IdentityProviderConfig, OAuthConfig } from "./oauth/config.ts";
export type { Authorize } from "./oauth/session.ts";
export type {
  CommandSecrets,
  ProtocolChoice,
  ServerConfig,
  SessionTemplate,
  TextForm,
  TextSetting,
} from "./server-config.ts";
export type { ServerStatus } from "./server.ts";

export interface McpProviderOptions {
  /** The environment of this process; children get the harmless part of it. */
  readonly env: ProcessEnvironment;
  /** Time limit of the handshake and the first list of tools; 30 s by default. */
  readonly connectTimeoutMs?: number;
  /** Maximum size of a message from a server; 32 MiB by default. */
  readonly maxMessageBytes?: number;
  readonly restart?: Partial<RestartPolicy>;
  /** How many processes start together, apart from those that a call waits for; by default, two for each core. */
  readonly startsTogether?: number;
  /** A server without a call for this time is stopped; its next call starts it again. Never by default. */
  readonly idleMs?: number;
  /** Absolute path of the folder for listings and accepted tools; by default, they stay in memory. */
  readonly stateDir?: string;
  /** The grants of logins; by default, they stay in memory. */
  readonly tokens?: TokenStore;
  /** Servers with a stored listing are started at once (the default), or by their first call. */
  readonly start?: "at once" | "when needed";
  /** A tool that differs from its accepted definition is reported (the default), or also held back until accepted. */
  readonly changes?: ChangePolicy;
  /** Answers requests of servers for calls without a client of their own: for a program with a single user. */
  readonly client?: Client;
  /** Opens the page on which the user allows access to a server; without it, only earlier logins are used. */
  readonly authorize?: Authorize;
  /** The client name and version that servers see. */
  readonly clientInfo?: Implementation;
  /** Secrets to mask in the output and errors of servers; receives the tokens of logins. */
  readonly secrets?: KnownSecrets;
  /** The accounts whose names servers have; none by default. */
  readonly accounts?: UsableAccounts;
  /** Stops all servers. */
  readonly signal?: AbortSignal;
  readonly log?: (server: string, level: LogLevel, text: string) => void;
  /** Called with the skill of a server that has announced a change of its resources or prompts. */
  readonly onListChanged?: ServerOptions["onListChanged"];
  /** Says why a server must not be started now, each time before it is; `undefined` if it may. */
  readonly findObstacle?: (server: string) => Promise<string | undefined>;
}

/** The caller of a request, with its client, and the headers and session values of the request. */
export type RequestAsker = Pick<CallContext, "caller" | "requestValues" | "client">;

/** The skills of MCP servers; they appear as the servers connect. */
export interface McpProvider extends Provider {
  /** In the order of the configuration. */
  readonly servers: readonly ServerStatus[];
  /** Settles when each server has a listing or has failed. */
  readonly known: Promise<void>;
  /** Settles when each server is connected or has failed; starts servers that are not started yet. */
  readonly ready: Promise<void>;
  /** Lists the tools that servers have only for such a request, where they are not known; `undefined` if there is nothing to list. */
  listWith(asker: RequestAsker): Promise<void> | undefined;
  /** Connects at once to the servers that could not be reached and whose skills a text names; `undefined` if there are none. */
  reach(text: string): Promise<void> | undefined;
  /** Accepts the tools of a server as they are now. */
  accept(server: string): void;
  /**
   * Stops servers that are no longer configured, and starts new and changed ones; the others keep their connections. `heldServers`: the
   * servers whose changes the owner has not seen, with the reasons; those that run stay as they are.
   */
  replace(configs: readonly ServerConfig[], heldServers?: ReadonlyMap<string, string>): Promise<void>;
  /** Calls a tool by its server name and its protocol name. */
  call(server: string, tool: string, input: Readonly<Record<string, unknown>>, context: CallContext): Promise<unknown>;
}

/** Starts all servers at once, each on its own, and returns without waiting for any. */
export function connectServers(configs: readonly ServerConfig[], options: McpProviderOptions): McpProvider {
  const listeners: (() => void)[] = [];
  const serverOptions = createServerOptions(options, () => listeners.forEach((listener) => listener()));
  if (configs.some(({ transport, enabled }) => transport === "stdio" && enabled)) killOrphans();
  let byPlan = startServers(configs, serverOptions);
  let servers = [...byPlan.values()];
  const close = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.close()));
  };
  options.signal?.addEventListener("abort", () => void close(), { once: true });
  return {
    get skills() {
      return servers.flatMap((server) => server.skill ?? []);
    },
    get problems() {
      return servers.flatMap((server) => server.problems);
    },
    get servers() {
      return servers.map((server) => server.status);
    },
    get known() {
      return Promise.all(servers.map((server) => server.known)).then(() => {});
    },
    get ready() {
      return Promise.all(servers.map((server) => server.connect())).then(() => {});
    },
    listWith(asker) {
      const waiting = servers.filter((server) => server.needsListing(asker));
      if (waiting.length === 0) return undefined;
      const context = { ...asker, signal: new AbortController().signal, log: () => {}, progress: () => {} };
      return Promise.all(waiting.map((server) => server.listWith(context))).then(() => {});
    },
    reach(text) {
      const reached = servers.flatMap((server) => server.reach(text) ?? []);
      return reached.length === 0 ? undefined : Promise.all(reached).then(() => {});
    },
    accept: (name) => serverNamed(name, servers).accept(),
    async replace(configs, heldServers = new Map()) {
      const before = byPlan;
      byPlan = startServers(keepRunning(configs, servers, heldServers), serverOptions, before);
      servers = [...byPlan.values()];
      await Promise.all([...before.values()].filter((server) => !servers.includes(server)).map((old) => old.close()));
      serverOptions.onChange();
    },
    onChange: (listener) => void listeners.push(listener),
    async call(name, tool, input, context) {
      return serverNamed(name, servers, tool).call(tool, input, context);
    },
    close,
  };
}

function createServerOptions(options: McpProviderOptions, onChange: () => void): ServerOptions {
  const { stateDir, secrets = new KnownSecrets(), tokens = tokensInMemory(), authorize } = options;
  return {
    env: options.env,
    clientInfo: options.clientInfo ?? { name: "skillgate", version: "0" },
    connectTimeoutMs: options.connectTimeoutMs ?? 30_000,
    maxMessageBytes: options.maxMessageBytes ?? 32 << 20,
    restart: { ...RESTART_POLICY, ...options.restart },
    starts: new StartQueue(options.startsTogether),
    tokens: knownTokens(authorize === undefined ? tokens : withoutUnreadable(tokens), secrets),
    secrets,
    accounts: options.accounts ?? NO_ACCOUNTS,
    caller: OWNER.id,
    authorize,
    client: options.client,
    idleMs: options.idleMs,
    cache: stateDir === undefined ? undefined : createFileCache(join(stateDir, LISTINGS)),
    pins: stateDir === undefined ? new Map<string, unknown>() : createFileCache(join(stateDir, "accepted")),
    npxFolder: stateDir === undefined ? homedir() : join(stateDir, "npx"),
    programs: stateDir === undefined ? new Map<string, unknown>() : createFileCache(join(stateDir, "programs")),
    changePolicy: options.changes ?? "report",
    isLazy: options.start === "when needed",
    log: options.log ?? (() => {}),
    findObstacle: options.findObstacle ?? (async () => undefined),
    onChange,
    onListChanged: options.onListChanged ?? (() => {}),
  };
}

function serverNamed(name: string, servers: readonly Server[], tool?: string): Server {
  const server = servers.find(({ config }) => config.name === name);
  if (server !== undefined) return server;
  const facts = { server: name, ...(tool !== undefined && { tool }) };
  throw new SkillgateError("SKILL_UNKNOWN", `MCP server not found: ${name}`, facts);
}

/** A server that is to be started, unless there is an obstacle. */
interface ServerPlan {
  readonly config: ServerConfig;
  readonly skillName: string;
  readonly obstacle: string | undefined;
}

/** If two enabled servers have one skill name, the first gets it; the second is not started and reports the conflict. */
function planServers(configs: readonly ServerConfig[]): readonly ServerPlan[] {
  const owners = new Map<string, string>();
  return configs.map((config) => {
    const skillName = config.skillName ?? toSkillName(config.name);
    const mayStart = config.enabled && config.obstacle === undefined;
    const owner = mayStart ? owners.get(skillName) : undefined;
    if (mayStart && owner === undefined) owners.set(skillName, config.name);
    const clash =
      owner === undefined
        ? undefined
        : `MCP servers '${owner}' and '${config.name}' both become ${skillName}, set skillName for one of them`;
    return { config, skillName, obstacle: config.obstacle ?? clash };
  });
}

/** Returns what a server runs by in place of a held entry, or of one with the same words that could not be started again. */
function keepRunning(
  configs: readonly ServerConfig[],
  servers: readonly Server[],
  heldServers: ReadonlyMap<string, string>,
): readonly ServerConfig[] {
  const running = new Map(servers.map(({ config }) => [config.name, config]));
  return configs.map((config) => {
    const current = running.get(config.name);
    if (current === undefined || current.obstacle !== undefined || config.obstacle === undefined) return config;
    return heldServers.has(config.name) || canonicalText(current.declared) === canonicalText(config.declared)
      ? current
      : config;
  });
}

/** Starts the servers of a configuration, by their plans. A server that runs by the same plan stays. */
function startServers(
  configs: readonly ServerConfig[],
  options: ServerOptions,
  running: ReadonlyMap<string, Server> = new Map(),
): ReadonlyMap<string, Server> {
  return new Map(
    planServers(configs).map((plan) => {
      const key = canonicalText(plan);
      const { config, skillName, obstacle } = plan;
      return [key, running.get(key) ?? new Server(config, skillName, obstacle, options)];
    }),
  );
}
