import { isRecord, type JsonSchema } from "../../model/json.ts";
import { resolveReference } from "../schema.ts";
import { type CheckBudget, acceptsValue } from "./accepts.ts";
import { getFormatExample } from "./formats.ts";
import { mergedSchema } from "./merge.ts";
import { textsForPattern } from "./pattern.ts";

const DEPTH = 12;

/** Maximum schemas checked for one example. */
const MAX_STEPS = 100_000;

/** Maximum items of an example array. */
const MAX_ITEMS = 200;

/** Generates a small value that matches a schema; if none is found, the first value that was tried. */
export function createExample(schema: unknown, root: JsonSchema): unknown {
  return make(schema, "", DEPTH, { root, stepsLeft: MAX_STEPS });
}

/** Generates a value; `name` is the name of the property, for a realistic example. */
function make(schema: unknown, name: string, depth: number, check: CheckBudget): unknown {
  check.stepsLeft -= 10;
  if (!isRecord(schema) || check.stepsLeft < 0) return schema === false ? undefined : "example";
  const whole = conjoined(schema, check.root, new Set());
  let last: unknown;
  for (const candidate of generateCandidates(whole, name, depth, check)) {
    if (acceptsValue(candidate, schema, check)) return candidate;
    last ??= candidate;
    if (check.stepsLeft < 0) break;
  }
  return last;
}

/** Merges a schema with its references and `allOf`. */
function conjoined(schema: JsonSchema, root: JsonSchema, seen: Set<unknown>): JsonSchema {
  if (seen.has(schema)) return {};
  seen.add(schema);
  const { $ref: reference, allOf, ...own } = schema;
  const others = [
    ...(typeof reference === "string" ? [resolveReference(reference, root)] : []),
    ...(Array.isArray(allOf) ? allOf : []),
  ];
  return others.filter(isRecord).reduce<JsonSchema>((all, each) => mergedSchema(all, conjoined(each, root, seen)), own);
}

/** Generates candidates, the most realistic first. */
function* generateCandidates(schema: JsonSchema, name: string, depth: number, check: CheckBudget): Generator {
  if (Object.hasOwn(schema, "const")) yield schema["const"];
  if (schema["default"] !== undefined) yield schema["default"];
  for (const keyword of ["examples", "enum"]) {
    const values = schema[keyword];
    if (Array.isArray(values)) yield* values.slice(0, MAX_ITEMS);
  }
  if (depth === 0) return;
  yield* generateBranchValues(schema, name, depth, check);
  yield* generateTypesValues(schema, name, depth, check);
  const { if: condition, then: positive, else: negative, ...base } = schema;
  if (condition === undefined) return;
  yield make({ ...base, allOf: [condition, positive ?? {}] }, name, depth - 1, check);
  yield make({ ...base, allOf: [negative ?? {}] }, name, depth - 1, check);
}

/** Generates one value for each branch; a value for `oneOf` must not match the other branches. */
function* generateBranchValues(schema: JsonSchema, name: string, depth: number, check: CheckBudget): Generator {
  for (const keyword of ["anyOf", "oneOf"]) {
    const { [keyword]: branches, ...base } = schema;
    if (!Array.isArray(branches)) continue;
    for (const branch of branches) {
      const others = branches.filter((each) => each !== branch);
      const alone = keyword === "oneOf" && others.length > 0 ? [{ not: { anyOf: others } }] : [];
      yield make({ ...base, allOf: [branch, ...alone] }, name, depth - 1, check);
    }
  }
}

function* generateTypesValues(schema: JsonSchema, name: string, depth: number, check: CheckBudget): Generator {
  const { type } = schema;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type ?? impliedType(schema)];
  for (const each of types) yield* generateTypeValues(each, schema, name, depth, check);
  // A schema that only excludes values allows every type.
  if (type === undefined) yield* ["example", 1, true, null, {}, []];
}

function impliedType(schema: JsonSchema): string {
  const has = (...keywords: readonly string[]): boolean => keywords.some((keyword) => schema[keyword] !== undefined);
  if (has("properties", "required", "additionalProperties", "patternProperties", "minProperties")) return "object";
  if (has("items", "prefixItems", "minItems")) return "array";
  return has("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum") ? "number" : "string";
}

function* generateTypeValues(
  type: unknown,
  schema: JsonSchema,
  name: string,
  depth: number,
  check: CheckBudget,
): Generator {
  switch (type) {
    case "string":
      return yield* strings(schema, name);
    case "number":
    case "integer":
      return yield* numbers(schema, type === "integer");
    case "boolean":
      return yield* [true, false];
    case "null":
      return yield null;
    case "array":
      return yield* arrays(schema, name, depth, check);
    case "object":
      return yield* objects(schema, depth, check);
    default:
      return yield* ["example", 1];
  }
}

/** Typical values of strings by property name. */
const TYPICAL: readonly (readonly [RegExp, string])[] = [
  [/ur[il]$|^href$|link$/i, "https://example.com/"],
  [/e?mail/i, "ada@example.com"],
  [/path|file|dir/i, "notes.txt"],
  [/date/i, "2025-01-15"],
  [/^(q|query|search|keywords?|term)$/i, "weather"],
  [/text|message|content|body/i, "Hello"],
];

