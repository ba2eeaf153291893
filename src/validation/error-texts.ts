import type { ArgumentProblem } from "../model/arguments.ts";
import { isRecord } from "../model/json.ts";
import { suggestNames } from "../shared/suggest.ts";
import type { Finding } from "./schema/evaluation.ts";
import { formatList, quote } from "../shared/format-text.ts";

const MAX_NAMES = 30;
const MAX_VALUES = 10;
const VALUE_CHARACTERS = 60;
const PATTERN_CHARACTERS = 200;

/** An error of a value, in words that follow the name of the value. */
export interface ErrorText {
  readonly type: ArgumentProblem["type"];
  readonly reason: string;
  readonly suggestions: readonly string[];
  /** The member of the value that is wrong, if it is not the value itself. */
  readonly member?: string;
}

export function describeFinding(finding: Finding): ErrorText {
  return (WORDS.get(finding.keyword) ?? otherwise)(finding);
}

type Wording = (finding: Finding) => ErrorText;

/** Error texts by JSON Schema keyword. */
const WORDS: ReadonlyMap<string, Wording> = new Map<string, Wording>([
  compares("minimum", "below_minimum", "at least"),
  compares("exclusiveMinimum", "below_minimum", "more than"),
  compares("maximum", "above_maximum", "at most"),
  compares("exclusiveMaximum", "above_maximum", "less than"),
  compares("multipleOf", "type_mismatch", "a multiple of"),
  counts("minLength", "string_too_short", "at least", "character"),
  counts("maxLength", "string_too_long", "at most", "character"),
  counts("minItems", "too_few_items", "at least", "item"),
  counts("maxItems", "too_many_items", "at most", "item"),
  counts("items", "too_many_items", "at most", "item"),
  counts("additionalItems", "too_many_items", "at most", "item"),
  counts("unevaluatedItems", "too_many_items", "at most", "item"),
  counts("minProperties", "too_few_items", "at least", "member"),
  counts("maxProperties", "too_many_items", "at most", "member"),
  ["type", ({ schema, data }) => wrongType([schema].flat().map(String), data)],
  ["required", ({ params }) => missing(params["missingProperty"], "is required")],
  [
    "dependentRequired",
    ({ params }) => missing(params["missingProperty"], `is required with ${text(params["property"])}`),
  ],
  ["dependencies", ({ params }) => missing(params["missingProperty"], `is required with ${text(params["property"])}`)],
  ["enum", ({ schema, data }) => describeNoMatch(Array.isArray(schema) ? schema : [], data)],
  ["const", ({ schema, data }) => describeNoMatch([schema], data)],
  ["pattern", ({ schema }) => words("pattern_mismatch", `must match the pattern ${text(schema, PATTERN_CHARACTERS)}`)],
  ["format", ({ schema, data }) => words("pattern_mismatch", `must be a valid ${String(schema)}, not ${text(data)}`)],
  [
    "contains",
    ({ params }) => words("too_few_items", `must have at least ${formatCount(params["minContains"], "matching item")}`),
  ],
  ["uniqueItems", () => words("type_mismatch", "must not have duplicate items")],
  ["additionalProperties", ({ params, parent }) => unknownName(String(params["additionalProperty"]), namesIn(parent))],
  [
    "unevaluatedProperties",
    ({ params, parent }) => unknownName(String(params["unevaluatedProperty"]), namesIn(parent)),
  ],
  [
    "propertyNames",
    ({ params }) => ({
      ...words("unknown_field", "has a name that is not allowed"),
      member: String(params["propertyName"]),
    }),
  ],
  ["false schema", () => words("unknown_field", "is not allowed")],
  ["not", () => words("type_mismatch", "has a form that is not allowed")],
  ["oneOf", () => words("type_mismatch", "must match exactly one of its alternatives, matches several")],
  ["anyOf", ({ params, schema }) => words("type_mismatch", noForm(schema, params["forms"]))],
]);

function otherwise({ keyword, schema }: Finding): ErrorText {
  return words("type_mismatch", `must satisfy ${keyword} ${text(schema)}`);
}

function words(type: ErrorText["type"], reason: string): ErrorText {
  return { type, reason, suggestions: [] };
}

function missing(name: unknown, reason: string): ErrorText {
  return { ...words("field_missing", reason), member: String(name) };
}

export function wrongType(types: readonly string[], data: unknown): ErrorText {
  const expected = [...new Set(types)].map((type) => TYPE_TEXTS.get(type) ?? type).join(" or ");
  return words(data === null ? "null_value" : "type_mismatch", `must be ${expected}, not ${text(data)}`);
}

const TYPE_TEXTS: ReadonlyMap<string, string> = new Map([
  ["string", "a string"],
  ["number", "a number"],
  ["integer", "an integer"],
  ["boolean", "a boolean"],
  ["array", "an array"],
  ["object", "an object"],
]);

/** Describes a value outside an enumeration; the possible values are suggested, the nearest first. */
function describeNoMatch(values: readonly unknown[], data: unknown): ErrorText {
  const near =
    typeof data === "string"
      ? suggestNames(
          data,
          values.filter((value) => typeof value === "string"),
        )
      : [];
  const all = values.map((value) => (typeof value === "string" ? value : text(value)));
  const suggestions = [...new Set([...near, ...all])].slice(0, MAX_VALUES);
  const expected =
    values.length === 1
      ? text(values[0])
      : `one of ${formatList(
          values.map((value) => text(value)),
          MAX_NAMES,
        )}`;
  return {
    type: data === null ? "null_value" : "enum_violation",
    reason: `must be ${expected}, not ${text(data)}`,
    suggestions,
  };
}

/** Describes an unknown name. */
export function unknownName(name: string, names: readonly string[], what = "a property"): ErrorText {
  const valid = names.length === 0 ? "none is defined" : `valid are ${formatList(names, MAX_NAMES)}`;
  return {
    type: "unknown_field",
    reason: `is not ${what}, ${valid}`,
    suggestions: suggestNames(name, names),
    member: name,
  };
}

/** Describes a value that matches no branch; `forms` holds the reasons of some branches. */
function noForm(branches: unknown, forms: unknown): string {
  const reasons = Array.isArray(forms) && forms.length > 0 ? `: ${forms.join(", or ")}` : "";
  return `matches none of its ${Array.isArray(branches) ? branches.length : 0} alternatives${reasons}`;
}

function namesIn(schema: Readonly<Record<string, unknown>>): readonly string[] {
  return isRecord(schema["properties"]) ? Object.keys(schema["properties"]) : [];
}

function compares(keyword: string, type: ErrorText["type"], relation: string): readonly [string, Wording] {
  return [keyword, ({ params, data }) => words(type, `must be ${relation} ${text(params["limit"])}, is ${text(data)}`)];
}

function counts(keyword: string, type: ErrorText["type"], relation: string, part: string): readonly [string, Wording] {
  return [
    keyword,
    ({ params, data }) =>
      words(type, `must have ${relation} ${formatCount(params["limit"], part)}, has ${length(data)}`),
  ];
}

function formatCount(limit: unknown, what: string): string {
  return `${String(limit)} ${what}${limit === 1 ? "" : "s"}`;
}

/** Counts characters as JSON Schema does: a surrogate pair is one. */
function length(data: unknown): number {
  if (typeof data === "string") return Array.from(data).length;
  return typeof data === "object" && data !== null ? Object.keys(data).length : 0;
}

/** Formats a short value as JSON, and a larger one by its kind. */
function text(value: unknown, characters = VALUE_CHARACTERS): string {
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return String(value);
  return quote(value, characters);
}
