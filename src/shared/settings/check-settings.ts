import { isRecord, type JsonSchema, toList, toRecord } from "../../model/json.ts";
import { formatChoices } from "../format-text.ts";
import { describeUnknownField } from "../suggest.ts";
import { matchesSchema } from "./match-schema.ts";

/** A setting that is not as its schema says. */
export interface SectionMistake {
  /** The place in the settings: `["limits", "cpuMs"]`. */
  readonly path: readonly string[];
  /** `limits.cpuMs must be a whole number from 1, not 0` */
  readonly error: string;
}

/** The words for what a setting must be, in its schema. JSON leaves a symbol out. */
const FORM = Symbol("form");

interface SettingSchema extends JsonSchema {
  readonly [FORM]?: string;
}

/** Adds to the schema of a setting the words for what it must be; without them, they follow from the schema. */
export function withForm(form: string, schema: JsonSchema): JsonSchema {
  return { ...schema, [FORM]: form };
}

/** Finds every mistake in settings. A section is checked setting by setting; an unknown one gets the nearest name. */
export function findSettingMistakes(
  schema: JsonSchema,
  value: unknown,
  path: readonly string[],
): readonly SectionMistake[] {
  const members = isRecord(value) ? findSectionSchema(schema) : undefined;
  const whole = isValidSetting(schema, value) ? [] : [{ path, error: describeMistake(schema, value, path) }];
  if (members === undefined || !isRecord(value)) return whole;
  const names = Object.keys(toRecord(members["properties"]));
  const required = toList(members["required"]).filter(
    (name): name is string => typeof name === "string" && !Object.hasOwn(value, name),
  );
  const mistakes = [
    ...Object.entries(value).flatMap(([name, member]) => {
      if (member === undefined) return [];
      const memberSchema = getMemberSchema(members, name);
      if (memberSchema !== undefined) return findSettingMistakes(memberSchema, member, [...path, name]);
      return {
        path: [...path, name],
        error: `${path.join(".")} has the unknown setting ${describeUnknownField(name, names)}`,
      };
    }),
    ...required.map((name) => {
      const form = describeForm(getMemberSchema(members, name) ?? {});
      return { path, error: `${[...path, name].join(".")} is required: ${form}` };
    }),
  ];
  return mistakes.length > 0 ? mistakes : whole;
}

/** Returns the settings of a section that are valid, without their defaults. The caller names their types. */
export function pickValidSettings<Settings extends object>(schema: JsonSchema, section: unknown): Partial<Settings> {
  const properties = toRecord(findSectionSchema(schema)?.["properties"]);
  const valid = Object.entries(toRecord(section)).filter(
    ([name, value]) => Object.hasOwn(properties, name) && isValidSetting(toRecord(properties[name]), value),
  );
  return Object.fromEntries(valid) as Partial<Settings>;
}

/** Returns the settings of a section; one that is absent or not valid has its default. The caller names their types. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the type
export function readSettings<Settings extends object>(schema: JsonSchema, section: unknown): Settings {
  const properties = Object.entries(toRecord(findSectionSchema(schema)?.["properties"]));
  const defaults = properties.flatMap(([name, property]) => {
    const { default: value } = toRecord(property);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(defaults), ...pickValidSettings<Settings>(schema, section) } as Settings;
}

export function isValidSetting(schema: JsonSchema, value: unknown): boolean {
  // JSON Schema calls 1e300 an integer.
  const isInexact = Number.isInteger(value) && !Number.isSafeInteger(value);
  return !isInexact && matchesSchema(schema, value);
}

function describeMistake(schema: JsonSchema, value: unknown, path: readonly string[]): string {
  const form = `${path.join(".")} must be ${describeForm(schema)}`;
  // The words may explain something, and a section may contain a secret.
  return hasForm(schema) || typeof value === "object" ? form : `${form}, not ${formatSetting(value)}`;
}

/** Formats a value for a message. JSON has no word for `NaN`. */
export function formatSetting(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

function hasForm(schema: SettingSchema): boolean {
  return schema[FORM] !== undefined;
}

/** Says what a value must be, in the words of its schema or those that follow from it. */
export function describeForm(schema: SettingSchema): string {
  const { enum: choices, anyOf, type, items } = schema;
  if (schema[FORM] !== undefined) return schema[FORM];
  if (Array.isArray(choices)) return formatChoices(choices.map((choice) => String(choice)));
  if (Array.isArray(anyOf)) return formatChoices(anyOf.map((each) => describeForm(toRecord(each))));
  if (type === "array") return toRecord(items)["type"] === "string" ? "a list of texts" : "a list";
  const { minimum, exclusiveMinimum, maximum } = schema;
  const above = exclusiveMinimum === undefined ? "" : ` above ${formatSetting(exclusiveMinimum)}`;
  const least = minimum === undefined ? above : ` from ${formatSetting(minimum)}`;
  const most =
    maximum === undefined
      ? ""
      : minimum === undefined
        ? ` and up to ${formatSetting(maximum)}`
        : ` to ${formatSetting(maximum)}`;
  return formatChoices(
    [type ?? []].flat().map((each: unknown) => `${TYPES[String(each)] ?? "a value"}${least}${most}`),
  );
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "a section",
  null: "empty",
};

/** Returns the schema of the members of a section, also if the section has a short form. */
export function findSectionSchema(schema: JsonSchema): JsonSchema | undefined {
  if (isRecord(schema["properties"]) || isRecord(schema["additionalProperties"])) return schema;
  return [schema["anyOf"] ?? []]
    .flat()
    .find((each): each is JsonSchema => isRecord(each) && isRecord(each["properties"]));
}

/** `undefined` for a name that the section does not have. */
function getMemberSchema({ properties, additionalProperties }: JsonSchema, name: string): JsonSchema | undefined {
  if (isRecord(properties) && Object.hasOwn(properties, name)) return toRecord(properties[name]);
  return additionalProperties === false ? undefined : toRecord(additionalProperties);
}
