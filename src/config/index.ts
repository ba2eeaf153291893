import { dirname, resolve } from "node:path";

import { messageOf } from "../errors.ts";
import type { Limits } from "../model/limits.ts";
import type { Problem } from "../model/provider.ts";
import type { Timeouts } from "../model/timeouts.ts";
import type { ServerConfig } from "../providers/mcp/index.ts";
import { invalid, readConfigFile } from "./file.ts";
import { type ConfigFile, configFiles, type ConfigOptions, foldersOf } from "./files.ts";
import { type FileContent, NO_CONTENT, parseMcpFile } from "./mcp-file.ts";
import { askPerson, type Person } from "./person.ts";
import { parseServer } from "./server-entry.ts";
import { type DeclaredServer, readServers, type ServerSources } from "./servers.ts";
import { NO_SETTINGS, parseSettings } from "./settings.ts";
import { lookUp, readVariables, type Variables } from "./variables.ts";

export { whyNotWritten } from "./atomic.ts";
export { editSettings } from "./edit-settings.ts";
export { stateFolder } from "./state-folder.ts";
export { fillIn, lookUp, type Variables } from "./variables.ts";

export { approveServers, changeServers, serversInFile, textOf, valueIn, writtenAt } from "./change.ts";
export { type Client, CLIENTS, clientFile, type ClientFile, clientNamed, serversOf } from "./clients.ts";
export { type ConfigOptions, existingFiles, type Scope } from "./files.ts";
export type { Input } from "./inputs.ts";
export { isSkillgate } from "./own-entry.ts";
export { plainEntry } from "./plain-entry.ts";
export { findServerSecrets, findSettingsSecrets } from "./secrets.ts";
export { MASK, maskedEntry, shownServer } from "./shown.ts";
export type { Person, StartRequest } from "./person.ts";
export type { DeclaredServer } from "./servers.ts";

export interface Config {
  /** In the order of the files; of two with one name, the one that was read first. */
  readonly servers: readonly ServerConfig[];
  /** Every server of every file, those that do not count and those that are wrong included. */
  readonly declared: readonly DeclaredServer[];
  /** Absolute. */
  readonly skillsDir?: string;
  readonly limits?: Partial<Limits>;
  readonly timeouts?: Partial<Timeouts>;
  /** The sections of settings.yaml as they were written. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** What placeholders in settings stand for. */
  readonly variables: Variables;
  /** What could not be used; everything else was. */
  readonly warnings: readonly Problem[];
  /** The same servers, after a person was asked what the files leave open: of all, or only of those with these names. */
  readonly ask: (person: Person, only?: readonly string[]) => Promise<readonly ServerConfig[]>;
}

/**
 * Reads what configures Skillgate: settings.yaml, the MCP files of the project and of the user, and .env. A missing file
 * is an empty one; a malformed one is a warning, unless it was named explicitly: then it is thrown as `CONFIG_INVALID`.
 */
export async function loadConfig(options: ConfigOptions): Promise<Config> {
  const folders = foldersOf(options);
  const files = configFiles(options, folders);
  const project = await readVariables(options.env, folders);
  const settings = await readAs(files.settings, parseSettings, NO_SETTINGS);
  const forAllRuns = settings.warnings.map((warning) => ({ ...warning, isForAllRuns: true as const }));
  const contents = await Promise.all(
    files.mcp.map(async (file) => ({ file, ...(await readAs(file, parseMcpFile, NO_CONTENT)) })),
  );
  const inOrder = contents.toSpliced(files.first, 0, {
    file: files.settings,
    ...settings,
    warnings: forAllRuns,
  });
  const { mcpEnabled, skillsDir, limits, timeouts } = settings;
  const sources: ServerSources = {
    ...project,
    contents: inOrder,
    folders,
    env: options.env,
    mcpEnabled,
    startsNew: options.startsNew ?? false,
  };
  const read = await readServers(sources);
  return {
    ...read,
    ...(skillsDir !== undefined && { skillsDir: resolve(dirname(files.settings.path), skillsDir) }),
    ...(limits !== undefined && { limits }),
    ...(timeouts !== undefined && { timeouts }),
    settings: settings.sections,
    variables: project.variables,
    warnings: [...project.warnings, ...inOrder.flatMap((content) => content.warnings), ...read.warnings],
    async ask(person, only) {
      const asked = read.declared.filter(({ name }) => only?.includes(name) ?? true);
      const answers = await askPerson(person, asked, sources);
      return (await readServers(sources, answers)).servers;
    },
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

/** What a file says; `empty`, with a warning if need be, where it says nothing that can be used. */
async function readAs<Content extends FileContent>(
  { path, label, scope }: ConfigFile,
  parse: (text: string, label: string) => Content,
  empty: Content,
): Promise<Content> {
  try {
    const text = await readConfigFile(path, label);
    if (text !== undefined) return parse(text, label);
    if (scope === "named") throw invalid(label, "it does not exist", undefined, "Write the path of a file that exists");
    return empty;
  } catch (thrown) {
    if (scope === "named") throw thrown;
    return { ...empty, warnings: [{ source: label, error: messageOf(thrown) }] };
  }
}
