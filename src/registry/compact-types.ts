import type { Method, Parameter } from "../model/catalog.ts";
import { isRecord, type JsonSchema } from "../model/json.ts";
import { takesAnyObject } from "./declarations/signature.ts";
import { propertyName, quoted } from "./declarations/text.ts";
import { formatRange, readDescription } from "./number-range.ts";
import { getShownParameters } from "./parameters.ts";
import { resolveReference } from "./schema.ts";
import { findDateForm, findIdentifier, findListedValues, findPathBase, findQueryFields } from "./text-forms.ts";

/** Maximum length of a union of literals, and of one literal or name. */
const UNION_UNITS = 90;
const LITERAL_UNITS = 40;
const NAME_UNITS = 64;

const MAX_PARAMETERS = 40;

/** Maximum length of the members of an object that is an argument. */
const PARAMETER_MEMBERS_UNITS = 160;

/** Maximum length of a default. */
const DEFAULT_UNITS = 24;

/** Stands for an object whose members are not shown, or for members that are left out. */
export const OMITTED = "…";

export interface CompactStyle {
  /** The root for local references. */
  readonly root: JsonSchema;
  /** Depth to which the members of objects are shown. */
  readonly levels: number;
  /** Maximum length of the members of one object; further members are left out. */
  readonly membersUnits: number;
  /** Shows the bounds of numbers and the formats of texts. */
  readonly hasConstraints?: boolean;
  /** Returns the name of an object type that is written elsewhere. */
  readonly findName?: (schema: JsonSchema) => string | undefined;
}

/** Formats a schema on one line, as short as it can be read: a member without a type is a string. */
export function compactType(schema: unknown, style: CompactStyle): string {
  return write(schema, { ...style, budget: { schemas: MAX_SCHEMAS } }, 0);
}

/** Maximum schemas in one type, and references and schemas inside of each other; beyond them stands `any`. */
const MAX_SCHEMAS = 2_000;
const MAX_DEPTH = 16;

interface CompactContext extends CompactStyle {
  readonly budget: { schemas: number };
}

function write(schema: unknown, style: CompactContext, depth: number): string {
  style.budget.schemas -= 1;
  if (!isRecord(schema) || depth > MAX_DEPTH || style.budget.schemas < 0) return "any";
  const inner = (each: unknown): string => write(each, style, depth + 1);
  if (typeof schema["$ref"] === "string") return inner(resolveReference(schema["$ref"], style.root));
  const branches = [schema["anyOf"], schema["oneOf"]].find((list) => Array.isArray(list)) as unknown[] | undefined;
  if (branches !== undefined) return union(branches.slice(0, MAX_PARAMETERS).map(inner));
  const literals = Array.isArray(schema["enum"]) ? schema["enum"] : "const" in schema ? [schema["const"]] : undefined;
  if (literals !== undefined) return literalUnion(literals);
  const { type } = schema;
  if (Array.isArray(type)) return union(type.slice(0, 8).map((each) => inner({ ...schema, type: each })));
  const nullable = schema["nullable"] === true ? "|null" : "";
  return writeKind(type ?? impliedType(schema), schema, style, depth) + nullable;
}

function impliedType(schema: JsonSchema): string | undefined {
  if (isRecord(schema["properties"])) return "object";
  return schema["items"] === undefined ? undefined : "array";
}

function writeKind(type: unknown, schema: JsonSchema, style: CompactContext, depth: number): string {
  switch (type) {
    case "string":
      return (style.hasConstraints === true ? findTextForm(schema) : undefined) ?? "string";
    case "number":
    case "integer":
      return (style.hasConstraints === true ? formatRange(schema) : undefined) ?? "number";
    case "boolean":
    case "null":
      return type;
    case "array": {
      const item = write(schema["items"], style, depth + 1);
      return isUnion(item) ? `(${item})[]` : `${item}[]`;
    }
    case "object":
      return writeObject(schema, style, depth);
    default:
      return "any";
  }
}

/** True for a type with a `|` outside of objects and quotes. */
function isUnion(type: string): boolean {
  const outer = type.replace(/"(?:[^"\\]|\\.)*"/g, "");
  let depth = 0;
  for (const sign of outer) {
    if (sign === "{") depth += 1;
    if (sign === "}") depth -= 1;
    if (sign === "|" && depth === 0) return true;
  }
  return false;
}

