import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { messageOf } from "../errors.ts";
import type { Limits } from "../model/limits.ts";
import type { Problem } from "../model/provider.ts";
import type { ServerConfig } from "../providers/mcp/index.ts";
import { type Folders, invalid, labelOf, readConfigFile } from "./file.ts";
import { type FileContent, NO_CONTENT, parseMcpFile } from "./mcp-file.ts";
import { type EntryScope, parseServer } from "./server-entry.ts";
import { NO_SETTINGS, parseSettings } from "./settings.ts";
import { type Environment, lookUp, readVariables, type Variables } from "./variables.ts";

export { editSettings } from "./edit-settings.ts";
export { stateFolder } from "./state-folder.ts";
export { fillIn, lookUp, type Variables } from "./variables.ts";

export interface ConfigOptions {
  /** The project: where its files are, and where its servers run. */
  readonly cwd: string;
  readonly env: Environment;
  /** The folder of the user's own files; by default, that of the system's user. */
  readonly home?: string;
  /** In place of `settings.yaml`; must exist. */
  readonly settingsFile?: string;
  /** Read besides the usual files, and wins over them; must exist. */
  readonly mcpConfigFile?: string;
}

export interface Config {
  /** In the order of the files; of two with one name, the one that was read first. */
  readonly servers: readonly ServerConfig[];
  /** Absolute. */
  readonly skillsDir?: string;
  readonly limits?: Partial<Limits>;
  /** The sections of settings.yaml as they were written. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** What placeholders in settings stand for. */
  readonly variables: Variables;
  /** What could not be used; everything else was. */
  readonly warnings: readonly Problem[];
}

/**
 * Reads what configures Skillgate: settings.yaml, the MCP files of the project and of the user, and .env. A missing file
 * is an empty one; a malformed one is a warning, unless it was named explicitly: then it is thrown as `CONFIG_INVALID`.
 */
export async function loadConfig(options: ConfigOptions): Promise<Config> {
  const folders = { cwd: resolve(options.cwd), home: options.home ?? options.env["HOME"] ?? homedir() };
  const files = configFiles(options, folders);
  const { variables, warnings } = await readVariables(options.env, folders);
  const settings = await readAs(files.settings, parseSettings, NO_SETTINGS);
  const contents = await Promise.all(files.mcp.map((file) => readAs(file, parseMcpFile, NO_CONTENT)));
  const inOrder = contents.toSpliced(files.named, 0, settings);
  const merged = mergeServers(inOrder, { cwd: folders.cwd, variables });
  const { skillsDir, limits } = settings;
  return {
    servers: settings.mcpEnabled ? merged.servers : merged.servers.map((server) => ({ ...server, enabled: false })),
    ...(skillsDir !== undefined && { skillsDir: resolve(dirname(files.settings.path), skillsDir) }),
    ...(limits !== undefined && { limits }),
    settings: settings.sections,
    variables,
    warnings: [...warnings, ...inOrder.flatMap((content) => content.warnings), ...merged.warnings],
  };
}

/**
 * One server that a program declares, in the same dialects as files do. A bad entry is thrown as `CONFIG_INVALID`.
 * Placeholders are filled in from `env`, by default the environment of this process.
 */
export function serverConfigOf(
  name: string,
  entry: unknown,
  { cwd = process.cwd(), env = process.env }: Partial<Pick<ConfigOptions, "cwd" | "env">> = {},
): ServerConfig {
  return parseServer({ name, entry, source: "mcpServers" }, { cwd, variables: lookUp([env]) });
}

interface ConfigFile {
  readonly path: string;
  readonly label: string;
  /** It was named explicitly: it must exist and be well-formed. */
  readonly required: boolean;
}

/** The files to read, those of servers in their order; `settings` comes after the first `named` of them. */
function configFiles(
  options: ConfigOptions,
  folders: Folders,
): { readonly settings: ConfigFile; readonly mcp: readonly ConfigFile[]; readonly named: number } {
  const usual = (path: string): ConfigFile => ({ path, label: labelOf(path, folders), required: false });
  const named = (path: string): ConfigFile => ({ path: resolve(folders.cwd, path), label: path, required: true });
  const { settingsFile, mcpConfigFile } = options;
  const first = mcpConfigFile === undefined ? [] : [named(mcpConfigFile)];
  return {
    settings: settingsFile === undefined ? usual(join(folders.cwd, "settings.yaml")) : named(settingsFile),
    mcp: [
      ...first,
      usual(join(folders.cwd, "mcp.json")),
      usual(join(folders.cwd, ".mcp.json")),
      usual(join(folders.home, ".config", "mcp", "mcp.json")),
    ],
    named: first.length,
  };
}

/** What a file says; `empty`, with a warning if need be, where it says nothing that can be used. */
async function readAs<Content extends FileContent>(
  { path, label, required }: ConfigFile,
  parse: (text: string, label: string) => Content,
  empty: Content,
): Promise<Content> {
  try {
    const text = await readConfigFile(path, label);
    if (text !== undefined) return parse(text, label);
    if (required) throw invalid(label, "it does not exist");
    return empty;
  } catch (thrown) {
    if (required) throw thrown;
    return { ...empty, warnings: [{ source: label, error: messageOf(thrown) }] };
  }
}

function mergeServers(
  contents: readonly FileContent[],
  scope: EntryScope,
): { readonly servers: readonly ServerConfig[]; readonly warnings: readonly Problem[] } {
  const servers = new Map<unknown, ServerConfig>();
  const warnings: Problem[] = [];
  for (const entry of contents.flatMap((content) => content.entries)) {
    if (servers.has(entry.name)) continue;
    try {
      servers.set(entry.name, parseServer(entry, scope));
    } catch (thrown) {
      warnings.push({ source: entry.source, error: messageOf(thrown) });
    }
  }
  return { servers: [...servers.values()], warnings };
}
