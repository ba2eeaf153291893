import { getMessage, sentence, SkillgateError } from "../../errors.ts";
import { EXPOSES, TOOL_NAMES } from "../../model/tools/exposure.ts";
import { isRecord, type JsonSchema } from "../../model/json.ts";
import type { Profile, Profiles, ServedProfile } from "../../model/tools/profile.ts";
import type { Problem } from "../../model/provider.ts";
import type { ToolOverride } from "../../model/tool-definition.ts";
import { splitPath } from "../../shared/names/method-paths.ts";
import { isMemberName } from "../../shared/names/skill-names.ts";
import { describeUnknownName } from "../../shared/suggest.ts";

/** Maximum number of UTF-16 units of the instructions of a profile. Some clients cut instructions at 2,048. */
const MAX_INSTRUCTIONS_UNITS = 1_000;

const PROFILE_NAME = /^[A-Za-z0-9][\w-]{0,63}$/;

/** Parses the section `profiles`. A profile with a mistake is a problem, and is left out. */
export function parseProfiles(section: unknown): {
  readonly profiles: Profiles;
  readonly problems: readonly Problem[];
} {
  const profiles = new Map<string, ServedProfile>();
  if (section === undefined || section === null) return { profiles, problems: [] };
  if (!isRecord(section)) return { profiles, problems: [toProblem(wrong("profiles must have profiles by name"))] };
  const problems: Problem[] = [];
  for (const [name, written] of Object.entries(section)) {
    try {
      profiles.set(name, parseProfile(name, written));
    } catch (thrown) {
      problems.push(toProblem(thrown));
    }
  }
  return { profiles, problems };
}

function parseProfile(name: string, written: unknown): ServedProfile {
  const label = `profiles.${name}`;
  if (!PROFILE_NAME.test(name))
    throw wrong(`${JSON.stringify(name)} cannot name a profile: it must have letters, digits, _ and -, at most 64`);
  if (!isRecord(written)) throw wrong(`${label} must be a section, as in ${label}: { methods: [NotesSkill] }`);
  requireKeys(written, KEYS, label);
  const { methods, except = [], tools = {}, instructions, expose, names, budgetTokens } = written;
  const profile: Profile = {
    name,
    methods: parsePatterns(methods, `${label}.methods`, 1),
    except: parsePatterns(except, `${label}.except`, 0),
    tools: parseTools(tools, `${label}.tools`),
  };
  if (instructions !== undefined && (typeof instructions !== "string" || instructions.length > MAX_INSTRUCTIONS_UNITS))
    throw wrong(`${label}.instructions must be a text with at most ${MAX_INSTRUCTIONS_UNITS} characters`);
  if (budgetTokens !== undefined && !(Number.isSafeInteger(budgetTokens) && Number(budgetTokens) >= 0))
    throw wrong(`${label}.budgetTokens must be a whole number from 0`);
  const knownExpose = parseChoice(expose, EXPOSES, `${label}.expose`);
  const knownNames = parseChoice(names, TOOL_NAMES, `${label}.names`);
  return {
    profile,
    exposure: {
      ...(knownExpose !== undefined && { expose: knownExpose }),
      ...(knownNames !== undefined && { names: knownNames }),
      ...(budgetTokens !== undefined && { budgetTokens: Number(budgetTokens) }),
    },
    ...(instructions !== undefined && instructions.trim() !== "" && { instructions: instructions.trim() }),
  };
}

const KEYS: readonly string[] = ["methods", "except", "tools", "instructions", "expose", "names", "budgetTokens"];
const TOOL_MEANINGS = {
  name: "the name of the method in the profile",
  title: "its title as a tool",
  description: "its description; the titles of its server are left out as well",
};
const TOOL_KEYS: readonly string[] = Object.keys(TOOL_MEANINGS);

function requireKeys(written: Readonly<Record<string, unknown>>, keys: readonly string[], label: string): void {
  const unknown = Object.keys(written).find((key) => !keys.includes(key));
  if (unknown === undefined) return;
  throw wrong(`${label} has the unknown setting ${describeUnknownName("setting", unknown, keys, { limit: 1 }).detail}`);
}

