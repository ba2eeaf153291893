import { METADATA_FIELDS, parseMetadata } from "../../../authoring/metadata.ts";
import { createError, SkillgateError } from "../../../errors.ts";
import { isRecord, type JsonSchema } from "../../../model/json.ts";
import type { MethodMetadata } from "../../../model/skill.ts";
import { readYamlFields, type YamlFields } from "../../../shared/files/yaml-fields.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { isMemberName } from "../../../shared/names/skill-names.ts";
import { stringify } from "../../../shared/package/yaml.ts";

/** A skill that was saved from a run. */
export interface SavedFile {
  /** The name of the skill. */
  readonly name: string;
  readonly description: string;
  readonly method: string;
  /** Id of the run that it was saved from. */
  readonly run: string;
  /** Name of the file in the same folder with the recorded calls of the run. */
  readonly cassette: string;
  /** JSON Schema by the name of the parameter. All are required. */
  readonly parameters: Readonly<Record<string, JsonSchema>>;
  readonly metadata: Partial<MethodMetadata>;
  /** The program; its parameters are the members of `device.input()`. */
  readonly source: string;
}

const FORMAT = "skillgate-saved-1";

/** A larger file is not read. */
export const MAX_FILE_BYTES = 1 << 20;

const MAX_PARAMETERS = 32;
const MAX_DESCRIPTION_UNITS = 4_096;

const FIELDS = ["format", "name", "description", "method", "run", "cassette", "parameters", "source"];

/** Parses a file. Throws `SKILL_INVALID` with the line of the mistake. */
export function parseSavedFile(text: string): SavedFile {
  const fields = readYamlFields(text, [...FIELDS, ...METADATA_FIELDS], createFileError);
  requireText(fields, "format", (value) => value === FORMAT, JSON.stringify(FORMAT));
  const metadata = readMetadata(fields);
  return {
    name: requireText(fields, "name", isMemberName, "the name of a skill, such as WeatherReportSkill"),
    description: requireText(
      fields,
      "description",
      (value) => value.trim() !== "" && value.length <= MAX_DESCRIPTION_UNITS,
      `a text of 1 to ${MAX_DESCRIPTION_UNITS} characters`,
    ),
    method: requireText(fields, "method", isMemberName, "the name of a method, such as run"),
    run: requireText(fields, "run", (value) => /^[\da-f-]{1,64}$/.test(value), "the id of a run"),
    cassette: requireText(
      fields,
      "cassette",
      (value) => /^[\p{L}\p{M}\p{N}-]{1,100}\.cassette\.json$/u.test(value),
      "the name of a file beside this one, such as weather-report.cassette.json",
    ),
    parameters: readParameters(fields),
    metadata,
    source: requireText(fields, "source", (value) => value.trim() !== "", "the program, as text"),
  };
}

export function formatSavedFile({ metadata, ...file }: SavedFile): string {
  const { name, description, method, run, cassette, parameters, source } = file;
  const fields = { format: FORMAT, name, description, method, ...metadata, parameters, run, cassette, source };
  return `# A saved skill. Its program is below; device.input() has the arguments of a call.\n${stringify(fields, { lineWidth: 0 })}`;
}

function readParameters(fields: YamlFields): SavedFile["parameters"] {
  const parameters = fields.values["parameters"] ?? {};
  const fail = (why: string): SkillgateError => createFileError(fields.getLine("parameters"), why);
  if (!isRecord(parameters)) throw fail("parameters must be names with JSON Schemas, as in city: { type: string }");
  const entries = Object.entries(parameters);
  if (entries.length > MAX_PARAMETERS) throw fail(`there are more than ${MAX_PARAMETERS} parameters`);
  for (const [name, schema] of entries) {
    if (!isMemberName(name)) throw fail(`${JSON.stringify(truncateText(name, 80))} cannot be the name of a parameter`);
    if (!isRecord(schema)) throw fail(`the parameter ${name} must be a JSON Schema, as in ${name}: { type: string }`);
  }
  return parameters as SavedFile["parameters"];
}

function readMetadata({ values, getLine }: YamlFields): SavedFile["metadata"] {
  for (const field of METADATA_FIELDS) {
    try {
      parseMetadata({ [field]: values[field] }, "the method");
    } catch (error) {
      if (!(error instanceof SkillgateError)) throw error;
      throw createFileError(getLine(field), error.message.replace(/^.*?: /, "").replace(/ \(\w+\)$/, ""));
    }
  }
  return parseMetadata(values, "the method");
}

function requireText(
  { values, getLine }: YamlFields,
  field: string,
  isValid: (value: string) => boolean,
  expected: string,
): string {
  const value = values[field];
  if (value === undefined) throw createFileError(1, `the field ${field} is missing: write ${field}: with ${expected}`);
  if (typeof value === "string" && isValid(value)) return value;
  const text = truncateText(describeValue(value), MAX_SHOWN_UNITS);
  throw createFileError(getLine(field), `${field} must be ${expected}, not ${text}`);
}

const MAX_SHOWN_UNITS = 80;

function describeValue(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : JSON.stringify(value);
}

function createFileError(line: number, why: string): SkillgateError {
  return createError("SKILL_INVALID", `line ${line}: ${why}`);
}
