import { type Catalog, listEntries, type Method, type Skill } from "../model/catalog.ts";
import { type Caller, mayCallAll, mayRead } from "../model/caller.ts";
import type { Profile } from "../model/tools/profile.ts";
import { METADATA_DEFAULTS, type MethodDefinition, type MethodMetadata, type ProvidedSkill } from "../model/skill.ts";
import { isSkillName, splitPath } from "../shared/names/method-paths.ts";
import { isMemberName } from "../shared/names/skill-names.ts";
import { createError, SkillgateError } from "../errors.ts";
import { getParameters } from "./parameters.ts";
import { formatDeclaration } from "./declarations/method.ts";
import { formatPart } from "./declarations/part.ts";
import { formatSignature } from "./declarations/signature.ts";
import { hasOverrides, overrideMethods } from "./profile-view.ts";
import { sanitizeInputSchema, sanitizeOutputSchema, sanitizeText, GUIDANCE_UNITS } from "./sanitize.ts";

/** The whole skill behind each skill of a view. */
const WHOLE = new WeakMap<Skill, Skill>();

/** Converts a provided skill for catalogs: frozen, with sanitized texts and schemas. Throws if a name is invalid. */
export function skillFrom(provided: ProvidedSkill): Skill {
  const skill = usableName(provided.name, provided.source, isSkillName);
  const names = new Set<string>();
  const methods = provided.methods.map((definition) => {
    const name = usableName(definition.name, provided.source, isMemberName);
    const path = `${skill}.${name}`;
    if (names.has(name)) throw duplicate(path, { skill, method: name });
    names.add(name);
    return methodFrom(definition, skill, path, { isOurs: provided.kind === "mcp" });
  });
  return Object.freeze({
    name: skill,
    description: sanitizeText(provided.description),
    source: provided.source,
    kind: provided.kind,
    ...(provided.server !== undefined && { server: sanitizeText(provided.server) }),
    ...(provided.guidance !== undefined && { guidance: sanitizeText(provided.guidance, GUIDANCE_UNITS) }),
    methods: Object.freeze(methods),
    parts: Object.freeze(createParts(provided, skill, names)),
    provided,
  });
}

/** Creates the parts of the methods of a skill. Throws for a part of a method that the skill does not have. */
function createParts(
  { parts = [], source }: ProvidedSkill,
  skill: string,
  methodNames: ReadonlySet<string>,
): readonly Method[] {
  const names = new Set<string>();
  return parts.map((definition) => {
    const { partOf = "" } = definition;
    const name = usableName(definition.name, source, (text) => isPartName(text, partOf));
    const path = `${skill}.${name}`;
    if (names.has(name) || !methodNames.has(partOf)) throw duplicate(path, { skill, method: name });
    names.add(name);
    return methodFrom(definition, skill, path);
  });
}

/** `mutate:createIssue` is a part of `mutate`. */
function isPartName(text: string, partOf: string): boolean {
  return text.startsWith(`${partOf}:`) && /^[A-Za-z_]\w{0,199}$/.test(text.slice(partOf.length + 1));
}

/** Creates the error for a second skill, or method, with the same name. */
export function duplicate(name: string, facts: { skill: string; method?: string }): SkillgateError {
  return new SkillgateError("METHOD_DUPLICATE", `Tool '${name}' already registered`, facts);
}

/** Creates a frozen catalog of skills and takes over the list. Its parts are computed on demand: a change costs little. */
export function catalogFrom(all: readonly Skill[], version: number): Catalog {
  const unlisted = all.filter(({ provided }) => provided.isUnlisted === true);
  const skills = unlisted.length === 0 ? all : all.filter((skill) => !unlisted.includes(skill));
  let methods: readonly Method[] | undefined;
  let entries: readonly Method[] | undefined;
  let skillByName: ReadonlyMap<string, Skill> | undefined;
  const skillNamed = (name: string): Skill | undefined => {
    skillByName ??= new Map(all.map((skill) => [skill.name, skill]));
    return skillByName.get(name);
  };
  return Object.freeze({
    version,
    skills: Object.freeze(skills),
    unlisted: Object.freeze(unlisted),
    get methods() {
      methods ??= Object.freeze(skills.flatMap((skill) => skill.methods));
      return methods;
    },
    get entries() {
      entries ??= Object.freeze(skills.flatMap(listEntries));
      return entries;
    },
    skill: skillNamed,
    method: (path: string) => {
      const entry = findEntry(path, skillNamed);
      return entry?.definition.partOf === undefined ? entry : undefined;
    },
    entry: (path: string) => findEntry(path, skillNamed),
  });
}

