import { isRecord, type JsonSchema } from "../../model/json.ts";
import type { Catalog, Skill } from "../../model/catalog.ts";
import { createPathMatcher } from "../../model/permissions.ts";
import { METADATA_DEFAULTS, type MethodDefinition, type MethodMetadata } from "../../model/skill.ts";
import { isMemberName } from "../../shared/names/skill-names.ts";

/** A skill as a machine lists it for others. */
export interface ListedSkill {
  readonly name: string;
  readonly description: string;
  readonly guidance?: string;
  readonly methods: readonly MethodDefinition[];
}

/** The metadata that a machine says about its methods, with the test that a value must pass. */
const METADATA: { readonly [Name in keyof MethodMetadata]?: (value: unknown) => boolean } = {
  category: isShortText,
  tags: isTexts,
  version: isShortText,
  deprecated: (value) => value === false || isShortText(value),
  requiredScopes: isTexts,
  sensitivity: (value) => value === "low" || value === "medium" || value === "high",
  approval: (value) => value === "none" || value === "user" || value === "admin",
  cooldownSeconds: isCount,
  rateLimit: isCount,
  timeoutMs: (value) => isCount(value) && value !== 0,
  readOnly: isSwitch,
  destructive: isSwitch,
  idempotent: isSwitch,
  openWorld: isSwitch,
};

/** Lists the skills of a catalog whose methods match the patterns; without patterns those that are files or code. */
export function listSkills(catalog: Catalog, patterns: readonly string[] | undefined): readonly ListedSkill[] {
  const matchers = patterns?.map(createPathMatcher);
  const isOffered = (skill: Skill, path: string): boolean =>
    skill.kind !== "node" &&
    (matchers?.some((matches) => matches(path)) ?? (skill.kind !== "mcp" && skill.kind !== "api"));
  return catalog.skills.flatMap((skill) => {
    const methods = skill.methods.filter(
      ({ path, definition }) => definition.isOnlyForPages !== true && isOffered(skill, path),
    );
    if (methods.length === 0) return [];
    const { name, description, guidance } = skill;
    return [
      {
        name,
        description,
        ...(guidance !== undefined && { guidance }),
        methods: methods.map(({ definition, input, output, metadata, description: says }) => ({
          name: definition.name,
          description: says,
          input,
          ...(output !== undefined && { output }),
          metadata: pickMetadata({ ...metadata }),
        })),
      },
    ];
  });
}

const MAX_SKILLS = 500;
const MAX_METHODS = 5_000;

export interface ParsedListing {
  readonly skills: readonly ListedSkill[];
  /** The parts that are left out, with the reasons. */
  readonly flaws: readonly string[];
}

/** Parses the list of another machine. What is invalid in it is left out; `undefined` if it is no list. */
export function parseListing(value: unknown): ParsedListing | undefined {
  const listed = isRecord(value) ? value["skills"] : undefined;
  if (!Array.isArray(listed)) return undefined;
  const flaws: string[] = [];
  const names = new Set<string>();
  let methodCount = 0;
  const skills = listed.slice(0, MAX_SKILLS).flatMap((item: unknown, index): ListedSkill[] => {
    const { name, description, guidance, methods } = isRecord(item) ? item : {};
    if (typeof name !== "string" || !isMemberName(name) || names.has(name) || !Array.isArray(methods)) {
      flaws.push(`skill #${index + 1} has no valid name of its own, or no methods`);
      return [];
    }
    names.add(name);
    const parsed = parseMethods(methods.slice(0, MAX_METHODS - methodCount), name, flaws);
    methodCount += methods.length;
    return [
      {
        name,
        description: typeof description === "string" ? description : "",
        ...(typeof guidance === "string" && { guidance }),
        methods: parsed,
      },
    ];
  });
  if (listed.length > MAX_SKILLS || methodCount > MAX_METHODS)
    flaws.push(`it has more than ${MAX_SKILLS} skills or ${MAX_METHODS} methods`);
  return { skills: skills.filter(({ methods }) => methods.length > 0), flaws };
}

function parseMethods(listed: readonly unknown[], skill: string, flaws: string[]): readonly MethodDefinition[] {
  const names = new Set<string>();
  return listed.flatMap((item, index): MethodDefinition[] => {
    const { name, description, input, output, metadata } = isRecord(item) ? item : {};
    const isValid = typeof name === "string" && isMemberName(name) && !names.has(name) && isObjectSchema(input);
    if (!isValid) {
      flaws.push(`method #${index + 1} of ${skill} has no valid name of its own, or no schema of an object`);
      return [];
    }
    names.add(name);
    return [
      {
        name,
        description: typeof description === "string" ? description : "",
        input: input as JsonSchema,
        ...(isRecord(output) && { output }),
        metadata: pickMetadata(isRecord(metadata) ? metadata : {}),
      },
    ];
  });
}

function isObjectSchema(schema: unknown): boolean {
  return isRecord(schema) && (schema["type"] ?? "object") === "object";
}

/** Leaves out defaults, unknown names and values of the wrong type. */
function pickMetadata(source: Readonly<Record<string, unknown>>): Partial<MethodMetadata> {
  const entries = Object.entries(METADATA).flatMap(([name, isValid]) => {
    const value = Object.hasOwn(source, name) ? source[name] : undefined;
    const isDefault = value === METADATA_DEFAULTS[name as keyof MethodMetadata];
    return value === undefined || isDefault || !isValid(value) ? [] : [[name, value]];
  });
  return Object.fromEntries(entries) as Partial<MethodMetadata>;
}

function isSwitch(value: unknown): boolean {
  return typeof value === "boolean";
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value < 2 ** 31;
}

function isShortText(value: unknown): boolean {
  return typeof value === "string" && value.length <= 1_000;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length <= 50 && value.every(isShortText);
}
