import { withOptionNames } from "../../shared/settings/option-names.ts";
import { ACCOUNTS_OPTIONS } from "../settings/api-options.ts";
import { findServerSecrets } from "../../config/index.ts";
import { OWNER } from "../../model/caller.ts";
import type { RunObserver } from "../../model/run-observer.ts";
import type { LogLevel } from "../../model/skill.ts";
import type { McpProvider, ServerConfig } from "../../providers/mcp/index.ts";
import type { ShownOperation, SourceProvider, SourceStatus } from "../../providers/sources/index.ts";
import type { CallerOption } from "../../runtime.ts";
import { readAgain } from "../settings/live-trust.ts";
import type { Providers } from "../open-providers.ts";
import { createAccountsApi, type RuntimeAccountsApi } from "./accounts.ts";
import type { RuntimeParts } from "./parts.ts";

/** A connection to a server beside the one that runs. */
export type SeparateServer = Pick<McpProvider, "ready" | "servers" | "close">;

/** How a server is tested. */
export interface SeparateServerOptions {
  /** Stops the server. */
  readonly signal: AbortSignal;
  readonly log: (server: string, level: LogLevel, text: string) => void;
}

/** Methods of a runtime that administer its providers. */
export interface ServerApi {
  /**
   * Lists the tools that MCP servers have only for the headers or session values of a request, only for a caller with a connected
   * account, or only for clients that answer their requests; `undefined` if they are known.
   */
  listServersWith(options: CallerOption & Pick<RunObserver, "requestValues" | "client">): Promise<void> | undefined;
  /** Connects at once to the MCP servers that could not be reached and whose skills a text names; `undefined` if there are none. */
  reachServers(text: string): Promise<void> | undefined;
  /** Accepts the tools of an MCP server as they are now: changes of theirs are not reported any more, or not held back. */
  acceptTools(server: string): void;
  /**
   * Reads the configuration files again: servers that were added or changed start, and those that are gone or disabled stop.
   * Calls of servers that stay are not disturbed.
   */
  reloadServers(): Promise<void>;
  /** Connects to a server once more, beside the one that runs; the caller closes it. */
  connectAlone(config: ServerConfig, options: SeparateServerOptions): Promise<SeparateServer>;
  /** Loads the skill files that have changed, at once; with the option `watch`, changes are loaded soon without it. */
  reloadSkills(): Promise<void>;
  /** Lists the APIs of the settings, with the states of their documents. */
  listApis(): readonly SourceStatus[];
  /** Lists the operations of an API, with their effects. Throws for a name that the settings do not have. */
  listOperations(name: string): readonly ShownOperation[];
  /** Reads the document of an API of the settings again. Rejects for a name that they do not have. */
  refreshApi(name: string): Promise<SourceStatus>;
  /** Accepts the operations of an API as its document has them now. Rejects for a name that the settings do not have. */
  acceptApi(name: string): Promise<SourceStatus>;
  /** The accounts of the settings, and the connections of callers. */
  readonly accounts: RuntimeAccountsApi;
}

/** Creates the methods of a runtime that administer its providers. */
export function createServerAdmin(parts: RuntimeParts): ServerApi {
  const { providers } = parts;
  return {
    listServersWith: ({ caller = OWNER, ...asker }) => providers.listWith({ caller, ...asker }),
    reachServers: (text) => providers.reach(text),
    acceptTools: (server) => providers.accept(server),
    reloadSkills: () => providers.reloadSkills(),
    reloadServers: () => reloadServers(parts),
    connectAlone: (config, options) => connectAlone(parts, config, options),
    accounts: withOptionNames("accounts", createAccountsApi(parts), ACCOUNTS_OPTIONS),
    listApis: () => providers.apis?.sources ?? [],
    listOperations: (name) => requireApis(providers).listOperations(name),
    async refreshApi(name) {
      await providers.open();
      return requireApis(providers).refresh(name);
    },
    async acceptApi(name) {
      await providers.open();
      return requireApis(providers).accept(name);
    },
  };
}

async function connectAlone(
  { settings: { serverUse, timeouts, env }, secrets, logins }: RuntimeParts,
  config: ServerConfig,
  options: SeparateServerOptions,
): Promise<SeparateServer> {
  const { connectServers } = await import("../../providers/mcp/index.ts");
  const { stateDir } = serverUse;
  return connectServers([config], {
    ...options,
    env,
    secrets,
    connectTimeoutMs: timeouts.connectMs,
    ...(stateDir !== undefined && { stateDir }),
    ...(logins !== undefined && { tokens: logins.tokens }),
  });
}

function requireApis({ apis }: Providers): SourceProvider {
  if (apis === undefined) throw new Error("The settings have no sources");
  return apis;
}

/** Reads the entries of servers again. A server whose changed entry is held stays as it runs until it would start again. */
export function reloadServers(parts: RuntimeParts): Promise<void> {
  return parts.inTurn(() => takeUpServers(parts));
}

async function takeUpServers({ options, providers, secrets, onReload, log }: RuntimeParts): Promise<void> {
  const fresh = await readAgain(options);
  const servers = await fresh.servers();
  secrets.add([...fresh.secretValues, ...servers.flatMap(findServerSecrets)]);
  onReload(fresh);
  const heldServers = fresh.trust?.heldServers ?? new Map<string, string>();
  for (const why of heldServers.values()) log("warn", why);
  await providers.replaceServers(servers, heldServers);
}
