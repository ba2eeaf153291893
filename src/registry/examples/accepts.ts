import { isDeepStrictEqual } from "node:util";
import { isRecord, type JsonSchema } from "../../model/json.ts";
import { resolveReference } from "../schema.ts";
import { fitsFormat } from "./formats.ts";
import { fitsPattern } from "./pattern.ts";

const DEPTH = 100;

/** The budget of a check; schemas can require unbounded work. */
export interface CheckBudget {
  /** The root for local references. */
  readonly root: JsonSchema;
  /** Remaining schemas that may be checked; at zero, every check fails. */
  stepsLeft: number;
}

/**
 * True if a generated value matches a schema. This checks generated examples only; `src/validation` validates arguments.
 */
export function acceptsValue(value: unknown, schema: unknown, check: CheckBudget, depth = DEPTH): boolean {
  check.stepsLeft -= 1;
  if (typeof schema === "boolean") return schema;
  if (!isRecord(schema)) return true;
  if (depth === 0 || check.stepsLeft < 0) return false;
  const test = (inner: unknown, innerSchema: unknown): boolean => acceptsValue(inner, innerSchema, check, depth - 1);
  return (
    fitsReference(value, schema, check.root, test) &&
    fitsValue(value, schema) &&
    fitsBranches(value, schema, test) &&
    (typeof value !== "number" || fitsNumber(value, schema)) &&
    (typeof value !== "string" || fitsString(value, schema)) &&
    (!Array.isArray(value) || fitsArray(value, schema, test)) &&
    (!isRecord(value) || fitsObject(value, schema, test))
  );
}

type ValueTest = (value: unknown, schema: unknown) => boolean;

function fitsReference(value: unknown, schema: JsonSchema, root: JsonSchema, test: ValueTest): boolean {
  const reference = schema["$ref"];
  return typeof reference !== "string" || test(value, resolveReference(reference, root));
}

function fitsValue(value: unknown, schema: JsonSchema): boolean {
  if (value === null && schema["nullable"] === true) return true;
  if (Object.hasOwn(schema, "const") && !isDeepStrictEqual(schema["const"], value)) return false;
  if (Array.isArray(schema["enum"]) && !schema["enum"].some((each) => isDeepStrictEqual(each, value))) return false;
  const { type } = schema;
  return type === undefined || (Array.isArray(type) ? type : [type]).some((each) => hasType(value, each));
}

function hasType(value: unknown, type: unknown): boolean {
  switch (type) {
    case "object":
      return isRecord(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "null":
      return value === null;
    case "string":
    case "number":
    case "boolean":
      return typeof value === type;
    default:
      return true;
  }
}

function fitsBranches(value: unknown, schema: JsonSchema, test: ValueTest): boolean {
  const { allOf, anyOf, oneOf } = schema;
  if (Array.isArray(allOf) && !allOf.every((branch) => test(value, branch))) return false;
  if (Array.isArray(anyOf) && !anyOf.some((branch) => test(value, branch))) return false;
  if (Array.isArray(oneOf) && oneOf.filter((branch) => test(value, branch)).length !== 1) return false;
  if (schema["not"] !== undefined && test(value, schema["not"])) return false;
  if (schema["if"] === undefined) return true;
  return test(value, (test(value, schema["if"]) ? schema["then"] : schema["else"]) ?? true);
}

function fitsNumber(value: number, schema: JsonSchema): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (typeof minimum === "number" && (exclusiveMinimum === true ? value <= minimum : value < minimum)) return false;
  if (typeof maximum === "number" && (exclusiveMaximum === true ? value >= maximum : value > maximum)) return false;
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum) return false;
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum) return false;
  return typeof multipleOf !== "number" || multipleOf <= 0 || Number.isInteger(value / multipleOf);
}

function fitsString(value: string, schema: JsonSchema): boolean {
  const { minLength, maxLength, pattern, format } = schema;
  const length = Array.from(value).length;
  if (typeof minLength === "number" && length < minLength) return false;
  if (typeof maxLength === "number" && length > maxLength) return false;
  if (typeof format === "string" && !fitsFormat(value, format)) return false;
  return typeof pattern !== "string" || fitsPattern(value, pattern);
}

function fitsArray(value: readonly unknown[], schema: JsonSchema, test: ValueTest): boolean {
  const { items, minItems, maxItems, contains } = schema;
  if (typeof minItems === "number" && value.length < minItems) return false;
  if (typeof maxItems === "number" && value.length > maxItems) return false;
  if (schema["uniqueItems"] === true && value.some((item, at) => hasEqual(value.slice(0, at), item))) return false;
  const places = [schema["prefixItems"], items].find((list): list is unknown[] => Array.isArray(list)) ?? [];
  const rest = Array.isArray(items) ? schema["additionalItems"] : items;
  if (!value.every((item, at) => test(item, at < places.length ? places[at] : (rest ?? true)))) return false;
  return contains === undefined || value.some((item) => test(item, contains));
}

function hasEqual(values: readonly unknown[], value: unknown): boolean {
  return values.some((each) => isDeepStrictEqual(each, value));
}

function fitsObject(value: Record<string, unknown>, schema: JsonSchema, test: ValueTest): boolean {
  const names = Object.keys(value);
  const { required, minProperties, maxProperties, dependentRequired, propertyNames } = schema;
  if (Array.isArray(required) && !required.every((name) => Object.hasOwn(value, String(name)))) return false;
  if (typeof minProperties === "number" && names.length < minProperties) return false;
  if (typeof maxProperties === "number" && names.length > maxProperties) return false;
  if (propertyNames !== undefined && !names.every((name) => test(name, propertyNames))) return false;
  if (!names.every((name) => findPropertySchemas(name, schema).every((inner) => test(value[name], inner))))
    return false;
  return !isRecord(dependentRequired) || names.every((name) => hasAll(value, dependentRequired[name]));
}

function findPropertySchemas(name: string, schema: JsonSchema): readonly unknown[] {
  const { properties, patternProperties, additionalProperties } = schema;
  const own = isRecord(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [];
  const patterns = isRecord(patternProperties) ? Object.entries(patternProperties) : [];
  const matching = patterns.filter(([pattern]) => fitsPattern(name, pattern)).map(([, inner]) => inner);
  const described = [...own, ...matching];
  return described.length === 0 && additionalProperties !== undefined ? [additionalProperties] : described;
}

function hasAll(value: Record<string, unknown>, names: unknown): boolean {
  return !Array.isArray(names) || names.every((name) => Object.hasOwn(value, String(name)));
}
