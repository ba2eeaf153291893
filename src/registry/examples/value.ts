import { isRecord, type JsonSchema, toList } from "../../model/json.ts";
import { createSchemaCheck } from "../../validation/index.ts";
import { resolveReference } from "../schema.ts";
import { mergedSchema } from "./merge.ts";
import { findDate, listTexts } from "./texts.ts";

const MAX_DEPTH = 10;
const MAX_ROUNDS = 16;

/** Maximum subschemas read for one value. */
const MAX_STEPS = 600;

/** Maximum members of an example array or object, and maximum values of an `enum` and alternatives that are tried. */
const MAX_ITEMS = 200;

/**
 * Generates a small value that matches a schema. Where the check finds the value invalid, the next candidate is taken for
 * that place; if no value is valid, the one with the fewest invalid places is returned.
 */
export function createExample(root: JsonSchema): unknown {
  const rejected = new Map<string, number>();
  const first = new ExampleBuilder(root, rejected);
  const draft = first.create(root, "", "", MAX_DEPTH);
  if (first.isCertain) return draft;
  const findInvalid = createSchemaCheck(root);
  let best: { readonly value: unknown; readonly invalid: number } | undefined;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const value = new ExampleBuilder(root, rejected).create(root, "", "", MAX_DEPTH);
    const invalid = findInvalid(value);
    if (invalid.length < (best?.invalid ?? Infinity)) best = { value, invalid: invalid.length };
    if (invalid.length === 0) break;
    for (const pointer of invalid) rejected.set(pointer, (rejected.get(pointer) ?? 0) + 1);
  }
  return best?.value;
}

type CreateValue = () => unknown;

class ExampleBuilder {
  readonly #root: JsonSchema;
  /** How many candidates were invalid, by JSON pointer. */
  readonly #rejected: ReadonlyMap<string, number>;
  #stepsLeft = MAX_STEPS;
  /** True if the value is valid without a check, which takes some milliseconds. */
  isCertain = true;

  constructor(root: JsonSchema, rejected: ReadonlyMap<string, number>) {
    this.#root = root;
    this.#rejected = rejected;
  }

