import { createError, type SkillgateError } from "../../errors.ts";
import { isRecord, type JsonSchema } from "../../model/json.ts";
import { readYamlFields, type YamlFields } from "../../shared/files/yaml-fields.ts";
import { quote } from "../../shared/format-text.ts";
import { stringify } from "../../shared/package/yaml.ts";
import { describeUnknownField } from "../../shared/suggest.ts";
import { parseSchedule, type Schedule } from "../schedule/index.ts";
import { parseWebhook, type Webhook } from "../webhook/index.ts";

/** The effect that a call of a plan may have. */
export type PlannedEffect = "read" | "write" | "destructive";

/** The most that an automation may do. */
export interface AutomationLimits {
  readonly runsPerHour: number;
  /** Occurrences that run at the same time. */
  readonly parallel: number;
  /** Calls of one run. */
  readonly calls: number;
  /** Minutes of one run, without the time in which it waits for persons. */
  readonly minutes: number;
}

export const DEFAULT_AUTOMATION_LIMITS: AutomationLimits = { runsPerHour: 120, parallel: 5, calls: 1_000, minutes: 5 };

const MAX_LIMITS: AutomationLimits = { runsPerHour: 10_000, parallel: 50, calls: 10_000, minutes: 120 };

/** A program that runs by itself: `automations/NAME.yaml`. */
export interface AutomationFile {
  readonly description: string;
  /** Name or id of the API key with whose rights it runs. */
  readonly key: string;
  /** JSON Schema of what `device.input()` gives. */
  readonly input: JsonSchema | undefined;
  readonly schedule: Schedule | undefined;
  readonly webhook: Webhook | undefined;
  readonly limits: AutomationLimits;
  /** The effects of the methods that it may call, by their paths; all that its program names without a plan. */
  readonly plan: Readonly<Record<string, PlannedEffect>> | undefined;
  /** The run that it was saved from. */
  readonly run: string | undefined;
  /** The name of the file beside it with the recorded calls of that run. */
  readonly cassette: string | undefined;
  readonly source: string;
}

/** A larger file is not read. */
export const MAX_AUTOMATION_BYTES = 512 << 10;

const MAX_DESCRIPTION_UNITS = 1_000;
const MAX_PLANNED = 200;

const FIELDS = [
  "description",
  "key",
  "input",
  "schedule",
  "webhook",
  "limits",
  "plan",
  "run",
  "cassette",
  "source",
] as const;

/** True for a name of an automation, which is also that of its file and of its webhook. */
export function isAutomationName(name: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(name);
}

/** Parses a file. Throws `AUTOMATION_INVALID` with the line of the mistake. */
export function parseAutomationFile(name: string, text: string): AutomationFile {
  if (!isAutomationName(name))
    throw createAutomationError(`${quote(name)} cannot be its name: write a to z, 0 to 9 and -, as in daily-report`);
  const fail = (line: number, why: string): SkillgateError => createAutomationError(`${name}.yaml:${line}: ${why}`);
  const fields: AutomationFields = { ...readYamlFields(text, FIELDS, fail), fail };
  return {
    description: readText(fields, "description", "what it does", MAX_DESCRIPTION_UNITS),
    key: readText(fields, "key", "the name of an API key (skillgate keys create)", 200),
    input: readInput(fields),
    schedule: readPart(fields, "schedule", parseSchedule),
    webhook: readPart(fields, "webhook", parseWebhook),
    limits: readPart(fields, "limits", parseLimits) ?? DEFAULT_AUTOMATION_LIMITS,
    plan: readPlan(fields),
    run: readOptional(fields, "run", /^[\w-]{1,64}$/, "the id of a run"),
    cassette: readOptional(
      fields,
      "cassette",
      /^[\w-]{1,100}\.cassette\.json$/,
      `a file beside it: ${name}.cassette.json`,
    ),
    source: readText(fields, "source", "the program, as text", MAX_AUTOMATION_BYTES),
  };
}

/** The fields of a new file, in their order. */
export type AutomationContent = Readonly<Partial<Record<(typeof FIELDS)[number], unknown>>>;

