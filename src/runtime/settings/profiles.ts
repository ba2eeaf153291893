import { RUNTIME_SECTION_SCHEMAS } from "../../config/index.ts";
import { sentence } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import type { Profile, Profiles, ServedProfile } from "../../model/tools/profile.ts";
import type { Problem } from "../../model/provider.ts";
import { splitPath } from "../../shared/names/method-paths.ts";
import { isMemberName } from "../../shared/names/skill-names.ts";
import { findSettingMistakes } from "../../shared/settings/check-settings.ts";

const PROFILE_NAME = /^[A-Za-z0-9][\w-]{0,63}$/;

/** A profile as it is written, without mistakes. */
type WrittenProfile = Pick<Profile, "methods"> &
  Partial<Pick<Profile, "except" | "tools">> &
  ServedProfile["exposure"] & { readonly instructions?: string };

/** Parses the section `profiles`. A profile with a mistake is a problem, and is left out. */
export function parseProfiles(section: unknown): {
  readonly profiles: Profiles;
  readonly problems: readonly Problem[];
} {
  const profiles = new Map<string, ServedProfile>();
  if (section === undefined || section === null) return { profiles, problems: [] };
  if (!isRecord(section)) return { profiles, problems: [createProblem("profiles must have profiles by name")] };
  const problems: Problem[] = [];
  for (const [name, written] of Object.entries(section)) {
    const mistakes = findMistakes(name, written);
    if (mistakes.length === 0) profiles.set(name, toProfile(name, written as WrittenProfile));
    problems.push(...mistakes.map(createProblem));
  }
  return { profiles, problems };
}

function findMistakes(name: string, written: unknown): readonly string[] {
  const path = `profiles.${name}`;
  if (!PROFILE_NAME.test(name))
    return [`${JSON.stringify(name)} cannot name a profile: it must have letters, digits, _ and -, at most 64`];
  if (!isRecord(written)) return [`${path} must be a section, as in ${path}: { methods: [NotesSkill] }`];
  const mistakes = findSettingMistakes(RUNTIME_SECTION_SCHEMAS.profiles, { [name]: written }, ["profiles"]);
  return mistakes.length > 0
    ? mistakes.map(({ error }) => error)
    : findToolMistakes(`${path}.tools`, written as WrittenProfile);
}

/** Finds paths and names that cannot be those of methods. */
function findToolMistakes(label: string, { tools = {} }: WrittenProfile): readonly string[] {
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
  const { methods, except = [], tools = {}, instructions = "", ...exposure } = written;
  const text = instructions.trim();
  return {
    profile: { name, methods: methods.map(toPattern), except: except.map(toPattern), tools },
    exposure,
    ...(text !== "" && { instructions: text }),
  };
}

/** The name of a skill stands for all its methods. */
function toPattern(pattern: string): string {
  return /^\w+$/.test(pattern) ? `${pattern}.*` : pattern;
}

function createProblem(what: string): Problem {
  return { source: "settings.yaml", error: sentence("CONFIG_INVALID", what) };
}