function findEntry(path: string, getSkill: Catalog["skill"]): Method | undefined {
  const { skill: name, method } = splitPath(path);
  const skill = getSkill(name);
  return skill && entriesByName(skill).get(method);
}

/** The part of each skill that a caller may read; `undefined` if the caller may read none of it. */
export type ReadableParts = WeakMap<Skill, Skill | undefined>;

/**
 * Returns the part of a catalog that a caller may read, without empty skills. `cache` holds the part of each skill, so
 * that only changed skills are computed again.
 */
export function readableView(catalog: Catalog, caller: Caller, cache: ReadableParts): Catalog {
  if (mayCallAll(caller) && !dependsOnClient(catalog)) return catalog;
  const getReadablePart = (skill: Skill): Skill | undefined => {
    if (!cache.has(skill)) cache.set(skill, readableSkill(skill, caller));
    return cache.get(skill);
  };
  const all = [...catalog.skills, ...catalog.unlisted];
  const skills = all.map(getReadablePart).filter((skill) => skill !== undefined);
  const whole = skills.length === all.length && skills.every((skill, at) => skill === all[at]);
  return whole ? catalog : catalogFrom(skills, catalog.version);
}

const DEPEND_ON_CLIENT = new WeakMap<Catalog, boolean>();

/** True if a catalog has a method that only pages have, or callers whose clients answer requests. */
export function dependsOnClient(catalog: Catalog): boolean {
  const cached = DEPEND_ON_CLIENT.get(catalog);
  if (cached !== undefined) return cached;
  const depends = catalog.methods.some(
    ({ definition: { needsClient, isOnlyForPages } }) => needsClient !== undefined || isOnlyForPages === true,
  );
  DEPEND_ON_CLIENT.set(catalog, depends);
  return depends;
}

function mayReadMethod(caller: Caller, { path, definition }: Method): boolean {
  return mayRead(caller, path, definition.queryText !== undefined);
}

function isForClient({ definition }: Method, { answers = [], isPage = false }: Caller): boolean {
  if (definition.isOnlyForPages === true && !isPage) return false;
  return definition.needsClient?.every((request) => answers.includes(request)) ?? true;
}

/** Returns the skill as registered, for a skill that a view may show only in part. */
export function wholeSkill(skill: Skill): Skill {
  return WHOLE.get(skill) ?? skill;
}

const ENTRIES_BY_NAME = new WeakMap<Skill, ReadonlyMap<string, Method>>();

function entriesByName(skill: Skill): ReadonlyMap<string, Method> {
  const cached = ENTRIES_BY_NAME.get(skill);
  if (cached !== undefined) return cached;
  const entries = new Map(listEntries(skill).map((entry) => [entry.name, entry]));
  ENTRIES_BY_NAME.set(skill, entries);
  return entries;
}

function readableSkill(skill: Skill, caller: Caller): Skill | undefined {
  if (skill.methods.length === 0) return mayRead(caller, `${skill.name}.*`) ? skill : undefined;
  const methods = skill.methods.filter((method) => mayReadMethod(caller, method) && isForClient(method, caller));
  if (methods.length === 0) return undefined;
  const parts = skill.parts.filter((each) => mayRead(caller, each.path) && hasMethod(methods, each));
  if (hasOverrides(caller.profile)) return overriddenPart(skill, { methods, parts }, caller.profile);
  if (methods.length === skill.methods.length && parts.length === skill.parts.length) return skill;
  const part: Skill = Object.freeze({ ...skill, methods: Object.freeze(methods), parts: Object.freeze(parts) });
  WHOLE.set(part, skill);
  return part;
}

/** True if the method of a part is among those. */
function hasMethod(methods: readonly Method[], { definition: { partOf } }: Method): boolean {
  return methods.some(({ name }) => name === partOf);
}

