import { fillIn, looksSecret, type Variables } from "../config/index.ts";
import { sentence } from "../errors.ts";
import { formatProblem } from "../model/arguments.ts";
import type { Method } from "../model/catalog.ts";
import { isRecord, type JsonSchema, toRecord } from "../model/json.ts";
import type { Problem } from "../model/provider.ts";
import type { CallContext, ProvidedSkill } from "../model/skill.ts";
import { createRegistry } from "../registry/index.ts";
import { createValidator, fieldAt, pointerTo, type Validation, type Validator } from "../validation/index.ts";

/** The settings that a skill receives, and their problems. */
export interface ResolvedSettings extends Pick<CallContext, "settings" | "secrets"> {
  readonly problems: readonly Problem[];
  /** The required secrets without a value. */
  readonly missingSecrets: readonly MissingSecret[];
}

export interface MissingSecret {
  readonly name: string;
  /** The environment variable that sets it. */
  readonly variable: string;
}

type Section = Readonly<Record<string, unknown>>;

/** Settings of skills, from the section `skills`; its `dir` is the folder itself, not a skill. */
export class SkillSettings {
  readonly #validator = createValidator();
  #variables: Variables;
  #environment: Readonly<Record<string, string>> = {};
  #sections: ReadonlyMap<string, Section>;
  #cache = new WeakMap<object, ResolvedSettings>();

  readonly #onSecrets: (values: readonly string[]) => void;

  /** `onSecrets` receives the secrets that skills are given. */
  constructor(section: unknown, variables: Variables, onSecrets: (values: readonly string[]) => void) {
    this.#onSecrets = onSecrets;
    this.#variables = variables;
    this.#sections = parseSections(section);
    this.#environment = readEnvironment(section, variables);
  }

  /** Takes what the settings say now in place of what they said before. */
  replace(section: unknown, variables: Variables): void {
    this.#variables = variables;
    this.#sections = parseSections(section);
    this.#environment = readEnvironment(section, variables);
    this.#cache = new WeakMap();
  }

  /** Names of the skills that are switched off (`enabled: false`). */
  get disabled(): readonly string[] {
    return this.#having("enabled", false);
  }

  /** Names of the skills that want a process of their own (`isolation: process`). */
  get isolated(): readonly string[] {
    return this.#having("isolation", "process");
  }

  /** The variables that `env` names, from the environment and `.env`. */
  get environment(): Readonly<Record<string, string>> {
    return this.#environment;
  }

  /** Returns the settings of a skill, checked against the schema that it declares. */
  of(skill: Pick<ProvidedSkill, "name" | "settings">): ResolvedSettings {
    const around = { variables: this.#variables, validator: this.#validator };
    const cached = this.#cache.get(skill);
    if (cached !== undefined) return cached;
    const resolved = resolveSettings(skill, this.#sections.get(skill.name) ?? {}, around);
    this.#cache.set(skill, resolved);
    this.#onSecrets(Object.values(resolved.secrets));
    return resolved;
  }

  #having(key: string, value: unknown): readonly string[] {
    return [...this.#sections].filter(([, section]) => section[key] === value).map(([name]) => name);
  }
}

function parseSections(section: unknown): ReadonlyMap<string, Section> {
  const entries = Object.entries(isRecord(section) ? section : {});
  return new Map(entries.filter((entry): entry is [string, Section] => isRecord(entry[1])));
}

function readEnvironment(section: unknown, variables: Variables): Readonly<Record<string, string>> {
  const names: readonly unknown[] = isRecord(section) && Array.isArray(section["env"]) ? section["env"] : [];
  const entries = names.flatMap((name) => {
    const value = typeof name === "string" ? variables(name) : undefined;
    return value === undefined ? [] : [[String(name), value] as const];
  });
  return Object.fromEntries(entries);
}

/** Keys of a skill's section that the runtime reads and does not pass to the skill. */
const FOR_THE_RUNTIME: ReadonlySet<string> = new Set(["enabled", "isolation"]);

interface SettingsContext {
  readonly variables: Variables;
  readonly validator: Validator;
}

function resolveSettings(
  { name, settings: schema }: Pick<ProvidedSkill, "name" | "settings">,
  section: Section,
  { variables, validator }: SettingsContext,
): ResolvedSettings {
  const missing = new Set<string>();
  const own = Object.entries(section).filter(([key]) => !FOR_THE_RUNTIME.has(key));
  const written = own.map(([key, value]) => [key, filled(value, variables, missing)] as const);
  const problems = [...missing].map((what) => problem(name, `missing ${what}`));
  if (schema === undefined) return { settings: Object.fromEntries(written), secrets: {}, problems, missingSecrets: [] };
  const secretNames = getSecretNames(schema);
  const fromEnvironment = secretNames.flatMap((key) => {
    const value = variables(getSecretVariable(name, key));
    return value === undefined ? [] : [[key, value] as const];
  });
  const all = Object.fromEntries([...fromEnvironment, ...written].filter(([, value]) => value !== undefined));
  const checked = validator.validate(asMethod(name, schema), all);
  const values = checked.kind === "valid" ? checked.input : { ...getDefaults(schema), ...all };
  const isSecret = ([key]: readonly [string, unknown]): boolean => secretNames.includes(key);
  const texts = Object.entries(values).filter(isSecret);
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  const missingNames = secretNames.filter((key) => required.includes(key) && !Object.hasOwn(values, key));
  return {
    settings: Object.fromEntries(Object.entries(values).filter((entry) => !isSecret(entry))),
    secrets: Object.fromEntries(texts.map(([key, value]) => [key, String(value)])),
    problems: [
      ...problems,
      ...toMistakes(checked).map(({ setting, says }) => {
        const secret = secretNames.find((each) => formatSettingKey(each) === setting);
        const hint = secret === undefined ? "" : `; set ${getSecretVariable(name, secret)}`;
        return problem(name, says + hint);
      }),
    ],
    missingSecrets: missingNames.map((key) => ({ name: key, variable: getSecretVariable(name, key) })),
  };
}

interface SettingMistake {
  readonly setting: string;
  /** `"unit" must be one of "celsius", "fahrenheit", not "kelvin"` */
  readonly says: string;
}

/** Returns the mistakes in values as settings of a skill. */
export function findMistakes(values: Section, { name, settings }: Pick<ProvidedSkill, "name" | "settings">) {
  return settings === undefined ? [] : toMistakes(createValidator().validate(asMethod(name, settings), values));
}

/** Returns a setting as messages write it: `["a.b"]` for a key that is not a name. */
export function formatSettingKey(key: string): string {
  return fieldAt(pointerTo("", key), {});
}

function toMistakes(checked: Validation): readonly SettingMistake[] {
  if (checked.kind === "valid") return [];
  return checked.problems.map((each) => ({
    setting: each.field,
    says: formatProblem(each, "it").replace("is not an argument", "is not a setting"),
  }));
}

/** Replaces placeholders anywhere in a value; drops values whose placeholder is not defined. */
function filled(value: unknown, variables: Variables, missing: Set<string>): unknown {
  if (Array.isArray(value)) return value.map((each) => filled(each, variables, missing));
  if (isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each, variables, missing)]));
  }
  if (typeof value !== "string") return value;
  const lacking = new Set<string>();
  const text = fillIn(value, variables, lacking);
  for (const name of lacking) missing.add(name);
  return lacking.size === 0 ? text : undefined;
}

