import { resolve } from "node:path";

import { getApprovedFile } from "../../approvals/index.ts";
import {
  type Config,
  fillIn,
  findHeaderSecrets,
  findModelKeys,
  findServerSecrets,
  findSettingsSecrets,
  loadConfig,
  lookUp,
  type Prompter,
  renameOldPasses,
  toServerConfig,
  trustProject,
  type Variables,
} from "../../config/index.ts";
import { isRecord } from "../../model/json.ts";
import { DEFAULT_LIMITS } from "../../model/limits.ts";
import { DEFAULT_TIMEOUTS } from "../../model/timeouts.ts";
import { POLICY_FILE } from "../../policy/index.ts";
import type { ServerConfig } from "../../providers/mcp/index.ts";
import type { StoreLocation } from "../../store/index.ts";
import { capturesContent } from "../../telemetry/index.ts";
import { resolveMcpOptions } from "../mcp-options.ts";
import type { RuntimeOptions } from "../options.ts";
import { getUserStateDir } from "../user-state-dir.ts";
import { mergeLimits, mergeTimeouts } from "./limits.ts";
import { type ParsedExecutorSettings, parseExecutorSettings, parseNodeSettings } from "./network-settings.ts";
import { parseSkill, requireOptions } from "./options.ts";
import type { RuntimeSettings } from "./runtime-settings.ts";
import { readSecretReference, type SecretContext } from "./secret-reference.ts";
import { resolveSections } from "./sections.ts";
import { parseSources } from "./sources.ts";

/** Lists the mistakes of an account of the settings, as it is written. */
export async function findAccountMistakes(name: string, written: unknown): Promise<readonly string[]> {
  return (await import("./accounts.ts")).findAccountMistakes(name, written);
}

export { addSource } from "./add-source.ts";
export { describeAddedDocument, isSchemaText } from "./detect-graphql.ts";
export { findSourceMistakes, findSourceNameFlaw } from "./sources.ts";

/** Throws `OPTION_INVALID` for options that cannot be meant, `CONFIG_INVALID` for a file that was named and is broken. */
export async function readOptions(written: RuntimeOptions): Promise<RuntimeSettings> {
  const options: unknown = isRecord(written) ? renameOldOptions(written) : written;
  requireOptions(options);
  const cwd = resolve(options.cwd ?? ".");
  const env = options.env ?? process.env;
  const files = await readFiles(options, cwd, env);
  const settings = await resolveSettings(options, files, cwd, env);
  // A held setting that affects every run must be decided now, not when the project is first used.
  return files.warnings.some(({ isHeld, isForAllRuns }) => isHeld && isForAllRuns) ? settings.trusted() : settings;
}

/** Accepts options by the names that they had before. */
function renameOldOptions(options: RuntimeOptions & { readonly learning?: RuntimeOptions["observe"] }): RuntimeOptions {
  const { learning, ...rest } = options;
  const { runs } = rest;
  return {
    ...(learning !== undefined && { observe: learning }),
    ...rest,
    ...(isRecord(runs) && { runs: renameOldPasses(runs) }),
  };
}

