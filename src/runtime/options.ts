import { resolve } from "node:path";

import {
  type Config,
  findServerSecrets,
  findSettingsSecrets,
  loadConfig,
  lookUp,
  type Prompter,
  toServerConfig,
  trustProject,
  type Variables,
  fillIn,
} from "../config/index.ts";
import { sentence, SkillgateError } from "../errors.ts";
import type { LearningSettings } from "../learning/index.ts";
import type { ApprovalWait, Approve } from "../model/approval.ts";
import { isRecord } from "../model/json.ts";
import { DEFAULT_LIMITS, type Limits } from "../model/limits.ts";
import { describeUnknownName } from "../shared/suggest.ts";
import type { Problem } from "../model/provider.ts";
import type { LogLevel, ProvidedSkill } from "../model/skill.ts";
import { type ApprovedFile, getApprovedFile } from "../approvals/index.ts";
import { POLICY_FILE, type PolicySettings } from "../policy/index.ts";
import type { StoreLocation } from "../store/index.ts";
import { DEFAULT_TIMEOUTS, type Timeouts } from "../model/timeouts.ts";
import type { ServerConfig } from "../providers/mcp/index.ts";
import { parseRecordSettings, type RunSettings } from "./execution/run-settings.ts";
import { capturesContent } from "../telemetry/index.ts";
import { resolveMcpOptions, type McpServerOptions } from "./mcp-options.ts";

