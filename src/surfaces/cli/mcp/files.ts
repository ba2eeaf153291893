import type { CommonFlags, CliSession } from "../session.ts";
import { createUnknownValueError } from "../usage-error.ts";
import {
  type Config,
  type ConfigModule,
  type ConfigOptions,
  loadConfigModule,
  type WritableScope,
} from "./load-config.ts";

/** The loaded configuration, with the module and the options that loaded it. */
export interface CommandConfig extends Config {
  readonly configModule: ConfigModule;
  readonly options: ConfigOptions;
}

/** Loads the configuration of this folder and of the user. */
export async function openConfig({ flags, addProblems }: CliSession): Promise<CommandConfig> {
  const configModule = await loadConfigModule();
  const options = configOptions(flags);
  const config = await configModule.loadConfig(options);
  addProblems(config.warnings);
  return { ...config, configModule, options };
}

export function configOptions({ settings, mcpConfig }: CommonFlags): ConfigOptions {
  return {
    cwd: process.cwd(),
    env: process.env,
    ...(settings !== undefined && { settingsFile: settings }),
    ...(mcpConfig !== undefined && { mcpConfigFile: mcpConfig }),
  };
}

/** The file of each scope, as the help describes it. */
export const SCOPES: ReadonlyMap<string, string> = new Map([
  ["project", ".mcp.json in this folder, shared by everyone who works on it"],
  ["local", "a private file, for this folder only"],
  ["user", "~/.config/mcp/mcp.json, for all your folders"],
]);

export const SCOPE_OPTION = "-s, --scope <scope>";

/** Parses the value of `--scope`. */
export function scopeNamed(scope: string): WritableScope {
  if (scope === "project" || scope === "local" || scope === "user") return scope;
  throw createUnknownValueError("scope", scope, [...SCOPES.keys()]);
}