async function resolveSettings(
  options: RuntimeOptions,
  files: ConfigFileValues,
  cwd: string,
  env: RuntimeSettings["env"],
): Promise<RuntimeSettings> {
  const declared = Object.entries(options.mcpServers ?? {}).map(([name, entry]) =>
    toServerConfig(name, entry, { cwd, env }),
  );
  const names = new Set(declared.map((server) => server.name));
  const { person, onlyServers } = options;
  const withDeclared = (found: readonly ServerConfig[]): readonly ServerConfig[] =>
    [...declared, ...found.filter((server) => !names.has(server.name))].filter(
      ({ name }) => onlyServers?.includes(name) ?? true,
    );
  const { problems, approvals, asksDestructive, ...sections } = resolveSections(options, files.settings);
  const entries = await readEntries(options, files, cwd);
  const database = resolveStore(options.store, files.settings["store"], { cwd, variables: files.variables });
  const policyFile = resolvePolicyFile(options, cwd);
  const skillsDir = options.skillsDir ?? files.skillsDir;
  let answered: Promise<RuntimeSettings> | undefined;
  const ask = async (): Promise<RuntimeSettings> =>
    person !== undefined && (await askForTrust(person, files, cwd, env))
      ? resolveSettings(options, await readFiles(options, cwd, env), cwd, env)
      : settings;
  const settings: RuntimeSettings = {
    cwd,
    skillsDir: skillsDir === undefined || skillsDir === false ? undefined : resolve(cwd, skillsDir),
    automationsDir: resolve(cwd, options.automationsDir ?? "automations"),
    trusted: () => (answered ??= ask()),
    trust: files.recorded,
    watch: options.watch ?? false,
    skills: (options.skills ?? []).map(parseSkill),
    servers: async () => withDeclared(person === undefined ? files.servers : await files.ask(person, onlyServers)),
    serverUse: resolveMcpOptions(options.mcp, {
      cwd,
      env,
      section: files.settings["mcp"],
      discover: options.discover ?? false,
      lazy: options.lazy ?? false,
    }),
    ...entries.settings,
    accountKeys: readAccountKeys(files.settings["store"], { cwd, env, variables: files.variables }, database.database),
    secretValues: [...declared.flatMap(findServerSecrets), ...entries.secrets, ...listSecrets(files, env)],
    tracesContent: options.telemetry?.content ?? capturesContent(env),
    limits: mergeLimits(mergeLimits(DEFAULT_LIMITS, files.limits), options.limits),
    timeouts: mergeTimeouts(mergeTimeouts(DEFAULT_TIMEOUTS, files.timeouts), options.timeouts),
    sections: files.settings,
    settingsFile: resolveSettingsFile(options, cwd),
    problems: [...files.warnings, ...problems, ...entries.problems],
    env,
    policyFile,
    approvals: { ...approvals, approvedFile: policyFile && { file: getApprovedFile(policyFile.tools), cwd, env } },
    policy: {
      asksDestructive,
      onlyTightens: options.policy === undefined && files.holdsPolicy,
    },
    variables: files.variables,
    ...database,
    ...sections,
  };
  return settings;
}

/** Settings of the program replace those of the file. */
function mergeSection(option: Readonly<Record<string, unknown>> | false | undefined, section: unknown): unknown {
  if (option === false) return undefined;
  const isMergeable = isRecord(option) && (section === undefined || section === null || isRecord(section));
  return isMergeable ? { ...section, ...option } : section;
}

/** Parses the sections of which an entry with a mistake is left out. A project without accounts loads no module for them. */
async function readEntries(options: RuntimeOptions, files: ConfigFileValues, cwd: string): Promise<ParsedEntries> {
  const apis = parseSources(mergeSection(options.sources, files.settings["sources"]), { ...files, cwd });
  const section = mergeSection(options.accounts, files.settings["accounts"]);
  const hasAccounts = section !== undefined && section !== null;
  const accounts = hasAccounts ? (await import("./accounts.ts")).parseAccounts(section, files) : undefined;
  const alertSection = files.settings["alerts"] ?? undefined;
  const alerts =
    alertSection === undefined ? undefined : (await import("./alerts.ts")).parseAlerts(alertSection, files);
  const nodes = parseNodeSettings(mergeSection(options.nodes, files.settings["nodes"]), getContext(files, cwd));
  const executors = resolveExecutors(options.executors, files, cwd);
  return {
    settings: {
      apis: apis.sources,
      accounts: accounts?.accounts ?? [],
      alerts: alerts?.settings,
      nodes: nodes.settings,
      executors: executors.settings,
    },
    secrets: [
      ...apis.sources.flatMap(({ headers }) => findHeaderSecrets(headers)),
      ...(accounts?.secrets ?? []),
      ...(alerts?.secrets ?? []),
    ],
    problems: [
      ...apis.problems,
      ...(accounts?.problems ?? []),
      ...(alerts?.problems ?? []),
      ...nodes.problems,
      ...executors.problems,
    ],
  };
}

interface ParsedEntries {
  readonly settings: Pick<RuntimeSettings, "apis" | "accounts" | "alerts" | "nodes" | "executors">;
  readonly secrets: readonly string[];
  readonly problems: RuntimeSettings["problems"];
}

function getContext(
  { variables }: Pick<ConfigFileValues, "variables">,
  cwd: string,
): Parameters<typeof parseNodeSettings>[1] {
  return { cwd, fillIn: (text, missing) => fillIn(text, variables, missing) };
}

/** A program hands its runs to executors only if it says so: their own processes have the same settings. */
function resolveExecutors(
  option: RuntimeOptions["executors"],
  files: Pick<ConfigFileValues, "settings" | "variables">,
  cwd: string,
): ParsedExecutorSettings {
  const section = mergeSection(option, files.settings["executors"]);
  const parsed = parseExecutorSettings(section, getContext(files, cwd));
  return option === undefined ? { ...parsed, settings: undefined } : parsed;
}