/** Such a part is indexed by itself, because a search must not find it by texts that it does not show. */
function overriddenPart(skill: Skill, readable: Pick<Skill, "methods" | "parts">, profile: Profile): Skill {
  const { parts } = readable;
  const methods = overrideMethods(readable.methods, profile, (definition, original) =>
    methodFrom(definition, skill.name, `${skill.name}.${definition.name}`, { original }),
  );
  const isWhole =
    methods.length === skill.methods.length &&
    methods.every((each, at) => each === skill.methods[at]) &&
    parts.length === skill.parts.length;
  return isWhole ? skill : Object.freeze({ ...skill, methods: Object.freeze(methods), parts: Object.freeze(parts) });
}

function usableName(name: string, source: string, isUsable: (name: string) => boolean): string {
  if (isUsable(name)) return name;
  const printable = sanitizeText(name, 80);
  throw createError("SKILL_INVALID", `"${printable}" in ${source} is not a valid name`);
}

interface MethodOptions {
  readonly original?: Method;
  /** True if the schemas are the runtime's alone, as those that a server has sent. */
  readonly isOurs?: boolean;
}

/** Creates a method of a frozen catalog. Schemas that are in a file, or the runtime's, are read when they are needed: of thousands, few are. */
function methodFrom(
  definition: MethodDefinition,
  skill: string,
  path: string,
  { original, isOurs = false }: MethodOptions = {},
): Method {
  const once = createOnce();
  const method: Method = {
    path,
    skill,
    name: definition.name,
    wireName: definition.wireName ?? getOwnName(definition),
    description: sanitizeText(definition.description),
    metadata: metadataFrom(definition.metadata),
    definition,
    ...(original !== undefined && { original }),
    get input() {
      return once("input", () => sanitizeInputSchema(definition.input));
    },
    get output() {
      return once("output", () => sanitizeOutputSchema(definition.output));
    },
    get parameters() {
      return once("parameters", () => getParameters(method.input));
    },
    get response() {
      return once("response", () => definition.response);
    },
    get signature() {
      return once("signature", () => formatOwnSignature(definition) ?? formatSignature(method));
    },
    get declaration() {
      return once("declaration", () => formatPart(method) ?? formatDeclaration(method));
    },
  };
  // Other schemas in memory are copied now: their author could change them later.
  if (!isOurs && definition.argumentNames === undefined) void [method.output, method.parameters];
  return Object.freeze(method);
}

/** The name of a part without its method: `createIssue`. */
function getOwnName({ name, partOf }: MethodDefinition): string {
  return partOf === undefined ? name : name.slice(partOf.length + 1);
}

/** The signature in the language of an API. */
function formatOwnSignature({ signature }: MethodDefinition): string | undefined {
  return signature === undefined ? undefined : sanitizeText(signature, OWN_SIGNATURE_UNITS);
}

const OWN_SIGNATURE_UNITS = 1_000;

type LateMembers = Pick<Method, "input" | "output" | "parameters" | "response" | "signature" | "declaration">;

/** Keeps each value that was made once. */
function createOnce(): <Name extends keyof LateMembers>(
  name: Name,
  make: () => LateMembers[Name],
) => LateMembers[Name] {
  const values: Partial<LateMembers> = {};
  return (name, make) => {
    if (!Object.hasOwn(values, name)) values[name] = make();
    return values[name] as LateMembers[typeof name];
  };
}

const METADATA = new WeakMap<object, MethodMetadata>();

/** Methods that share an object of metadata share the result, too. */
function metadataFrom(source: Partial<MethodMetadata> = {}): MethodMetadata {
  const existing = METADATA.get(source);
  if (existing !== undefined) return existing;
  const metadata = completeMetadata(source);
  METADATA.set(source, metadata);
  return metadata;
}

function completeMetadata(source: Partial<MethodMetadata>): MethodMetadata {
  const stated = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined));
  const metadata: MethodMetadata = { ...METADATA_DEFAULTS, ...stated };
  return Object.freeze({
    ...metadata,
    category: sanitizeText(metadata.category, 80) || METADATA_DEFAULTS.category,
    capabilities: Object.freeze([...metadata.capabilities]),
    tags: Object.freeze(metadata.tags.map((tag) => sanitizeText(tag, 80))),
    requiredScopes: Object.freeze([...metadata.requiredScopes]),
    deprecated: metadata.deprecated === false ? false : sanitizeText(metadata.deprecated),
    author: sanitizeText(metadata.author, 200),
  });
}