/** Settings with `writeOnly: true`, JSON Schema's own word for what is never shown again. */
export function getSecretNames({ properties }: JsonSchema): readonly string[] {
  if (!isRecord(properties)) return [];
  return Object.entries(properties).flatMap(([name, each]) =>
    isRecord(each) && each["writeOnly"] === true ? [name] : [],
  );
}

/** Returns the settings that are texts, and whose names suggest a secret that the schema does not declare as one. */
export function findUnmarkedSecrets(schema: JsonSchema): readonly string[] {
  const marked = getSecretNames(schema);
  return Object.entries(toRecord(schema["properties"]))
    .filter(
      ([name, each]) => isRecord(each) && each["type"] === "string" && looksSecret(name) && !marked.includes(name),
    )
    .map(([name]) => name);
}

/** Returns the declared defaults, which are used when some settings are invalid. */
function getDefaults({ properties }: JsonSchema): Section {
  const declared = Object.entries(isRecord(properties) ? properties : {});
  return Object.fromEntries(
    declared.flatMap(([name, each]) => (isRecord(each) && "default" in each ? [[name, each["default"]]] : [])),
  );
}

/** Returns the environment variable of a secret: `WEATHER_API_KEY` for `apiKey` of `WeatherSkill`. */
export function getSecretVariable(skill: string, secret: string): string {
  const words = `${skill.replace(/(?<=.)Skill$/, "")}_${secret}`.replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, "_");
  return words.replace(/[^\p{L}\p{N}]+/gu, "_").toUpperCase();
}

/** `it has no "apiKey"; set WEATHER_API_KEY` */
export function describeMissingSecrets(missing: readonly MissingSecret[]): string {
  const names = missing.map((secret) => JSON.stringify(secret.name)).join(", ");
  return `it has no ${names}; set ${missing.map(({ variable }) => variable).join(", ")}`;
}

/** Settings are checked as arguments are. */
function asMethod(skill: string, input: JsonSchema): Method {
  const registry = createRegistry();
  const methods = [{ name: "settings", description: "", input }];
  registry.register({ name: skill, description: "", source: "settings", kind: "code", methods, invoke: nothing });
  const [method] = registry.catalog.methods;
  if (method === undefined) throw new Error(`The registry has lost "${skill}.settings"`);
  return method;
}

async function nothing(): Promise<void> {}

function problem(skill: string, what: string): Problem {
  return { source: `skills.${skill}`, error: sentence("CONFIG_INVALID", `skills.${skill}: ${what}`) };
}
