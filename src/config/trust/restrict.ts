import { isRecord } from "../../model/json.ts";
import { DEFAULT_LIMITS } from "../../model/limits.ts";
import { DEFAULT_TIMEOUTS } from "../../model/timeouts.ts";
import type { RUNTIME_SECTION_SCHEMAS } from "../sections.ts";
import type { SettingsFile } from "../settings.ts";

/** Settings of a project that is not trusted, without what would loosen anything. */
export interface RestrictedSettings {
  readonly settings: SettingsFile;
  /** The ignored settings with their values: `server.auth`, `false`. */
  readonly ignored: readonly (readonly [path: string, value: unknown])[];
}

type IsHarmless = (name: string, value: unknown) => boolean;

/** For sections that relax no restriction, whatever they say. */
const isFree: IsHarmless = () => true;

/**
 * The settings of each section that an untrusted project may set: none of them relaxes a restriction. A section that is missing
 * here is an error of the compiler.
 */
const HARMLESS: Readonly<Record<keyof typeof RUNTIME_SECTION_SCHEMAS | "server" | "agent", IsHarmless>> = {
  // Held by themselves: see below, and the servers one by one.
  skills: isFree,
  mcpServers: isFree,
  audit: isFree,
  // Only texts and checks of programs depend on them.
  typecheck: isFree,
  observe: isFree,
  catalogTokens: isFree,
  // Its one value asks more often.
  trust: isFree,
  limits: (name, value) => isAtMost(DEFAULT_LIMITS, name, value),
  timeouts: (name, value) => isAtMost(DEFAULT_TIMEOUTS, name, value),
  server: (name, value) => HARMLESS_OF_SERVER.has(name) || (name === "auth" && value === true),
  // Its servers are held one by one.
  mcp: (name, value) => name !== "changes" || value === "hold",
  store: () => false,
  // An address and headers decide who receives variables of the owner and arguments of calls.
  sources: () => false,
  // An address decides who receives the owner's credentials.
  accounts: () => false,
  // An address decides who receives facts about callers.
  alerts: () => false,
  // Its texts replace those of methods, and models follow them.
  profiles: () => false,
  secrets: () => false,
  // Models of other callers could fill the list of what a person must read.
  automations: () => false,
  // An address decides who may offer skills, and who receives arguments.
  nodes: () => false,
  // An address decides who receives programs.
  executors: () => false,
  // A model, an address and a variable decide where the owner's key is sent.
  agent: (name) => name === "mode",
  runs: (name, value) => name === "record" && (value === "effects" || value === "full"),
  approvals: (name, value) => name === "destructive" && value === "ask",
};

const HARMLESS_OF_SERVER: ReadonlySet<string> = new Set(["port", "expose", "names", "budgetTokens"]);

/** Leaves out what would loosen anything, or tell skills what to do. */
export function restrictSettings(settings: SettingsFile): RestrictedSettings {
  const ignored: (readonly [path: string, value: unknown])[] = [];
  const { skillsDir: _dir, ...rest } = settings;
  const sections = Object.entries(settings.sections).flatMap(([section, value]) => {
    if (section === "skills") return [[section, restrictSkills(value, ignored)]];
    if (section === "audit" && value !== "store") {
      ignored.push([section, value]);
      return [];
    }
    const isHarmless = Object.hasOwn(HARMLESS, section) ? HARMLESS[section as keyof typeof HARMLESS] : isFree;
    if (isHarmless === isFree || value == null) return [[section, value]];
    if (!isRecord(value)) return [];
    const members = Object.entries(value);
    const loosening = members.filter(([name, item]) => !isHarmless(name, item));
    ignored.push(...loosening.map(([name, item]) => [`${section}.${name}`, item] as const));
    return [[section, Object.fromEntries(members.filter(([name, item]) => isHarmless(name, item)))]];
  });
  return {
    settings: {
      ...rest,
      sections: Object.fromEntries(sections) as SettingsFile["sections"],
      ...(settings.limits && { limits: atMost(DEFAULT_LIMITS, settings.limits) }),
      ...(settings.timeouts && { timeouts: atMost(DEFAULT_TIMEOUTS, settings.timeouts) }),
    },
    ignored,
  };
}

/** Keeps the settings that disable a skill or isolate it in a process. The folder and the variables of skills are held. */
function restrictSkills(value: unknown, ignored: (readonly [path: string, value: unknown])[]): unknown {
  if (!isRecord(value)) return undefined;
  const { dir: _dir, env, ...skills } = value;
  if (env !== undefined) ignored.push(["skills.env", env]);
  return Object.fromEntries(
    Object.entries(skills).map(([name, skill]) => {
      const members = isRecord(skill) ? Object.entries(skill) : [];
      const own = members.filter(([key]) => key !== "enabled" && key !== "isolation");
      ignored.push(...own.map(([key, item]) => [`skills.${name}.${key}`, item] as const));
      return [name, Object.fromEntries(members.filter(([key, item]) => isSwitch(key, item)))];
    }),
  );
}

function isSwitch(name: string, value: unknown): boolean {
  return (name === "enabled" && value === false) || (name === "isolation" && value === "process");
}

function isAtMost(defaults: object, name: string, value: unknown): boolean {
  const limit = (defaults as Readonly<Record<string, number>>)[name];
  return limit === undefined || !(typeof value === "number") || value <= limit;
}

function atMost<Numbers extends object>(defaults: object, numbers: Numbers): Numbers {
  return Object.fromEntries(
    Object.entries(numbers).filter(([name, value]) => isAtMost(defaults, name, value)),
  ) as Numbers;
}
