import { createSettingsProblem } from "./runtime-settings.ts";
import { RUNTIME_SECTION_SCHEMAS } from "../../config/index.ts";
import { findPermissionFlaw } from "../../keys/index.ts";
import { isRecord } from "../../model/json.ts";
import type { Profile, Profiles, ServedProfile } from "../../model/tools/profile.ts";
import type { Problem } from "../../model/provider.ts";
import { splitPath } from "../../shared/names/method-paths.ts";
import { isMemberName } from "../../shared/names/skill-names.ts";
import { findSettingMistakes } from "../../shared/settings/check-settings.ts";

const PROFILE_NAME = /^[A-Za-z0-9][\w-]{0,63}$/;

/** A profile as it is written, without mistakes. */
type WrittenProfile = Partial<Pick<Profile, "permissions" | "except" | "tools">> &
  ServedProfile["exposure"] & { readonly instructions?: string; readonly methods?: readonly string[] };

/** Parses the section `profiles`. A profile with a mistake is a problem, and is left out. */
export function parseProfiles(section: unknown): {
  readonly profiles: Profiles;
  readonly problems: readonly Problem[];
} {
  const profiles = new Map<string, ServedProfile>();
  if (section === undefined || section === null) return { profiles, problems: [] };
  if (!isRecord(section)) return { profiles, problems: [createSettingsProblem("profiles must have profiles by name")] };
  const problems: Problem[] = [];
  for (const [name, written] of Object.entries(section)) {
    const mistakes = findMistakes(name, written);
    if (mistakes.length === 0) profiles.set(name, toProfile(name, written as WrittenProfile));
    problems.push(...mistakes.map(createSettingsProblem));
    const oldWords = mistakes.length === 0 && (written as WrittenProfile).methods;
    if (oldWords)
      problems.push(createSettingsProblem(`profiles.${name}.methods is written ${writePermissions(oldWords)} today`));
  }
  return { profiles, problems };
}

function findMistakes(name: string, written: unknown): readonly string[] {
  const path = `profiles.${name}`;
  if (!PROFILE_NAME.test(name))
    return [`${JSON.stringify(name)} cannot name a profile: it must have letters, digits, _ and -, at most 64`];
  if (!isRecord(written)) return [`${path} must be a section, as in ${path}: { permissions: ["call:NotesSkill.*"] }`];
  const mistakes = findSettingMistakes(RUNTIME_SECTION_SCHEMAS.profiles, { [name]: written }, ["profiles"]);
  if (mistakes.length > 0) return mistakes.map(({ error }) => error);
  const { permissions, methods, tools } = written as WrittenProfile;
  return [
    ...findPermissionMistakes(path, permissions ?? methods?.map(toCall)),
    ...findToolMistakes(`${path}.tools`, tools),
  ];
}

function findPermissionMistakes(path: string, permissions: readonly string[] | undefined): readonly string[] {
  if (permissions === undefined)
    return [`${path} needs permissions, as in ${path}: { permissions: ["call:NotesSkill.*"] }`];
  const isAdmin = permissions.some((text) => text.startsWith("admin:"));
  const flaw = isAdmin ? "a profile selects methods: write call: or see:" : findPermissionFlaw(permissions);
  return flaw === undefined ? [] : [`${path}.permissions: ${flaw}`];
}

/** Finds paths and names that cannot be those of methods. */
function findToolMistakes(label: string, tools: WrittenProfile["tools"] = {}): readonly string[] {
  const entries = Object.entries(tools).map(([path, { name }]) => ({ path, ...splitPath(path), name }));
  const names = entries.flatMap(({ skill, name }) => (name === undefined ? [] : [`${skill}.${name}`]));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return [
    ...entries.flatMap(({ path, skill, method, name }) => [
      ...(skill === "" || method === "" ? [`${label}: ${JSON.stringify(path)} is not a path, as in Skill.method`] : []),
      ...(name === undefined || isMemberName(name)
        ? []
        : [`${label}: ${JSON.stringify(name)} cannot be the name of a method`]),
    ]),
    ...(twice === undefined ? [] : [`${label} gives two methods the name ${twice}`]),
  ];
}

function toProfile(name: string, written: WrittenProfile): ServedProfile {
  const {
    methods = [],
    permissions = methods.map(toCall),
    except = [],
    tools = {},
    instructions = "",
    ...exposure
  } = written;
  const text = instructions.trim();
  return {
    profile: { name, permissions, except: except.map(toPattern), tools },
    exposure,
    ...(text !== "" && { instructions: text }),
  };
}

function toCall(pattern: string): string {
  return `call:${toPattern(pattern)}`;
}

function writePermissions(methods: readonly string[]): string {
  return `permissions: ${JSON.stringify(methods.map(toCall))}`;
}

/** The name of a skill stands for all its methods. */
function toPattern(pattern: string): string {
  return /^\w+$/.test(pattern) ? `${pattern}.*` : pattern;
}
