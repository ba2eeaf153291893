import { findServerSecrets } from "../config/index.ts";
import type { LogListener, RuntimeSettings } from "./options.ts";
import type { McpProvider, ServerStatus } from "../providers/mcp/index.ts";
import type { KnownSecrets } from "../shared/secrets.ts";
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
  /** Accepts the tools of an MCP server as they are now. */
  accept(server: string): void;
  close(): Promise<void>;
}

/** Settings that providers need. */
export interface ProviderSettings extends Pick<RuntimeSettings, "watch" | "serverUse" | "timeouts" | "env"> {
  /** Returns the folder of skills and the servers to start; called when the providers are opened. */
  readonly sources: () => Promise<Pick<RuntimeSettings, "skillsDir" | "servers">>;
  /** Names of the skills that want a process of their own. */
  readonly isolated: readonly string[];
  readonly log: LogListener;
  readonly secrets: KnownSecrets;
}

/** Creates the providers; opens nothing before it is needed. */
export function createProviders(settings: ProviderSettings, sources: SkillSources): Providers {
  let opening: Promise<OpenedProviders> | undefined;
  let opened: OpenedProviders = NO_PROVIDER;
  let isComplete = false;
  const open = async (): Promise<void> => {
    opened = await (opening ??= openProviders(settings, sources));
  };
  return {
    open,
    async whenKnown() {
      await open();
      await opened.known;
      isComplete = true;
    },
    async ready() {
      await open();
      await opened.ready;
      isComplete = true;
    },
    get isComplete() {
      return isComplete;
    },
    get servers() {
      return opened.servers;
    },
    accept: (server) => opened.accept(server),
    async close() {
      // Providers can be closed only once they are open.
      if (opening !== undefined) await open();
      await sources.close();
    },
  };
}

type OpenedProviders = Pick<McpProvider, "servers" | "known" | "ready" | "accept">;

const NO_PROVIDER: OpenedProviders = {
  servers: [],
  known: Promise.resolve(),
  ready: Promise.resolve(),
  accept: () => {},
};

/** Loads the folder of skills, and lets MCP servers connect in the background. Modules without work are not loaded. */
async function openProviders(
  { sources: readSources, watch, isolated, log, serverUse, timeouts, env, secrets }: ProviderSettings,
  sources: SkillSources,
): Promise<OpenedProviders> {
  const { skillsDir, servers: declared } = await readSources();
  if (skillsDir !== undefined) {
    const { loadSkills } = await import("../providers/skills/index.ts");
    sources.add(await loadSkills(skillsDir, { isolated, watch, log }));
  }
  const servers = await declared();
  if (servers.length === 0) return NO_PROVIDER;
  // Again: a person may have been asked for some of them.
  secrets.add(servers.flatMap(findServerSecrets));
  const { connectServers } = await import("../providers/mcp/index.ts");
  const provider = connectServers(servers, {
    ...serverUse,
    connectTimeoutMs: timeouts.connectMs,
    env,
    secrets,
    clientInfo: { name: "skillgate", version: VERSION },
  });
  sources.add(provider);
  return provider;
}
