import { SkillgateError } from "../../../errors.ts";
import { nearest } from "../../../model/nearest.ts";
import type { CommonFlags, Session } from "../session.ts";
import { UsageError } from "../usage-error.ts";
import { type ConfigOptions, openRoom, type Room, type Scope } from "./room.ts";

type Config = Awaited<ReturnType<Room["loadConfig"]>>;
export type DeclaredServer = Config["declared"][number];

/** The configuration files, as a command finds them. */
export interface Files extends Config {
  readonly room: Room;
  readonly options: ConfigOptions;
}

/** Reads the files of this folder and of the user. */
export async function openFiles({ flags, addProblems }: Session): Promise<Files> {
  const room = await openRoom();
  const options = configOptions(flags);
  const config = await room.loadConfig(options);
  addProblems(config.warnings);
  return { ...config, room, options };
}

export function configOptions({ settings, mcpConfig }: CommonFlags): ConfigOptions {
  return {
    cwd: process.cwd(),
    env: process.env,
    ...(settings !== undefined && { settingsFile: settings }),
    ...(mcpConfig !== undefined && { mcpConfigFile: mcpConfig }),
  };
}

/** The server that counts, or the one of a scope. Throws what there is instead. */
export function declaredNamed(name: string, { declared }: Pick<Config, "declared">, scope?: Scope): DeclaredServer {
  const inScope = declared.filter(({ file }) => scope === undefined || file.scope === scope);
  const found = inScope.find((server) => server.name === name && (scope !== undefined || !server.isOverruled));
  if (found !== undefined) return found;
  throw unknownServer(
    name,
    inScope.map((server) => server.name),
  );
}

/** `MCP server not found: filesytem; did you mean filesystem?` */
export function unknownServer(name: string, names: readonly string[]): SkillgateError {
  const suggestions = nearest(name, new Set(names));
  const meant = suggestions.length === 0 ? "" : `; did you mean ${suggestions.join(" or ")}?`;
  return new SkillgateError("SKILL_UNKNOWN", `MCP server not found: ${name}${meant}`, { server: name, suggestions });
}

/** Where files of each scope are, for help. */
export const SCOPES: ReadonlyMap<string, string> = new Map([
  ["project", ".mcp.json of this folder, for everyone who works on it"],
  ["local", "a file of yours, for this folder only"],
  ["user", "~/.config/mcp/mcp.json, for all your folders"],
]);

export const SCOPE_OPTION = "-s, --scope <scope>";

/** Reads `--scope`. */
export function scopeNamed(scope: string): "project" | "local" | "user" {
  if (scope === "project" || scope === "local" || scope === "user") return scope;
  const names = [...SCOPES.keys()];
  const meant = nearest(scope, names, 1);
  const hint = meant.length === 0 ? `use ${names.join(", ")}` : `did you mean ${meant.join(" or ")}?`;
  throw new UsageError(`There is no scope ${JSON.stringify(scope)}; ${hint}`, meant);
}