/** Parses a list of patterns; the name of a skill stands for all its methods. */
function parsePatterns(written: unknown, label: string, least: number): readonly string[] {
  const isList = Array.isArray(written) && written.every((each) => typeof each === "string" && each.trim() !== "");
  if (!isList || written.length < least)
    throw wrong(`${label} must be a list of patterns, as in ["NotesSkill", "FilesystemMCP.read_*"]`);
  return (written as readonly string[]).map((pattern) => (/^\w+$/.test(pattern) ? `${pattern}.*` : pattern));
}

function parseTools(written: unknown, label: string): Profile["tools"] {
  if (!isRecord(written))
    throw wrong(`${label} must have the paths of methods: { FilesystemMCP.read_file: { name: read } }`);
  const tools = Object.entries(written).map(([path, override]) => [path, parseTool(path, override, label)] as const);
  const paths = tools.flatMap(([path, { name }]) => (name === undefined ? [] : [`${splitPath(path).skill}.${name}`]));
  const twice = paths.find((path, index) => paths.indexOf(path) !== index);
  if (twice !== undefined) throw wrong(`${label} gives two methods the name ${twice}`);
  return Object.fromEntries(tools);
}

function parseTool(path: string, written: unknown, label: string): ToolOverride {
  const { skill, method } = splitPath(path);
  if (skill === "" || method === "") throw wrong(`${label}: ${JSON.stringify(path)} is not a path, as in Skill.method`);
  if (!isRecord(written)) throw wrong(`${label}: ${path} must be a section, as in ${path}: { name: read }`);
  requireKeys(written, TOOL_KEYS, `${label}: ${path}`);
  for (const [key, text] of Object.entries(written))
    if (typeof text !== "string" || text.trim() === "") throw wrong(`${label}: ${path} must have a text as its ${key}`);
  const { name } = written;
  if (typeof name === "string" && !isMemberName(name))
    throw wrong(`${label}: ${JSON.stringify(name)} cannot be the name of a method`);
  return written;
}

function parseChoice<Choice extends string>(
  written: unknown,
  choices: readonly Choice[],
  label: string,
): Choice | undefined {
  if (written === undefined) return undefined;
  const choice = choices.find((each) => each === written);
  if (choice === undefined) throw wrong(`${label} must be ${choices.join(", ")}`);
  return choice;
}

function wrong(what: string): SkillgateError {
  return new SkillgateError("CONFIG_INVALID", sentence("CONFIG_INVALID", what));
}

function toProblem(thrown: unknown): Problem {
  return { source: "settings.yaml", error: getMessage(thrown) };
}

/** The section `profiles` as a JSON Schema. */
export const PROFILES_SCHEMA: JsonSchema = {
  type: "object",
  description: "Named subsets of the methods, which clients select: `/mcp/NAME`, `serve --stdio --profile NAME`.",
  additionalProperties: {
    type: "object",
    required: ["methods"],
    additionalProperties: false,
    properties: {
      methods: describePatterns("the methods of the profile: skills, and patterns of paths"),
      except: describePatterns("the methods that it leaves out"),
      tools: {
        type: "object",
        description: "new names and texts of methods, by their paths",
        additionalProperties: {
          type: "object",
          additionalProperties: false,
          properties: Object.fromEntries(
            Object.entries(TOOL_MEANINGS).map(([key, description]) => [
              key,
              { type: "string", minLength: 1, description },
            ]),
          ),
        },
      },
      instructions: {
        type: "string",
        maxLength: MAX_INSTRUCTIONS_UNITS,
        description: "a text for the model, before the instructions of the server",
      },
      expose: { enum: EXPOSES, description: "what clients see as tools, in place of `server.expose`" },
      names: { enum: TOOL_NAMES, description: "how methods are named as tools, in place of `server.names`" },
      budgetTokens: { type: "integer", minimum: 0, description: "replaces `server.budgetTokens`" },
    },
  },
};

function describePatterns(description: string): JsonSchema {
  return { type: "array", items: { type: "string", minLength: 1 }, description };
}
