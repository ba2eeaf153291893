import { isMap, isScalar, LineCounter, parseDocument, stringify, type Document } from "../../shared/package/yaml.ts";

import { METADATA_FIELDS, parseMetadata } from "../../authoring/metadata.ts";
import { getMessage, sentence, SkillgateError } from "../../errors.ts";
import { isRecord, type JsonSchema } from "../../model/json.ts";
import type { MethodMetadata } from "../../model/skill.ts";
import { truncateText } from "../../shared/format-text.ts";
import { isMemberName } from "../../shared/names/skill-names.ts";
import { describeUnknownName } from "../../shared/suggest.ts";

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
  /** The program; each parameter is a constant at its top level, with the value of the run. */
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
  const fields = readFields(text);
  requireValue(fields, "format", (value) => value === FORMAT, JSON.stringify(FORMAT));
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
  return `# A saved skill. Its program is below; each parameter is a constant of it.\n${stringify(fields, { lineWidth: 0 })}`;
}

/** The fields of a file, with their lines. */
interface FileFields {
  readonly values: Readonly<Record<string, unknown>>;
  /** Returns the line of a field, or of the first line if there is no such field. */
  readonly getLine: (field: string) => number;
}

function readFields(text: string): FileFields {
  const lines = new LineCounter();
  const document = readDocument(text, lines);
  const [mistake] = [...document.errors, ...document.warnings];
  if (mistake !== undefined) throw createFileError(lines.linePos(mistake.pos[0]).line, mistake.message);
  const { contents } = document;
  if (!isMap(contents)) throw createFileError(1, `the file must have fields, such as name: and source:`);
  const offsets = new Map<string, number>();
  for (const { key } of contents.items) {
    const name = isScalar(key) ? String(key.value) : "";
    const offset = isScalar(key) ? (key.range?.[0] ?? 0) : 0;
    const { line } = lines.linePos(offset);
    if (offsets.has(name)) throw createFileError(line, `the field ${name} appears twice`);
    if (!FIELDS.includes(name) && !METADATA_FIELDS.includes(name)) {
      const names = [...FIELDS, ...METADATA_FIELDS];
      throw createFileError(line, `unknown field ${describeUnknownName("field", name, names, { limit: 1 }).detail}`);
    }
    offsets.set(name, offset);
  }
  const values: unknown = toPlainValue(document);
  if (!isRecord(values)) throw createFileError(1, "the file must have fields");
  return { values, getLine: (field) => lines.linePos(offsets.get(field) ?? 0).line };
}

/** Without a look at repeated keys: the parser compares every key with every other one. */
function readDocument(text: string, lineCounter: LineCounter): Document {
  try {
    return parseDocument(text, { schema: "core", uniqueKeys: false, prettyErrors: false, lineCounter });
  } catch (error) {
    throw createFileError(1, error instanceof RangeError ? "it is nested too deeply" : getMessage(error));
  }
}

/** Aliases are refused: a few of them can stand for a very large value. */
function toPlainValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    const isAlias = error instanceof ReferenceError;
    throw createFileError(
      1,
      isAlias ? "aliases, such as *name, are not allowed: write the value itself" : "it is nested too deeply",
    );
  }
}

function readParameters(fields: FileFields): SavedFile["parameters"] {
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

function readMetadata({ values, getLine }: FileFields): SavedFile["metadata"] {
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

function requireText(fields: FileFields, field: string, isValid: (value: string) => boolean, expected: string): string {
  return requireValue(
    fields,
    field,
    (value): value is string => typeof value === "string" && isValid(value),
    expected,
  ) as string;
}

function requireValue(
  { values, getLine }: FileFields,
  field: string,
  isValid: (value: unknown) => boolean,
  expected: string,
): unknown {
  const value = values[field];
  if (value === undefined) throw createFileError(1, `the field ${field} is missing: write ${field}: with ${expected}`);
  if (isValid(value)) return value;
  const text = truncateText(describeValue(value), MAX_SHOWN_UNITS);
  throw createFileError(getLine(field), `${field} must be ${expected}, not ${text}`);
}

const MAX_SHOWN_UNITS = 80;

function describeValue(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : JSON.stringify(value);
}

export function createFileError(line: number, why: string): SkillgateError {
  return new SkillgateError("SKILL_INVALID", sentence("SKILL_INVALID", `line ${line}: ${why}`));
}