function listSecrets(
  { servers, settings, variables }: ConfigFileValues,
  env: RuntimeSettings["env"],
): readonly string[] {
  const { SKILLGATE_TOKEN: token = "", SKILLGATE_ACCOUNT_KEY: keys = "" } = env;
  return [
    ...servers.flatMap(findServerSecrets),
    ...findSettingsSecrets(settings, variables),
    ...findModelKeys(settings["agent"], variables),
    token,
    ...keys.split(/[\s,]+/),
  ];
}

/** Whether the person trusts the project; a yes is remembered until the project changes. */
async function askForTrust(
  person: Prompter,
  { recorded, heldParts: parts }: ConfigFileValues,
  cwd: string,
  env: RuntimeSettings["env"],
): Promise<boolean> {
  const trust = recorded?.trust;
  if (trust === undefined || trust.excess !== undefined || parts.length === 0) return false;
  const isTrusted = await person.mayTrust({ folder: trust.folder, isChanged: trust.changed.length > 0, parts });
  if (isTrusted) await trustProject({ cwd, env }, trust);
  return isTrusted;
}

function resolvePolicyFile({ policy, discover = false }: RuntimeOptions, cwd: string): RuntimeSettings["policyFile"] {
  if (policy !== undefined) return { tools: resolve(cwd, policy), isNamed: true };
  return discover ? { tools: resolve(cwd, POLICY_FILE), isNamed: false } : undefined;
}

function resolveSettingsFile({ settings, discover = false }: RuntimeOptions, cwd: string): string | undefined {
  const file = settings ?? (discover ? "settings.yaml" : undefined);
  return file === undefined ? undefined : resolve(cwd, file);
}

/** The folder that the program names; else `store.dir` of the settings. The database is at `store.url`, else in the folder. */
function resolveStore(
  option: string | undefined,
  section: unknown,
  { cwd, variables }: { readonly cwd: string; readonly variables: Variables },
): Pick<RuntimeSettings, "store" | "database"> {
  const { dir, url } = isRecord(section) ? section : {};
  const folder = option ?? dir;
  const store = typeof folder === "string" ? resolve(cwd, folder) : undefined;
  const location = store === undefined ? {} : { folder: store };
  // A variable that is missing stays in the URL, which then cannot be opened.
  if (typeof url === "string" && url !== "")
    return { store, database: { ...location, url: fillIn(url, variables, new Set()) } };
  return { store, database: location };
}

type ConfigFileValues = Pick<
  Config,
  | "servers"
  | "skillsDir"
  | "limits"
  | "timeouts"
  | "settings"
  | "variables"
  | "warnings"
  | "ask"
  | "heldParts"
  | "holdsPolicy"
> & { readonly recorded?: RuntimeSettings["trust"] };

async function readFiles(options: RuntimeOptions, cwd: string, env: RuntimeSettings["env"]): Promise<ConfigFileValues> {
  const { settings, mcpConfig, discover = false, skillsDir, trust = "given" } = options;
  if (!discover && settings === undefined && mcpConfig === undefined)
    return {
      servers: [],
      skillsDir: "skills",
      settings: {},
      variables: lookUp([env]),
      warnings: [],
      heldParts: [],
      holdsPolicy: false,
      ask: async () => [],
    };
  const config = await loadConfig({
    cwd,
    env,
    isTrusted: trust === "given",
    readsOnlyNamed: !discover,
    hasOtherSkills: skillsDir !== undefined,
    ...(settings !== undefined && { settingsFile: settings }),
    ...(mcpConfig !== undefined && { mcpConfigFile: mcpConfig }),
  });
  return config.trust.isGiven ? config : { ...config, recorded: config };
}

/** Returns where the keys are that encrypt the credentials of accounts; reads nothing. `section` is the section `store`. */
function readAccountKeys(
  section: unknown,
  context: SecretContext,
  { folder, url }: StoreLocation,
): RuntimeSettings["accountKeys"] {
  const written = isRecord(section) ? section["accountKey"] : undefined;
  return {
    variable: context.env["SKILLGATE_ACCOUNT_KEY"],
    readSetting: typeof written === "string" ? () => readSecretReference(written, context) : undefined,
    folder: getUserStateDir(context.env),
    store: url !== undefined ? "url" : folder !== undefined ? "folder" : "memory",
  };
}
