import type { Config, ConfigOptions } from "../../../config/index.ts";
import { existingFiles } from "../../../config/locations.ts";
import type { KnownServer } from "../../../providers/mcp/known-server.ts";
import { type EarlyFlags, getServedFolder } from "./early-flags.ts";

/** Reads the configuration as the command does later. */
export async function loadEarlyConfig(flags: EarlyFlags): Promise<Config> {
  const { loadConfig } = await import("../../../config/index.ts");
  return loadConfig(getConfigOptions(flags));
}

/** Returns the servers that the command will start; none if the configuration is missing or wrong. */
export async function readKnownServers(flags: EarlyFlags): Promise<readonly KnownServer[]> {
  try {
    if (existingFiles(getConfigOptions(flags)).length === 0) return [];
    return await describeServers(await loadEarlyConfig(flags), flags);
  } catch {
    return []; // the command reports what is wrong
  }
}

/** Describes the servers of a configuration. */
export async function describeServers({ servers }: Config, flags: EarlyFlags): Promise<readonly KnownServer[]> {
  const { resolveMcpOptions } = await import("../../../runtime/mcp-options.ts");
  const { describeKnownServers } = await import("../../../providers/mcp/known-server.ts");
  const { cwd, env } = getConfigOptions(flags);
  const { stateDir } = resolveMcpOptions({}, { section: {}, cwd, env, discover: true, lazy: false });
  return describeKnownServers(servers, stateDir);
}

function getConfigOptions(flags: EarlyFlags): ConfigOptions {
  const [settingsFile, mcpConfigFile] = [flags.get("--settings"), flags.get("--mcp-config")];
  return {
    cwd: getServedFolder(flags),
    env: process.env,
    isTrusted: false,
    hasOtherSkills: flags.has("--skills"),
    ...(settingsFile !== undefined && { settingsFile }),
    ...(mcpConfigFile !== undefined && { mcpConfigFile }),
  };
}
