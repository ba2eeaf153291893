import { SkillgateError } from "../../../errors.ts";
import { describeUnknownName } from "../../../shared/suggest.ts";
import type { CommonFlags, CliSession } from "../session.ts";
import { createUnknownValueError } from "../usage-error.ts";
import {
  type Config,
  type ConfigModule,
  type ConfigOptions,
  type ConfigScope,
  type DeclaredServer,
  loadConfigModule,
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

/** Finds the server in effect, or the one of a scope. Throws with the nearest names. */
export function declaredNamed(
  name: string,
  { declared }: Pick<Config, "declared">,
  scope?: ConfigScope,
): DeclaredServer {
  const inScope = declared.filter(({ file }) => scope === undefined || file.scope === scope);
  const found = inScope.find((server) => server.name === name && (scope !== undefined || !server.isOverruled));
  if (found !== undefined) return found;
  throw unknownServer(
    name,
    inScope.map((server) => server.name),
  );
}

/** Creates an error such as `MCP server not found: filesytem; did you mean filesystem?`. */
export function unknownServer(name: string, names: readonly string[]): SkillgateError {
  const { detail, suggestions } = describeUnknownName("MCP server", name, new Set(names));
  return new SkillgateError("SKILL_UNKNOWN", `MCP server not found: ${detail}`, { server: name, suggestions });
}

/** The file of each scope, as the help describes it. */
export const SCOPES: ReadonlyMap<string, string> = new Map([
  ["project", ".mcp.json in this folder, shared by everyone who works on it"],
  ["local", "a private file, for this folder only"],
  ["user", "~/.config/mcp/mcp.json, for all your folders"],
]);

export const SCOPE_OPTION = "-s, --scope <scope>";

/** Parses the value of `--scope`. */
export function scopeNamed(scope: string): "project" | "local" | "user" {
  if (scope === "project" || scope === "local" || scope === "user") return scope;
  throw createUnknownValueError("scope", scope, [...SCOPES.keys()]);
}