/** Finds an example in a description: `(e.g., '2 + 2')`. */
const DESCRIBED = /(?:\be\.g\.,?|\bfor example[:,]?|\bexamples?:|\bsuch as|\blike)\s{0,3}(["'`])([^"'`\n]{1,80})\1/i;

function* strings(schema: JsonSchema, name: string): Generator<string> {
  const { description } = schema;
  const given = typeof description === "string" ? DESCRIBED.exec(description.slice(0, 2_000))?.[2] : undefined;
  if (given !== undefined) yield given;
  const formatted = getFormatExample(schema["format"]);
  if (formatted !== undefined) yield formatted;
  if (typeof schema["pattern"] === "string") yield* textsForPattern(schema["pattern"]);
  for (const [pattern, text] of TYPICAL) if (pattern.test(name)) yield text;
  yield* ["example", "text", "a", "1", ""];
  const least = typeof schema["minLength"] === "number" ? Math.min(schema["minLength"], 100_000) : 0;
  yield "example ".repeat(Math.ceil(least / 8)).slice(0, least);
  const most = typeof schema["maxLength"] === "number" ? schema["maxLength"] : 0;
  yield "example".slice(0, Math.max(0, most));
}

function* numbers(schema: JsonSchema, isInteger: boolean): Generator<number> {
  const bounds = ["minimum", "exclusiveMinimum", "exclusiveMaximum", "maximum"]
    .map((keyword) => schema[keyword])
    .filter((bound) => typeof bound === "number");
  const step = typeof schema["multipleOf"] === "number" && schema["multipleOf"] > 0 ? schema["multipleOf"] : 1;
  yield* [1, 0, step];
  for (const bound of bounds) {
    const multiple = Math.ceil(bound / step) * step;
    yield* [bound, multiple, multiple + step, multiple - step];
    if (!isInteger) yield* [bound + 0.5, bound - 0.5, bound + 0.01, bound - 0.01];
  }
  const [from, to] = [bounds[0] ?? 0, bounds.at(-1) ?? 0];
  yield* isInteger ? [Math.ceil((from + to) / 2)] : [(from + to) / 2];
}

function* arrays(schema: JsonSchema, name: string, depth: number, check: CheckBudget): Generator<readonly unknown[]> {
  const { items, minItems, maxItems, contains } = schema;
  const places = [schema["prefixItems"], items].find((list): list is unknown[] => Array.isArray(list)) ?? [];
  const rest = Array.isArray(items) ? schema["additionalItems"] : items;
  const most = typeof maxItems === "number" ? Math.max(0, maxItems) : MAX_ITEMS;
  const needed = typeof minItems === "number" ? Math.min(minItems, MAX_ITEMS) : 0;
  const first = places.slice(0, most).map((place) => make(place, name, depth - 1, check));
  if (contains !== undefined) first.push(make(contains, name, depth - 1, check));
  for (const length of new Set([typeof minItems === "number" ? needed : Math.min(1, most), needed])) {
    const values = [...first];
    for (let missing = rest === false ? 0 : length - first.length; missing > 0; missing--) {
      const unlike = schema["uniqueItems"] === true ? values : [];
      values.push(makeUnlike(unlike, rest ?? {}, name, depth - 1, check));
    }
    yield values;
  }
}

/** Generates a value that differs from the others. */
function makeUnlike(
  others: readonly unknown[],
  schema: unknown,
  name: string,
  depth: number,
  check: CheckBudget,
): unknown {
  if (others.length === 0) return make(schema, name, depth, check);
  const unlike = { allOf: [schema, { not: { enum: others } }] };
  const number = others.length + 1;
  const numbered = [`example ${number}`, `example${number}`, number, String(number)];
  return numbered.find((value) => acceptsValue(value, unlike, check)) ?? make(unlike, name, depth, check);
}

function* objects(schema: JsonSchema, depth: number, check: CheckBudget): Generator<Record<string, unknown>> {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"])
    ? schema["required"].filter((name) => typeof name === "string")
    : [];
  const needed = new Set(withDependents(required, schema));
  const optional = Object.keys(properties).filter((name) => !needed.has(name));
  const least = typeof schema["minProperties"] === "number" ? Math.min(schema["minProperties"], MAX_ITEMS) : 0;
  const names = [...needed, ...optional.slice(0, Math.max(0, least - needed.size))];
  const made = createObject(names, schema, depth, check);
  yield made;
  yield withMore(made, least, schema, depth, check);
  for (const name of optional.slice(0, 8)) yield createObject([...names, name], schema, depth, check);
}

function createObject(
  names: readonly string[],
  schema: JsonSchema,
  depth: number,
  check: CheckBudget,
): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, make(propertySchema(name, schema), name, depth - 1, check)]));
}

function propertySchema(name: string, schema: JsonSchema): unknown {
  const { properties, additionalProperties } = schema;
  if (isRecord(properties) && Object.hasOwn(properties, name)) return properties[name];
  return additionalProperties === undefined || additionalProperties === false ? {} : additionalProperties;
}

/** Adds generated names until the object has `least` members. */
function withMore(
  made: Record<string, unknown>,
  least: number,
  schema: JsonSchema,
  depth: number,
  check: CheckBudget,
): Record<string, unknown> {
  const [pattern] = isRecord(schema["patternProperties"]) ? Object.entries(schema["patternProperties"]) : [];
  const names = pattern === undefined ? [] : textsForPattern(pattern[0]);
  const entries = Object.entries(made);
  for (let number = 1; entries.length < least; number++) {
    const name = names[number - 1] ?? `key${number}`;
    entries.push([name, make(pattern?.[1] ?? propertySchema("", schema), name, depth - 1, check)]);
  }
  return Object.fromEntries(entries);
}

function withDependents(names: readonly string[], schema: JsonSchema): readonly string[] {
  const { dependentRequired } = schema;
  if (!isRecord(dependentRequired)) return names;
  const more = names.flatMap((name) => dependentRequired[name] ?? []).filter((name) => typeof name === "string");
  const all = [...new Set([...names, ...more])];
  return all.length === names.length ? all : withDependents(all, schema);
}
