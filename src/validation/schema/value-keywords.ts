import { fullFormats } from "ajv-formats/dist/formats.js";

import type { Evaluation, ValueLocation } from "./evaluation.ts";
import type { Check, SchemaKeyword, SchemaNode } from "./schema-node.ts";
import { writeKey } from "./value-keys.ts";

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  number: isFinite,
  integer: Number.isInteger,
  string: (value) => typeof value === "string",
  array: Array.isArray,
  object: isObject,
};

/** The keywords for values of any type, and for numbers and texts. */
export const VALUE_KEYWORDS = {
  type(value, node) {
    const test = createTypeTest(value, node);
    if (test === undefined) return "must name types of JSON";
    return (data, location, run) => test(data) || node.report("type", { value: data, location, run }, { type: value });
  },
  enum(value, node) {
    if (!Array.isArray(value) || value.length === 0) return "must be a list of values";
    const simple = new Set<unknown>(value);
    const others = new Set(value.filter((each) => typeof each === "object").map(writeKey));
    return (data, location, run) =>
      simple.has(data) ||
      (others.size > 0 && typeof data === "object" && others.has(run.writeKey(data))) ||
      node.report("enum", { value: data, location, run });
  },
  const(value, node) {
    const key = writeKey(value);
    const isEqual = (data: unknown, run: Evaluation): boolean =>
      data === value || (typeof data === "object" && typeof value === "object" && run.writeKey(data) === key);
    return (data, location, run) => isEqual(data, run) || node.report("const", { value: data, location, run });
  },
  minimum: forNumber("minimum", (data, limit) => data >= limit),
  maximum: forNumber("maximum", (data, limit) => data <= limit),
  exclusiveMinimum: forExclusive(
    "minimum",
    forNumber("exclusiveMinimum", (data, limit) => data > limit),
  ),
  exclusiveMaximum: forExclusive(
    "maximum",
    forNumber("exclusiveMaximum", (data, limit) => data < limit),
  ),
  multipleOf: forNumber("multipleOf", isMultiple),
  minLength: forLength("minLength", (length, limit) => length >= limit),
  maxLength: forLength("maxLength", (length, limit) => length <= limit),
  pattern(source, node) {
    if (typeof source !== "string") return "must be a text";
    const pattern = node.document.pattern(source);
    return forText(
      (data, location, run) => pattern.test(data) || node.report("pattern", { value: data, location, run }),
    );
  },
  format(name, node) {
    if (typeof name !== "string") return "must be a text";
    const format = Object.hasOwn(fullFormats, name) ? fullFormats[name as keyof typeof fullFormats] : undefined;
    return format === undefined || format === true ? undefined : checkFormat(format, node);
  },
} as const satisfies Readonly<Record<string, SchemaKeyword>>;

/** Creates a keyword for numbers. */
function forNumber(keyword: string, holds: (data: number, limit: number) => boolean): SchemaKeyword {
  return (limit, node) => {
    if (typeof limit !== "number") return "must be a number";
    return (data, location, run) =>
      !isFinite(data) || holds(data, limit) || node.report(keyword, { value: data, location, run }, { limit });
  };
}

/** Reads `true` as draft-04 does: the bound itself, which is another keyword there, is excluded. */
function forExclusive(bound: string, keyword: SchemaKeyword): SchemaKeyword {
  return (limit, node, parts) => {
    if (typeof limit !== "boolean") return keyword(limit, node, parts);
    const boundValue = node.get(bound);
    return limit && boundValue !== undefined ? keyword(boundValue, node, parts) : undefined;
  };
}

/** Compares the numbers as they are written: in binary, 19.99 is not a multiple of 0.01. */
function isMultiple(value: number, unit: number): boolean {
  if (unit === 0 || Number.isInteger(value / unit)) return unit !== 0;
  const [dividend, divisor] = [toDecimal(value), toDecimal(unit)];
  const exponent = Math.min(dividend.exponent, divisor.exponent);
  const scale = (decimal: Decimal): bigint => decimal.digits * 10n ** BigInt(decimal.exponent - exponent);
  return scale(dividend) % scale(divisor) === 0n;
}

/** A number in its shortest form: its digits, times ten to the exponent. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

function toDecimal(number: number): Decimal {
  const [mantissa = "", power] = number.toExponential().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

/** Creates a keyword for the length of texts, in characters: a surrogate pair is one. */
function forLength(keyword: string, holds: (length: number, limit: number) => boolean): SchemaKeyword {
  return (limit, node) => {
    if (typeof limit !== "number") return "must be a number";
    return forText(
      (data, location, run) =>
        holds(countCharacters(data), limit) || node.report(keyword, { value: data, location, run }, { limit }),
    );
  };
}

function countCharacters(text: string): number {
  const pairs = text.match(/[\ud800-\udbff][\udc00-\udfff]/g);
  return text.length - (pairs?.length ?? 0);
}

function forText(check: (data: string, location: ValueLocation, run: Evaluation) => boolean): Check {
  return (data, location, run) => typeof data !== "string" || check(data, location, run);
}

/** A format as its package defines it. */
type TextFormat = Exclude<(typeof fullFormats)[keyof typeof fullFormats], true>;

function checkFormat(format: TextFormat, node: SchemaNode): Check {
  if (typeof format === "object" && "type" in format && format.type === "number") {
    const { validate } = format;
    return (data, location, run) =>
      !isFinite(data) || validate(data) === true || node.report("format", { value: data, location, run });
  }
  const test = node.document.guard(getTextTest(format));
  return forText((data, location, run) => test(data) || node.report("format", { value: data, location, run }));
}

function getTextTest(format: TextFormat): (text: string) => boolean {
  const test: unknown = format instanceof RegExp || typeof format !== "object" ? format : format.validate;
  if (test instanceof RegExp) return (text) => test.test(text);
  return typeof test === "function" ? (text) => test(text) === true : () => true;
}

function isTest(value: unknown): value is (data: unknown) => boolean {
  return typeof value === "function";
}

/** Returns the test whether a value has one of the types of a schema; `undefined` if they are not types of JSON. */
export function createTypeTest(type: unknown, node: SchemaNode): ((data: unknown) => boolean) | undefined {
  const names = [type].flat();
  const tests = names.map((name) => typeof name === "string" && Object.hasOwn(TYPES, name) && TYPES[name]);
  if (names.length === 0 || !tests.every(isTest)) return undefined;
  if (node.get("nullable") === true) tests.push(isNull);
  return tests.length === 1 ? tests[0] : (data) => tests.some((test) => test(data));
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isFinite(value: unknown): value is number {
  return Number.isFinite(value);
}

function isNull(value: unknown): boolean {
  return value === null;
}
