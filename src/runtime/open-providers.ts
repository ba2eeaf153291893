import { readdir } from "node:fs/promises";

import { findServerSecrets } from "../config/index.ts";
import type { LogListener, RuntimeSettings } from "./options.ts";
import type { LearnedOptions, LearnedProvider } from "../providers/learned/index.ts";
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
  /** The learned skills with their folder; `undefined` if there are none, or providers are not open. */
  readonly learned: OpenedLearned | undefined;
  close(): Promise<void>;
}

export interface OpenedLearned {
  readonly provider: LearnedProvider;
  /** The folder of the skills. Absolute. */
  readonly folder: string;
}

/** Settings that providers need. */
export interface ProviderSettings extends Pick<RuntimeSettings, "watch" | "serverUse" | "timeouts" | "env"> {
  /** Returns the folder of skills and the servers to start; called when the providers are opened. */
  readonly sources: () => Promise<Pick<RuntimeSettings, "skillsDir" | "servers">>;
  /** Names of the skills that want a process of their own. */
  readonly isolated: readonly string[];
  readonly log: LogListener;
  readonly secrets: KnownSecrets;
  readonly learned: Pick<LearnedOptions, "run" | "counts" | "requiredPasses" | "wallMs">;
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
    get learned() {
      return opened.learned;
    },
    async close() {
      // Providers can be closed only once they are open.
      if (opening !== undefined) await open();
      await sources.close();
    },
  };
}

interface OpenedProviders extends Pick<McpProvider, "servers" | "known" | "ready" | "accept"> {
  readonly learned: OpenedLearned | undefined;
}

const NO_PROVIDER: OpenedProviders = {
  servers: [],
  known: Promise.resolve(),
  ready: Promise.resolve(),
  accept: () => {},
  learned: undefined,
};

/** Loads the folder of skills, and lets MCP servers connect in the background. Modules without work are not loaded. */
async function openProviders(
  { sources: readSources, isolated, serverUse, timeouts, env, ...settings }: ProviderSettings,
  sources: SkillSources,
): Promise<OpenedProviders> {
  const { watch, log, secrets } = settings;
  const { skillsDir, servers: declared } = await readSources();
  if (skillsDir !== undefined) {
    const { loadSkills } = await import("../providers/skills/index.ts");
    sources.add(await loadSkills(skillsDir, { isolated, watch, log }));
  }
  const learned = skillsDir === undefined ? undefined : await openLearned(skillsDir, settings, sources);
  const servers = await declared();
  if (servers.length === 0) return { ...NO_PROVIDER, learned };
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
  return {
    get servers() {
      return provider.servers;
    },
    known: provider.known,
    ready: provider.ready,
    accept: (server) => provider.accept(server),
    learned,
  };
}

/** Loads the learned skills of the folder. While its files are watched, the first one may come later. */
async function openLearned(
  folder: string,
  { learned, watch, log }: Pick<ProviderSettings, "learned" | "watch" | "log">,
  sources: SkillSources,
): Promise<OpenedLearned | undefined> {
  const names = await readdir(folder).catch(() => undefined);
  const hasLearned = names?.some((name) => /\.learned\.ya?ml$/.test(name));
  if (names === undefined || !(watch || hasLearned)) return undefined;
  const { loadLearnedSkills } = await import("../providers/learned/index.ts");
  const provider = await loadLearnedSkills(folder, { ...learned, watch, log });
  sources.add(provider);
  return { provider, folder };
}
