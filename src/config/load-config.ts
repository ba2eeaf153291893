import { dirname, resolve } from "node:path";

import { getMessage } from "../errors.ts";
import { isRecord } from "../model/json.ts";
import type { Limits } from "../model/limits.ts";
import type { Problem } from "../model/provider.ts";
import type { Timeouts } from "../model/timeouts.ts";
import type { ServerConfig } from "../providers/mcp/index.ts";
import { configError, readConfigFile } from "./read-file.ts";
import { type ConfigFile, configFiles, type ConfigOptions, resolveFolders, isTrustGiven } from "./locations.ts";
import { heldParts } from "./held.ts";
import { type FileContent, NO_CONTENT, parseMcpFile } from "./servers/mcp-file.ts";
import { askForInputs, type Prompter } from "./prompter.ts";
import { parseServer } from "./servers/parse-entry.ts";
import {
  type DeclaredServer,
  digestValues,
  readServers,
  serverKey,
  type ServerContent,
  type ServerSources,
} from "./servers/read-servers.ts";
import { NO_SETTINGS, parseSettings, type SettingsFile } from "./settings.ts";
import {
  decideTrust,
  digestValue,
  GIVEN,
  type HeldPart,
  heldProblem,
  POLICY_FILES,
  type ProjectTrust,
  RESTRICTIONS,
  restrictSettings,
  whyPartHeld,
} from "./trust/index.ts";
import { lookUp, readVariables, type Variables } from "./variables.ts";

export interface Config {
  /** In the order of the files; of two with one name, the one that was read first. */
  readonly servers: readonly ServerConfig[];
  /** Every server of every file, those that do not count and those that are wrong included. */
  readonly declared: readonly DeclaredServer[];
  /** Absolute; `undefined` for a folder of a project with more files than can be trusted. */
  readonly skillsDir: string | undefined;
  /** The servers that are held, with the reasons in a sentence. */
  readonly heldServers: ReadonlyMap<string, string>;
  /** The skills are those of a project whose trust decides which of them may run. */
  readonly ownsSkills: boolean;
  /** The policy of the project can only restrict. */
  readonly holdsPolicy: boolean;
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
  const isOfProject = files.settings.scope === "project";
  const isRead = !isOfProject || options.readsOnlyNamed !== true;
  const written = isRead ? await readAs(files.settings, parseSettings, NO_SETTINGS) : NO_SETTINGS;
  const contents = await readContents(files, written);
  const skillsDir = resolve(
    written.skillsDir === undefined ? folders.cwd : dirname(files.settings.path),
    written.skillsDir ?? "skills",
  );
  const isGiven = isTrustGiven(options, folders);
  const restrictions = restrictSettings(written);
  const declared = readServers({ ...project, contents, folders, mcpEnabled: true, trust: GIVEN }).declared.filter(
    ({ file }) => file.scope === "project",
  );
  const trust = await decideTrust({
    env: options.env,
    folders,
    skillsDir,
    values: digestValues({ ...project, contents, folders }).set(
      RESTRICTIONS,
      digestValue(withoutEmpty(restrictions.settings.sections)),
    ),
    started: declared.flatMap(({ started }) => started),
    servers: new Map(declared.map((server) => [serverKey(server), server.digest])),
    isGiven,
    asksAlways: options.env["SKILLGATE_TRUST"] === "content" || written.sections["trust"] === "content",
  });
  const isHeld = (part: string): boolean => whyPartHeld(trust, part) !== undefined;
  const restricted = isOfProject && isHeld("settings.yaml") ? restrictions : { settings: written, ignored: [] };
  const { settings } = restricted;
  const ofProject = isHeld(".env") ? project.ofUser : project.ofProject;
  const sources: ServerSources = { ...project, ofProject, contents, folders, mcpEnabled: settings.mcpEnabled, trust };
  const read = readServers(sources);
  const ownsSkills = options.hasOtherSkills !== true && (isOfProject || written.skillsDir === undefined);
  const untrustedParts = heldParts({
    trust,
    skillsDir: ownsSkills ? skillsDir : undefined,
    settings: restricted.ignored,
    read,
    filled: declared,
    project,
    folders,
  });
  const problem = heldProblem(trust, untrustedParts);
  return {
    ...read,
    skillsDir: ownsSkills && trust.excess !== undefined ? undefined : skillsDir,
    heldServers: listHeldServers(read.declared),
    holdsPolicy: POLICY_FILES.some(isHeld),
    ownsSkills: ownsSkills && !isGiven,
    ...(settings.limits !== undefined && { limits: settings.limits }),
    ...(settings.timeouts !== undefined && { timeouts: settings.timeouts }),
    settings: settings.sections,
    variables: ofProject,
    trust,
    heldParts: untrustedParts,
    warnings: [
      ...formatHeld(problem, restricted.ignored),
      ...project.warnings,
      ...contents.flatMap((content) => content.warnings),
      ...read.warnings,
    ],
    ask: createAsk(read.declared, sources),
  };
}

function createAsk(declared: ReturnType<typeof readServers>["declared"], sources: ServerSources): Config["ask"] {
  return async (prompter, only) => {
    const servers = declared.filter(({ name }) => only?.includes(name) ?? true);
    const answers = await askForInputs(prompter, servers, sources);
    return readServers(sources, answers).servers;
  };
}

/** Returns why each server that is held is not started. */
function listHeldServers(declared: ReturnType<typeof readServers>["declared"]): Config["heldServers"] {
  const heldServers = declared.filter((server) => server.isHeld && !server.isOverruled);
  return new Map(heldServers.map(({ name, config }) => [name, config?.obstacle ?? ""]));
}

/** A held setting concerns every run. */
function formatHeld(problem: Problem | undefined, ignored: readonly unknown[]): readonly Problem[] {
  if (problem === undefined) return [];
  return [ignored.length === 0 ? problem : { ...problem, isForAllRuns: true }];
}

/** A section without settings restricts nothing. */
function withoutEmpty(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [key, withoutEmpty(member)] as const);
  const filled = members.filter(([, member]) => member !== undefined);
  return filled.length === 0 ? undefined : Object.fromEntries(filled.toSorted(([a], [b]) => (a < b ? -1 : 1)));
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