/** Everything is optional: a runtime without options has the skills of the folder `skills` and nothing else. */
export interface RuntimeOptions {
  /** Folder of skill modules, relative to `cwd`; `false` for none. `skills` by default. */
  readonly skillsDir?: string | false;
  /** Skills that the program itself defines. */
  readonly skills?: readonly ProvidedSkill[];
  /** MCP servers by name, in any of the dialects that files use. */
  readonly mcpServers?: Readonly<Record<string, unknown>>;
  /** Options for MCP servers. */
  readonly mcp?: McpServerOptions;
  /** Path of a settings.yaml to read; it must exist. */
  readonly settings?: string;
  /** Path of an MCP configuration file to read; it must exist. */
  readonly mcpConfig?: string;
  /** Reads the usual configuration files too: settings.yaml, mcp.json, .mcp.json, the user's own. Off by default. */
  readonly discover?: boolean;
  /**
   * Can be asked what configuration files leave open: values of `${input:…}`, when servers are about to start, and with
   * `trust: "recorded"` whether the project may do what its files say.
   */
  readonly person?: Prompter;
  /**
   * Whether the files of the project in `cwd` count: `given`, the default, as a program that names a folder runs code from
   * there anyway; `recorded` only if its owner has trusted it is now, with `skillgate trust` or when the person was
   * asked. Until then its skills, servers, `.env` and what its settings loosen are held.
   */
  readonly trust?: "given" | "recorded";
  /** Uses only the configured MCP servers with these names. */
  readonly onlyServers?: readonly string[];
  readonly limits?: Partial<Limits>;
  /** Time limits of checking arguments, finding methods, waiting for the store and connecting to MCP servers. */
  readonly timeouts?: Partial<Timeouts>;
  /**
   * Stores a record of each decision on a call and of its end: `store`, in the database of the store, or `off`, the
   * default. Calls are refused while records cannot be stored.
   */
  readonly audit?: "off" | "store";
  /**
   * Folder in which skills keep what they remember, and the runtime its statistics, for the next runtime. Without one both
   * end with the runtime.
   */
  readonly store?: string;
  /** Gets what skills and providers have to say. */
  readonly log?: LogListener;
  /**
   * Answers for a person when a method needs an approval: `true`, or a scope of the yes; any other value is a no. Without it
   * the call fails, unless `approvals.wait` is true; a later yes counts for the next call with the same arguments.
   */
  readonly approve?: Approve;
  /** Path of a file of policy rows to read; it must exist. `roles.yaml` beside it maps roles to scopes. */
  readonly policy?: string;
  readonly approvals?: ApprovalOptions;
  /** Which runs are recorded, so that they can be continued, shown and replayed. */
  readonly runs?: RunRecordOptions;
  /**
   * With `rehydrate`, a snippet sees `[secret:1]` in place of each secret of the configuration, and a method to which it
   * passes that text receives the secret. Off by default.
   */
  readonly secrets?: { readonly rehydrate?: boolean };
  /** With `content`, spans of calls have their arguments and results, without secrets. Off by default. */
  readonly telemetry?: { readonly content?: boolean };
  /**
   * Opens skills and servers only when `ready` is asked for, or a snippet names what is not there: a short-lived program
   * that needs none of them starts faster.
   */
  readonly lazy?: boolean;
  /** Reloads changed skill files, and changed settings of skills, while the runtime is open. Off by default. */
  readonly watch?: boolean;
  /**
   * Lets the TypeScript compiler look at each snippet before it runs, in a thread of its own, for at most 100 ms; without the
   * package `typescript` nothing is looked at. On by default, from a second after the first snippet; `true` loads it at once,
   * `false` never.
   */
  readonly typecheck?: boolean;
  /**
   * Learns from use, in memory: `requests` which words stand for which methods, for each caller; `results` what methods
   * return, without values. On by default; `false` for neither.
   */
  readonly learning?: boolean | Partial<LearningSettings>;
  /**
   * Approximate length of the catalog in prompts and in the instructions for MCP clients; 2,500 by default, 0 for none.
   */
  readonly catalogTokens?: number;
  /** Worker threads of the sandbox; one fewer than the machine has cores, at most 4, by default. */
  readonly workers?: number;
  /** The base of relative paths; the current folder by default. */
  readonly cwd?: string;
  /** The environment that configuration may refer to; that of the process by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Options of runs. */
export interface RunRecordOptions {
  /** The runs that are recorded: those with an effect or a question to a person (`effects`, the default), all, or none. */
  readonly record?: "off" | "effects" | "full";
  /** Passes after which a skill that was saved from a run is not marked as learned any more; 3 by default. */
  readonly learnedPasses?: number;
}

/** Options of approvals. */
export interface ApprovalOptions {
  /** Seconds after which a run that waits for an answer gives its memory back, and says that it waits; 25 by default. */
  readonly holdSeconds?: number;
  /** Whether destructive methods ask before each call, unless a row of the policy decides; `allow` by default. */
  readonly destructive?: "allow" | "ask";
  /**
   * Makes calls wait for an answer of `runtime.approvals`, the command line or HTTP; with `"programs"` only those of recorded
   * programs. Off by default.
   */
  readonly wait?: ApprovalWait;
  /** The time after which a question and an unused yes expire; an hour by default. */
  readonly expireSeconds?: number;
}

/** One line for the log; `path` is the method that says it, where a call does. */
export type LogListener = (level: LogLevel, text: string, path?: string) => void;

/** Options, after files were read and defaults filled in. */
export interface RuntimeSettings {
  /** The folder of skills; `undefined` without a folder, and while the project's skills are held. */
  readonly skillsDir: string | undefined;
  /** Asks the person, if there is one, about what is held; returns the settings that apply from then on. */
  readonly trusted: () => Promise<RuntimeSettings>;
  readonly isTrusted: boolean;
  readonly watch: boolean;
  readonly skills: readonly ProvidedSkill[];
  /** The servers to start, after a person was asked, if there is one. */
  readonly servers: () => Promise<readonly ServerConfig[]>;
  readonly serverUse: ReturnType<typeof resolveMcpOptions>;
  /** Values in the configuration that no text may show. */
  readonly secretValues: readonly string[];
  readonly rehydrateSecrets: boolean;
  /** Adds the arguments and results of calls to their spans. */
  readonly tracesContent: boolean;
  readonly limits: Limits;
  readonly timeouts: Timeouts;
  readonly typecheck: boolean;
  readonly learning: LearningSettings;
  readonly catalogTokens: number;
  readonly sections: Readonly<Record<string, unknown>>;
  /** The settings.yaml that is read, if it is there. Absolute. */
  readonly settingsFile: string | undefined;
  readonly problems: readonly Problem[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file of policy rows, if there may be one. Absolute. */
  readonly policyFile: { readonly tools: string; readonly isNamed: boolean } | undefined;
  readonly policy: PolicySettings;
  readonly approvals: {
    readonly wait: ApprovalWait;
    readonly expireMs: number;
    /** The file of calls that are approved for always, if there may be one. */
    readonly approvedFile: ApprovedFile | undefined;
  };
  /** Values of the placeholders in settings. */
  readonly variables: Variables;
  /** Absolute. */
  readonly store: string | undefined;
  /** The place of keys, approvals and the audit log; in memory if it has neither a folder nor a URL. */
  readonly database: StoreLocation;
  /** `undefined` if neither the program nor the settings say it. */
  readonly audit: "off" | "store" | undefined;
  readonly runs: RunSettings;
  /** How long records are kept, in days. */
  readonly retention: { readonly auditDays?: number; readonly approvalDays?: number; readonly runDays?: number };
}

/** Throws `OPTION_INVALID` for options that cannot be meant, `CONFIG_INVALID` for a file that was named and is broken. */
export async function readOptions(options: RuntimeOptions): Promise<RuntimeSettings> {
  const cwd = resolve(options.cwd ?? ".");
  const env = options.env ?? process.env;
  const files = await readFiles(options, cwd, env);
  const settings = settingsFrom(options, files, cwd, env);
  // A held setting that affects every run must be decided now, not when the project is first used.
  return files.warnings.some(({ isHeld, isForAllRuns }) => isHeld && isForAllRuns) ? settings.trusted() : settings;
}

function settingsFrom(
  options: RuntimeOptions,
  files: ConfigFileValues,
  cwd: string,
  env: RuntimeSettings["env"],
): RuntimeSettings {
  const declared = Object.entries(options.mcpServers ?? {}).map(([name, entry]) =>
    toServerConfig(name, entry, { cwd, env }),
  );
  const names = new Set(declared.map((server) => server.name));
  const { person, onlyServers } = options;
  const withDeclared = (found: readonly ServerConfig[]): readonly ServerConfig[] =>
    [...declared, ...found.filter((server) => !names.has(server.name))].filter(
      ({ name }) => onlyServers?.includes(name) ?? true,
    );
  const fromFile = parseLearning(files.settings["learning"]);
  const tokens = parseCatalogTokens(files.settings["catalogTokens"] ?? DEFAULT_CATALOG_TOKENS);
  const rehydrates = parseRehydrate(options.secrets ?? files.settings["secrets"]);
  const policyFile = resolvePolicyFile(options, cwd);
  const { asksDestructive, ...approvals } = resolveApprovals(options.approvals, files.settings["approvals"]);
  const { problems, ...records } = parseRecordSettings(files.settings, options);
  const skillsDir = options.skillsDir ?? files.skillsDir;
  let answered: Promise<RuntimeSettings> | undefined;
  const ask = async (): Promise<RuntimeSettings> =>
    person !== undefined && (await askForTrust(person, files, cwd, env))
      ? settingsFrom(options, await readFiles(options, cwd, env), cwd, env)
      : settings;
  const settings: RuntimeSettings = {
    skillsDir: skillsDir === undefined || skillsDir === false ? undefined : resolve(cwd, skillsDir),
    trusted: () => (answered ??= ask()),
    isTrusted: files.trust?.isTrusted ?? true,
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
    secretValues: [...declared.flatMap(findServerSecrets), ...listSecrets(files, env)],
    rehydrateSecrets: rehydrates ?? false,
    tracesContent: options.telemetry?.content ?? capturesContent(env),
    limits: mergeLimits(mergeLimits(DEFAULT_LIMITS, files.limits), options.limits),
    timeouts: mergeTimeouts(mergeTimeouts(DEFAULT_TIMEOUTS, files.timeouts), options.timeouts),
    typecheck: options.typecheck ?? (options.lazy !== true && files.settings["typecheck"] !== false),
    learning: options.learning === undefined ? (fromFile ?? LEARNS_ALL) : learningOption(options.learning),
    catalogTokens: options.catalogTokens === undefined ? (tokens ?? DEFAULT_CATALOG_TOKENS) : requireTokens(options),
    sections: files.settings,
    settingsFile: resolveSettingsFile(options, cwd),
    problems: [
      ...files.warnings,
      ...problems,
      ...findUnreadable({ learning: fromFile, tokens, rehydrates }),
      ...approvals.problems,
    ],
    env,
    policyFile,
    approvals: { ...approvals, approvedFile: policyFile && { file: getApprovedFile(policyFile.tools), cwd, env } },
    policy: {
      asksDestructive,
      onlyTightens: options.policy === undefined && files.trust?.isTrusted === false,
    },
    variables: files.variables,
    ...resolveStore(options.store, files.settings["store"], { cwd, variables: files.variables }),
    ...records,
  };
  return settings;
}

function listSecrets(
  { servers, settings, variables }: ConfigFileValues,
  env: RuntimeSettings["env"],
): readonly string[] {
  const token = env["SKILLGATE_TOKEN"] ?? "";
  return [...servers.flatMap(findServerSecrets), ...findSettingsSecrets(settings, variables), token];
}

/** Returns the problems of the settings that could not be parsed. */
function findUnreadable(parsed: Readonly<Record<string, unknown>>): readonly Problem[] {
  const problems: Readonly<Record<string, Problem>> = {
    learning: UNREADABLE_LEARNING,
    tokens: UNREADABLE_TOKENS,
    rehydrates: UNREADABLE_REHYDRATE,
  };
  return Object.entries(problems).flatMap(([name, problem]) => (parsed[name] === undefined ? [problem] : []));
}

/** Whether the person trusts the project; a yes is remembered until the project changes. */
async function askForTrust(
  person: Prompter,
  { trust, heldParts: parts }: ConfigFileValues,
  cwd: string,
  env: RuntimeSettings["env"],
): Promise<boolean> {
  if (trust === undefined || trust.excess !== undefined || parts.length === 0) return false;
  const isTrusted = await person.mayTrust({ folder: trust.folder, isChanged: trust.changed.length > 0, parts });
  if (isTrusted) await trustProject({ cwd, env }, trust);
  return isTrusted;
}

const LEARNS_ALL: LearningSettings = { requests: true, results: true };

const LEARNING_FORM = "learning must be true, false, or have requests and results, each true or false";

const UNREADABLE_LEARNING: Problem = {
  source: "settings.yaml",
  error: sentence("CONFIG_INVALID", LEARNING_FORM),
};

function learningOption(option: unknown): LearningSettings {
  const settings = parseLearning(option);
  if (settings !== undefined) return settings;
  throw invalidOption(LEARNING_FORM);
}

/** One switch for all, or one for each; `undefined` for what is neither. */
function parseLearning(value: unknown = true): LearningSettings | undefined {
  if (typeof value === "boolean") return { requests: value, results: value };
  if (!isRecord(value)) return undefined;
  const { requests = true, results = true, ...others } = value;
  const isWhole = typeof requests === "boolean" && typeof results === "boolean" && Object.keys(others).length === 0;
  return isWhole ? { requests, results } : undefined;
}

export const DEFAULT_CATALOG_TOKENS = 2_500;
const MAX_CATALOG_TOKENS = 100_000;

const TOKENS_FORM = `catalogTokens must be a whole number from 0 to ${MAX_CATALOG_TOKENS}`;

const UNREADABLE_TOKENS: Problem = { source: "settings.yaml", error: sentence("CONFIG_INVALID", TOKENS_FORM) };

function parseCatalogTokens(value: unknown): number | undefined {
  const isWhole = typeof value === "number" && Number.isInteger(value);
  return isWhole && value >= 0 && value <= MAX_CATALOG_TOKENS ? value : undefined;
}

function requireTokens({ catalogTokens }: RuntimeOptions): number {
  const tokens = parseCatalogTokens(catalogTokens);
  if (tokens === undefined) throw invalidOption(`${TOKENS_FORM}, not ${formatValue(catalogTokens)}`);
  return tokens;
}

const UNREADABLE_REHYDRATE: Problem = {
  source: "settings.yaml",
  error: sentence("CONFIG_INVALID", "secrets.rehydrate must be true or false"),
};

/** `undefined` for a setting that is neither `true` nor `false`. */
function parseRehydrate(secrets: unknown): boolean | undefined {
  if (secrets === undefined || secrets === null) return false;
  const { rehydrate = false } = isRecord(secrets) ? secrets : { rehydrate: secrets };
  return typeof rehydrate === "boolean" && isRecord(secrets) ? rehydrate : undefined;
}

const UNREADABLE_APPROVALS: Problem = {
  source: "settings.yaml",
  error: sentence("CONFIG_INVALID", "approvals.destructive must be allow or ask; destructive methods ask until then"),
};

/** The time for which a question can be answered. */
const DEFAULT_EXPIRE_SECONDS = 3_600;
const MAX_EXPIRE_SECONDS = 30 * 24 * 3_600;

const UNREADABLE_EXPIRY: Problem = {
  source: "settings.yaml",
  error: sentence("CONFIG_INVALID", `approvals.expireSeconds must be a number above 0 and up to ${MAX_EXPIRE_SECONDS}`),
};

interface ResolvedApprovals extends Pick<PolicySettings, "asksDestructive"> {
  readonly wait: ApprovalWait;
  readonly expireMs: number;
  readonly problems: readonly Problem[];
}

/** A setting that cannot be read must not permit more than was meant. */
function resolveApprovals(options: ApprovalOptions | undefined, section: unknown): ResolvedApprovals {
  const approvals = mergeApprovals(options, section);
  const asksDestructive = parseDestructive(approvals);
  const expireSeconds = parseExpiry(approvals);
  return {
    asksDestructive: asksDestructive ?? true,
    wait: options?.wait ?? false,
    expireMs: (expireSeconds ?? DEFAULT_EXPIRE_SECONDS) * 1_000,
    problems: [
      ...(asksDestructive === undefined ? [UNREADABLE_APPROVALS] : []),
      ...(expireSeconds === undefined ? [UNREADABLE_EXPIRY] : []),
    ],
  };
}

/** Options replace the members of the section that they name. */
function mergeApprovals(options: ApprovalOptions | undefined, section: unknown): unknown {
  if (options === undefined) return section;
  return section === undefined || section === null || isRecord(section) ? { ...section, ...options } : section;
}

function parseExpiry(approvals: unknown): number | undefined {
  const { expireSeconds = DEFAULT_EXPIRE_SECONDS } = isRecord(approvals) ? approvals : {};
  const isValid = typeof expireSeconds === "number" && expireSeconds > 0 && expireSeconds <= MAX_EXPIRE_SECONDS;
  return isValid ? expireSeconds : undefined;
}

/** `undefined` for a setting that is neither `allow` nor `ask`. */
function parseDestructive(approvals: unknown): boolean | undefined {
  if (approvals === undefined || approvals === null) return false;
  const { destructive = "allow" } = isRecord(approvals) ? approvals : { destructive: approvals };
  return destructive === "ask" ? true : destructive === "allow" ? false : undefined;
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

/** The longest time that a timer can wait, in milliseconds: 24 days. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Limits with some of them replaced; throws `OPTION_INVALID` for an unknown one, or one that is not a positive number. */
export function mergeLimits(limits: Limits, changes: Partial<Limits> | undefined): Limits {
  requireNumbers("limits", Object.keys(limits), changes);
  const merged = { ...limits, ...changes };
  return { ...merged, cpuMs: bounded(merged.cpuMs), wallMs: bounded(merged.wallMs) };
}

/** The same for timeouts. */
function mergeTimeouts(timeouts: Timeouts, changes: Partial<Timeouts> | undefined): Timeouts {
  requireNumbers("timeouts", Object.keys(timeouts), changes);
  const { validationMs, discoveryMs, lockMs, connectMs } = { ...timeouts, ...changes };
  return {
    validationMs: bounded(validationMs),
    discoveryMs: bounded(discoveryMs),
    lockMs: bounded(lockMs),
    connectMs: bounded(connectMs),
  };
}

/** A program in plain JavaScript may pass anything. */
function requireNumbers(option: string, names: readonly string[], changes: unknown = {}): void {
  if (!isRecord(changes)) throw invalidOption(`${option} must be an object of numbers, not ${formatValue(changes)}`);
  for (const [name, value] of Object.entries(changes)) {
    if (!names.includes(name))
      throw invalidOption(`${option} has the unknown name ${describeUnknownName("name", name, names).detail}`);
    if (typeof value !== "number" || !(value > 0) || !Number.isFinite(value))
      throw invalidOption(`${option}.${name} must be a positive number, not ${formatValue(value)}`);
  }
}

/** A longer delay makes a timer fire at once, and not every timer takes parts of a millisecond. */
function bounded(ms: number): number {
  return Math.min(Math.ceil(ms), MAX_TIMEOUT_MS);
}

/** JSON has no word for `NaN`. */
function formatValue(value: unknown): string {
  return typeof value === "string" || isRecord(value) ? JSON.stringify(value) : String(value);
}

function invalidOption(what: string): SkillgateError {
  return new SkillgateError("OPTION_INVALID", sentence("OPTION_INVALID", what));
}

type ConfigFileValues = Pick<
  Config,
  "servers" | "skillsDir" | "limits" | "timeouts" | "settings" | "variables" | "warnings" | "ask" | "heldParts"
> & { readonly trust?: Config["trust"] };

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
      ask: async () => [],
    };
  return loadConfig({
    cwd,
    env,
    isTrusted: trust === "given",
    hasOtherSkills: skillsDir !== undefined,
    ...(settings !== undefined && { settingsFile: settings }),
    ...(mcpConfig !== undefined && { mcpConfigFile: mcpConfig }),
  });
}

/** A program in plain JavaScript may pass anything. */
function parseSkill(value: unknown, index: number): ProvidedSkill {
  if (
    isRecord(value) &&
    typeof value["name"] === "string" &&
    Array.isArray(value["methods"]) &&
    typeof value["invoke"] === "function"
  ) {
    return value as unknown as ProvidedSkill;
  }
  throw invalidOption(`skills[${index}] is no skill; make it with defineSkill({ … })`);
}
