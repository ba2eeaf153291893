import type { Config, ConfigOptions, DeclaredServer, WritableScope } from "../../../config/index.ts";
import type { CliSession, CommonFlags } from "../session.ts";
import { createUnknownValueError } from "../usage-error.ts";

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

/** Loads the configuration, and finds the server that a file of it declares. */
export async function openServer(
  session: CliSession,
  name: string,
  { scope }: ScopeFlag = {},
): Promise<CommandConfig & { readonly server: DeclaredServer }> {
  const config = await openConfig(session);
  return { ...config, server: config.configModule.findDeclaredServer(name, config, scope) };
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

/** The flag that names the scope of a server. */
export interface ScopeFlag {
  readonly scope?: WritableScope;
}

/** Parses the value of `--scope`. */
export function parseScope(scope: string): WritableScope {
  if (scope === "project" || scope === "local" || scope === "user") return scope;
  throw createUnknownValueError("scope", scope, [...SCOPES.keys()]);
}

export type {
  ClientFile,
  Config,
  ConfigOptions,
  DeclaredServer,
  McpClient,
  WritableScope,
  WrittenServer,
} from "../../../config/index.ts";

export type ConfigModule = Awaited<ReturnType<typeof loadConfigModule>>;

/** Loads the configuration module when a command needs it, so that `--help` does not load it. */
export function loadConfigModule() {
  return import("../../../config/index.ts");
}