  /** Creates a value; `name` is the name of the property, and `skipped` the number of candidates that equal items took. */
  create(schema: unknown, name: string, pointer: string, depth: number, skipped = 0): unknown {
    this.isCertain &&= depth > 0 && isConstructed(schema);
    const candidates = this.#listCandidates(schema, name, pointer, depth);
    const next = (this.#rejected.get(pointer) ?? 0) + skipped;
    return candidates[next % candidates.length]?.();
  }

  #listCandidates(schema: unknown, name: string, pointer: string, depth: number): readonly CreateValue[] {
    this.#stepsLeft -= 1;
    if (!isRecord(schema) || this.#stepsLeft < 0) return [() => "example"];
    const { anyOf, oneOf, if: condition, then, else: otherwise, ...whole } = this.#resolve(schema, new Set());
    const declared = [
      ...(Object.hasOwn(whole, "const") ? [whole["const"]] : []),
      ...(whole["default"] === undefined ? [] : [whole["default"]]),
      ...toList(whole["examples"]),
      ...toList(whole["enum"]).slice(0, MAX_ITEMS),
    ].map((value) => () => value);
    if (depth === 0 || Object.hasOwn(whole, "const") || whole["enum"] !== undefined) return atLeastOne(declared);
    const branches = [...toList(anyOf), ...toList(oneOf)].slice(0, MAX_ITEMS);
    if (condition !== undefined) branches.push({}, { allOf: [condition, then ?? {}] }, otherwise ?? {});
    const merged = branches.map((branch) =>
      this.#listCandidates({ ...whole, allOf: [branch] }, name, pointer, depth - 1),
    );
    if (merged.length > 0) return atLeastOne([...declared, ...interleave(merged)]);
    const { type = getImpliedType(whole) } = whole;
    const lists = (Array.isArray(type) ? type : [type]).map((each) =>
      this.#listTypeCandidates(each, whole, name, pointer, depth),
    );
    const others = whole["type"] === undefined ? [1, true, null, {}, []].map((value) => () => value) : [];
    return atLeastOne([...declared, ...interleave(lists), ...others]);
  }

  /** Merges a schema with its references and `allOf`. */
  #resolve(schema: JsonSchema, visited: Set<unknown>): JsonSchema {
    if (visited.has(schema)) return {};
    visited.add(schema);
    const { $ref: reference, allOf, ...own } = schema;
    const referred = typeof reference === "string" ? resolveReference(reference, this.#root) : undefined;
    return [referred, ...toList(allOf)]
      .filter(isRecord)
      .reduce<JsonSchema>((all, each) => mergedSchema(all, this.#resolve(each, visited)), own);
  }

  #listTypeCandidates(
    type: unknown,
    schema: JsonSchema,
    name: string,
    pointer: string,
    depth: number,
  ): readonly CreateValue[] {
    switch (type) {
      case "string":
        return listTexts(schema, name).map((text) => () => text);
      case "number":
      case "integer":
        return listNumbers(schema, type === "integer").map((number) => () => number);
      case "boolean":
        return [() => true, () => false];
      case "null":
        return [() => null];
      case "array":
        return listLengths(schema).map((length) => () => this.#createArray(length, schema, name, pointer, depth));
      case "object":
        return listOptional(schema).map((optional) => () => this.#createObject(optional, schema, pointer, depth));
      default:
        return [() => "example", () => 1];
    }
  }

  #createArray(length: number, schema: JsonSchema, name: string, pointer: string, depth: number): readonly unknown[] {
    const { items, contains, uniqueItems } = schema;
    const positions = [schema["prefixItems"], items].find((list): list is unknown[] => Array.isArray(list)) ?? [];
    const rest = Array.isArray(items) ? schema["additionalItems"] : items;
    const first = contains === undefined ? positions : [...positions, contains];
    const count = rest === false ? Math.min(length, first.length) : length;
    return Array.from({ length: count }, (_, at) => {
      const skipped = uniqueItems === true ? at : 0;
      return this.create(at < first.length ? first[at] : rest, name, `${pointer}/${at}`, depth - 1, skipped);
    });
  }

  #createObject(optional: readonly string[], schema: JsonSchema, pointer: string, depth: number): object {
    const { properties, patternProperties, additionalProperties } = schema;
    const declared = new Map<string, unknown>(isRecord(properties) ? Object.entries(properties) : []);
    const names = new Set([...listRequired(schema), ...optional]);
    const least = typeof schema["minProperties"] === "number" ? Math.min(schema["minProperties"], MAX_ITEMS) : 0;
    const [pattern] = isRecord(patternProperties) ? Object.entries(patternProperties) : [];
    const more = pattern === undefined ? [] : listTexts({ pattern: pattern[0] }, "");
    for (let at = 0; names.size < least && at < 2 * MAX_ITEMS; at++) names.add(more[at] ?? `key${at + 1}`);
    const entries = [...names].map((name) => {
      const inner = declared.get(name) ?? (more.includes(name) ? pattern?.[1] : additionalProperties);
      return [name, this.create(inner, name, `${pointer}/${toToken(name)}`, depth - 1)] as const;
    });
    return Object.fromEntries(entries);
  }
}

/** Keywords for which a valid value can be constructed if no others are there. */
const CONSTRUCTED: ReadonlySet<string> = new Set([
  ..."$schema type title description properties required items minimum maximum minLength maxLength".split(" "),
  ..."minItems maxItems format enum default $defs definitions additionalProperties".split(" "),
]);

/** Keywords that restrict nothing but the type of the value. */
const LIMITLESS: ReadonlySet<string> = new Set("type title description default enum".split(" "));

function isConstructed(schema: unknown): boolean {
  if (schema === undefined) return true;
  if (!isRecord(schema)) return false;
  const { type, enum: values, default: value = toList(values)[0] } = schema;
  const keywords = Object.keys(schema);
  if (value === undefined) return keywords.every((keyword) => CONSTRUCTED.has(keyword));
  const isMember = values === undefined || toList(values).includes(value);
  const hasType = typeof value === type || (type === "integer" && Number.isInteger(value));
  return isMember && hasType && keywords.every((keyword) => LIMITLESS.has(keyword));
}

function atLeastOne(candidates: readonly CreateValue[]): readonly CreateValue[] {
  return candidates.length > 0 ? candidates : [() => "example"];
}

function toToken(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Takes the first of each list, then the second of each, and so on. */
function interleave(lists: readonly (readonly CreateValue[])[]): readonly CreateValue[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

function getImpliedType(schema: JsonSchema): string {
  const has = (...keywords: readonly string[]): boolean => keywords.some((keyword) => schema[keyword] !== undefined);
  if (has("properties", "required", "additionalProperties", "patternProperties", "minProperties")) return "object";
  if (has("items", "prefixItems", "minItems", "contains")) return "array";
  return has("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum") ? "number" : "string";
}

/** Lists numbers within the bounds, small ones first. */
function listNumbers(schema: JsonSchema, isInteger: boolean): readonly number[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, description } = schema;
  const low = Math.max(...[minimum, exclusiveMinimum, -Infinity].filter((bound) => typeof bound === "number"));
  const high = Math.min(...[maximum, exclusiveMaximum, Infinity].filter((bound) => typeof bound === "number"));
  const step = typeof multipleOf === "number" && multipleOf > 0 ? multipleOf : 1;
  const date = Number(typeof description === "string" ? findDate(description) : undefined);
  const start = Math.ceil((Number.isFinite(low) ? low : Math.min(0, high)) / step) * step;
  const steps = Array.from({ length: 24 }, (_, at) => start + at * step);
  const between = [low, high, (low + high) / 2, low + 0.01].filter((number) => !isInteger || Number.isInteger(number));
  const all = [...(Number.isInteger(date) ? [date] : []), 1, step, ...steps, ...between, start - step];
  const fitting = all.filter((number) => {
    const isWithin = number >= low && number <= high && number !== exclusiveMinimum && number !== exclusiveMaximum;
    return isWithin && Number.isFinite(number) && (multipleOf === undefined || Number.isInteger(number / step));
  });
  return [...new Set(fitting.length > 0 ? fitting : [1])];
}

/** Lists lengths of an array: one item or the minimum, then the minimum. */
function listLengths({ minItems, maxItems, prefixItems, contains }: JsonSchema): readonly number[] {
  const least = typeof minItems === "number" ? Math.min(minItems, MAX_ITEMS) : 0;
  const most = typeof maxItems === "number" ? Math.max(0, maxItems) : MAX_ITEMS;
  const usual = typeof minItems === "number" ? least : Math.min(1, most);
  const positions = Math.min(toList(prefixItems).length + (contains === undefined ? 0 : 1), most);
  return [Math.max(usual, positions), usual, least];
}

function listRequired({ required, dependentRequired }: JsonSchema): readonly string[] {
  const names = new Set<unknown>(toList(required));
  if (isRecord(dependentRequired))
    for (const name of names) for (const other of toList(dependentRequired[String(name)])) names.add(other);
  return [...names].filter((name) => typeof name === "string");
}

/** Lists which optional properties an object has: none, or as many as it needs, then one more. */
function listOptional(schema: JsonSchema): readonly (readonly string[])[] {
  const required = listRequired(schema);
  const properties = isRecord(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  const optional = properties.filter((name) => !required.includes(name));
  const least = typeof schema["minProperties"] === "number" ? schema["minProperties"] - required.length : 0;
  const needed = optional.slice(0, Math.max(0, least));
  return [needed, ...optional.slice(needed.length, needed.length + 8).map((name) => [...needed, name])];
}