/** Writes the text of a file; fields without a value are left out. */
export function formatAutomationFile(fields: AutomationContent): string {
  const written = FIELDS.flatMap((field) => (fields[field] === undefined ? [] : [[field, fields[field]] as const]));
  return `# An automation. After a change: skillgate automation accept NAME\n${stringify(Object.fromEntries(written), { lineWidth: 0 })}`;
}

/** Returns the text of a file with another key. Comments are left out. */
export function replaceKey(name: string, text: string, key: string): string {
  const fail = (line: number, why: string): SkillgateError => createAutomationError(`${name}.yaml:${line}: ${why}`);
  return formatAutomationFile({ ...readYamlFields(text, FIELDS, fail).values, key });
}

export function createAutomationError(why: string): SkillgateError {
  return createError("AUTOMATION_INVALID", why);
}

interface AutomationFields extends YamlFields {
  readonly fail: (line: number, why: string) => SkillgateError;
}

function readText({ values, getLine, fail }: AutomationFields, field: string, what: string, max: number): string {
  const value = values[field];
  if (value === undefined) throw fail(1, `the field ${field} is missing: write ${field}: with ${what}`);
  if (typeof value === "string" && value.trim() !== "" && value.length <= max) return value;
  throw fail(getLine(field), `${field} must be ${what}, a text of 1 to ${max} characters`);
}

function readOptional(
  { values, getLine, fail }: AutomationFields,
  field: string,
  form: RegExp,
  what: string,
): string | undefined {
  const value = values[field];
  if (value === undefined || (typeof value === "string" && form.test(value))) return value;
  throw fail(getLine(field), `${field} must be ${what}`);
}

function readPart<Part>(
  { values, getLine, fail }: AutomationFields,
  field: string,
  parse: (value: unknown, fail: (why: string) => SkillgateError) => Part,
): Part | undefined {
  const value = values[field];
  return value === undefined ? undefined : parse(value, (why) => fail(getLine(field), why));
}

function readInput({ values, getLine, fail }: AutomationFields): JsonSchema | undefined {
  const { input } = values;
  if (input === undefined || isRecord(input)) return input;
  throw fail(
    getLine("input"),
    "input must be a JSON Schema, as in { type: object, properties: { city: { type: string } } }",
  );
}

/** Parses the section `limits`. `fail` makes an error of the reason, which begins with the name of the field: `limits.calls must …` */
export function parseLimits(limits: unknown, fail: (why: string) => Error): AutomationLimits {
  const names = Object.keys(DEFAULT_AUTOMATION_LIMITS);
  if (!isRecord(limits)) throw fail(`limits must have some of ${names.join(", ")}`);
  for (const [name, value] of Object.entries(limits)) {
    if (!names.includes(name)) throw fail(`limits has the unknown ${describeUnknownField(name, names)}`);
    const max = MAX_LIMITS[name as keyof AutomationLimits];
    if (!(typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max))
      throw fail(`limits.${name} must be a whole number from 1 to ${max}`);
  }
  return { ...DEFAULT_AUTOMATION_LIMITS, ...limits };
}

const EFFECTS: readonly unknown[] = ["read", "write", "destructive"] satisfies readonly PlannedEffect[];

/** A list of `Skill.method: effect`. */
function readPlan({ values, getLine, fail }: AutomationFields): AutomationFile["plan"] {
  const { plan } = values;
  if (plan === undefined) return undefined;
  const form = "plan must be a list of methods with their effects, as in - TrackerAPI.listIssues: read";
  if (!Array.isArray(plan) || plan.length > MAX_PLANNED) throw fail(getLine("plan"), `${form}, at most ${MAX_PLANNED}`);
  const entries = plan.flatMap((each): (readonly [string, unknown])[] =>
    isRecord(each) ? Object.entries(each) : [["", undefined]],
  );
  for (const [path, effect] of entries)
    if (!path.includes(".") || !EFFECTS.includes(effect))
      throw fail(getLine("plan"), `${form}; the effects are read, write and destructive`);
  return Object.fromEntries(entries) as AutomationFile["plan"];
}
