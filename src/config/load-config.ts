import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { getMessage } from "../errors.ts";
import type { Limits } from "../model/limits.ts";
import type { Problem } from "../model/provider.ts";
import type { Timeouts } from "../model/timeouts.ts";
import type { ServerConfig } from "../providers/mcp/index.ts";
import { canonicalPath, configError, readConfigFile } from "./read-file.ts";
import { type ConfigFile, configFiles, type ConfigOptions, resolveFolders, isTrustGiven } from "./locations.ts";
import { heldParts } from "./held.ts";
import { type FileContent, NO_CONTENT, parseMcpFile } from "./servers/mcp-file.ts";
import { askForInputs, type Prompter } from "./prompter.ts";
import { parseServer } from "./servers/parse-entry.ts";
import {
  type DeclaredServer,
  digestValues,
  readServers,
  type ReadServers,
  type ServerContent,
  type ServerSources,
} from "./servers/read-servers.ts";
import { NO_SETTINGS, parseSettings, type SettingsFile } from "./settings.ts";
import { decideTrust, type HeldPart, heldProblem, type ProjectTrust, restrictSettings } from "./trust/index.ts";
import { lookUp, readVariables, type Variables } from "./variables.ts";

export interface Config {
  /** In the order of the files; of two with one name, the one that was read first. */
  readonly servers: readonly ServerConfig[];
  /** Every server of every file, those that do not count and those that are wrong included. */
  readonly declared: readonly DeclaredServer[];
  /** Absolute; `undefined` where the project's own skills are held. */
  readonly skillsDir: string | undefined;
  readonly limits?: Partial<Limits>;
  readonly timeouts?: Partial<Timeouts>;
  /** The sections of settings.yaml as they were written, as far as they count. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The values of placeholders in settings. */
  readonly variables: Variables;
  /** Whether the project may do what its files say. */
  readonly trust: ProjectTrust;
  /** The parts that are held until the project is trusted. */
  readonly heldParts: readonly HeldPart[];
  /** Problems of the parts that could not be used. */
  readonly warnings: readonly Problem[];
  /** The same servers, after a person was asked for their inputs: of all, or only of those with these names. */
  readonly ask: (prompter: Prompter, only?: readonly string[]) => Promise<readonly ServerConfig[]>;
}

/**
 * Reads what configures Skillgate: settings.yaml, the MCP files of the project and of the user, and .env. A missing file
 * is an empty one; a malformed one is a warning, unless it was named explicitly: then it is thrown as `CONFIG_INVALID`.
 * The parts of an untrusted project are held.
 */
export async function loadConfig(options: ConfigOptions): Promise<Config> {
  const folders = resolveFolders(options);
  const files = configFiles(options, folders);
  const project = await readVariables(options.env, folders);
  const written = await readAs(files.settings, parseSettings, NO_SETTINGS);
  const isOfProject = files.settings.scope === "project";
  const contents = await readContents(files, written);
  const skillsDir = resolve(
    written.skillsDir === undefined ? folders.cwd : dirname(files.settings.path),
    written.skillsDir ?? "skills",
  );
  const values = digestValues({ ...project, contents, folders });
  const isGiven = isTrustGiven(options, folders);
  const trust = await decideTrust({
    env: options.env,
    folders,
    skillsDir,
    values,
    started: isGiven
      ? []
      : listStartedFiles(readServers({ ...project, contents, folders, mcpEnabled: true, trust: HELD })),
    isGiven,
  });
  const restricted = trust.isTrusted || !isOfProject ? { settings: written, ignored: [] } : restrictSettings(written);
  const { settings } = restricted;
  const sources: ServerSources = { ...project, contents, folders, mcpEnabled: settings.mcpEnabled, trust };
  const read = readServers(sources);
  const ownsSkills = options.hasOtherSkills !== true && (isOfProject || written.skillsDir === undefined);
  const untrustedParts = heldParts({
    trust,
    skillsDir: ownsSkills ? skillsDir : undefined,
    settings: restricted.ignored,
    read,
    project,
    folders,
  });
  const problem = heldProblem(trust, untrustedParts);
  return {
    ...read,
    skillsDir: ownsSkills && untrustedParts.length > 0 ? undefined : skillsDir,
    ...(settings.limits !== undefined && { limits: settings.limits }),
    ...(settings.timeouts !== undefined && { timeouts: settings.timeouts }),
    settings: settings.sections,
    variables: trust.isTrusted ? project.ofProject : project.ofUser,
    trust,
    heldParts: untrustedParts,
    warnings: [
      ...(problem === undefined
        ? []
        : [restricted.ignored.length === 0 ? problem : { ...problem, isForAllRuns: true as const }]),
      ...project.warnings,
      ...contents.flatMap((content) => content.warnings),
      ...read.warnings,
    ],
    async ask(prompter, only) {
      const servers = read.declared.filter(({ name }) => only?.includes(name) ?? true);
      const answers = await askForInputs(prompter, servers, sources);
      return readServers(sources, answers).servers;
    },
  };
}

/** Used to read which files the servers of a project start, before it is known whether they may. */
const HELD: ProjectTrust = {
  folder: "",
  isTrusted: false,
  isGiven: false,
  changed: [],
  position: "",
  parts: new Map(),
  values: new Map(),
  servers: new Map(),
  excess: undefined,
};

/** Lists the files among the commands and arguments of a project's servers, by their real paths. */
function listStartedFiles({ declared }: ReadServers): readonly string[] {
  return declared.flatMap(({ file, config }) => {
    if (file.scope !== "project" || config?.transport !== "stdio") return [];
    // An option may hold a path: `--require=./hook.js`.
    const words = [config.command, ...config.args].flatMap((word) => [word, ...word.split("=").slice(1)]);
    return words.map((word) => canonicalPath(resolve(config.cwd, word))).filter(isFile);
  });
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false; // most arguments are not paths
  }
}

/** Reads the servers of all files, in their order. Problems of the settings affect every run. */
async function readContents(
  files: ReturnType<typeof configFiles>,
  settings: SettingsFile,
): Promise<readonly ServerContent[]> {
  const contents = await Promise.all(
    files.mcp.map(async (file) => ({ file, ...(await readAs(file, parseMcpFile, NO_CONTENT)) })),
  );
  const warnings = settings.warnings.map((warning) => ({ ...warning, isForAllRuns: true as const }));
  return contents.toSpliced(files.first, 0, { ...settings, file: files.settings, warnings });
}

/**
 * One server that a program declares, in the same dialects as files do. A bad entry is thrown as `CONFIG_INVALID`.
 * Placeholders are filled in from `env`, by default the environment of this process.
 */
export function toServerConfig(
  name: string,
  entry: unknown,
  { cwd = process.cwd(), env = process.env }: Partial<Pick<ConfigOptions, "cwd" | "env">> = {},
): ServerConfig {
  return parseServer({ name, entry, source: "mcpServers" }, { cwd, variables: lookUp([env]) });
}

/** Reads a file; returns `empty`, with a warning if needed, when it has no usable content. */
async function readAs<Content extends FileContent>(
  { path, label, scope }: ConfigFile,
  parse: (text: string, label: string) => Content,
  empty: Content,
): Promise<Content> {
  try {
    const text = await readConfigFile(path, label);
    if (text !== undefined) return parse(text, label);
    if (scope === "named")
      throw configError(label, "it does not exist", undefined, "Write the path of a file that exists");
    return empty;
  } catch (thrown) {
    if (scope === "named") throw thrown;
    return { ...empty, warnings: [{ source: label, error: getMessage(thrown) }] };
  }
}