function writeObject(schema: JsonSchema, style: CompactContext, depth: number): string {
  const properties = isRecord(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  if (properties.length === 0) {
    const values = schema["additionalProperties"];
    return isRecord(values) ? `Record<string, ${write(values, style, depth + 1)}>` : `{${OMITTED}}`;
  }
  const name = style.findName?.(schema);
  if (name !== undefined) return name;
  if (style.levels <= 0) return `{${OMITTED}}`;
  const required = new Set<unknown>(Array.isArray(schema["required"]) ? schema["required"] : []);
  const members: string[] = [];
  let units = 0;
  for (const [key, property] of properties) {
    const type = write(property, { ...style, levels: style.levels - 1 }, depth + 1);
    const member = `${shownName(key)}${required.has(key) ? "" : "?"}${typed(type)}`;
    units += member.length + 2;
    if (units > style.membersUnits) {
      members.push(OMITTED);
      break;
    }
    members.push(member);
  }
  return `{${members.join(", ")}}`;
}

/**
 * `name(required, optional?: 1..25 = 10)`; optional parameters beyond `units` are left out. `siblings` are the methods of
 * the skill by the names that descriptions may use.
 */
export function compactCall(method: Method, siblings: ReadonlyMap<string, string>, units: number): string {
  if (takesAnyObject(method)) return `${method.name}(args?)`;
  const parameters: string[] = [];
  let length = 0;
  const all = getShownParameters(method);
  for (const parameter of all.slice(0, MAX_PARAMETERS)) {
    const text = compactParameter(parameter, method, siblings);
    length += text.length + 2;
    if (length > units && !parameter.required) break;
    parameters.push(text);
  }
  if (parameters.length < all.length) parameters.push(OMITTED);
  return `${method.name}(${parameters.join(", ")})`;
}

function compactParameter(parameter: Parameter, method: Method, siblings: ReadonlyMap<string, string>): string {
  const { name, schema, required, description } = parameter;
  const style = { root: method.input, levels: 1, membersUnits: PARAMETER_MEMBERS_UNITS, hasConstraints: true };
  const type = compactType(schema["description"] === undefined ? { ...schema, description } : schema, style);
  const source =
    type === "string" ? (findSource(description, method, siblings) ?? findIdentifier(name, description)) : undefined;
  const standard = required ? undefined : formatDefault(schema, type);
  const suffix = standard === undefined ? "" : ` = ${standard}`;
  return `${shownName(name)}${required ? "" : "?"}${source === undefined ? typed(type) : `: ${source}`}${suffix}`;
}

/** The method that lists the values of a parameter, if its description names one: `see list_codes`. */
function findSource(description: string, { name }: Method, siblings: ReadonlyMap<string, string>): string | undefined {
  const words = readDescription({ description }).match(/[A-Za-z][A-Za-z0-9]*[-_A-Z][\w-]*/g) ?? [];
  const found = words.map((word) => siblings.get(word)).find((each) => each !== name && LISTS.test(each ?? ""));
  return found === undefined ? undefined : `see ${found}`;
}

const LISTS = /^(?:list|get|find|search|resolve|look_?up|query|read|fetch|available)/i;

/** Formats a default; none for `false`, which every optional switch has. */
function formatDefault(schema: JsonSchema, type: string): string | undefined {
  const value = schema["default"];
  if (typeof value === "string" || typeof value === "number" || value === true) {
    const text = typeof value === "string" ? quoted(value) : String(value);
    return text.length <= DEFAULT_UNITS ? text : undefined;
  }
  const isNumber = value === undefined && (type === "number" || type.includes(".."));
  return isNumber ? DEFAULT_IN_TEXT.exec(readDescription(schema))?.[1] : undefined;
}

const DEFAULT_IN_TEXT = /\bdefaults?\W{1,3}(?:(?:to|is|of)\W+)?(\d{1,6})\b/i;
const FORMATS: ReadonlySet<unknown> = new Set(["date", "date-time", "time", "email", "uri", "uuid"]);

/** Maximum length of a pattern that is shown. */
const PATTERN_UNITS = 24;

/** The form of a text that its description, its format or its pattern names. */
function findTextForm(schema: JsonSchema): string | undefined {
  const text = readDescription(schema);
  const { format, pattern } = schema;
  const described = findDateForm(text) ?? findListedValues(text) ?? findQueryFields(text) ?? findPathBase(text);
  if (described !== undefined) return described;
  if (FORMATS.has(format)) return String(format);
  const isShort = typeof pattern === "string" && pattern.length <= PATTERN_UNITS && !pattern.includes("\n");
  return isShort ? `/${pattern}/` : undefined;
}

function literalUnion(values: readonly unknown[]): string {
  const texts: string[] = [];
  let units = 0;
  for (const value of values) {
    if (typeof value === "object" && value !== null) return "any";
    const text = typeof value === "string" ? quoted(value) : String(value);
    units += text.length + 1;
    if (text.length > LITERAL_UNITS || units > UNION_UNITS) return union([...texts, OMITTED]);
    texts.push(text);
  }
  return union(texts);
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join("|");
}

function typed(type: string): string {
  return type === "string" ? "" : `: ${type}`;
}

function shownName(name: string): string {
  return propertyName(name.length > NAME_UNITS ? `${name.slice(0, NAME_UNITS - 1)}${OMITTED}` : name);
}
