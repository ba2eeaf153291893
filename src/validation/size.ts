import { isPlainObject } from "../model/arguments.ts";
import { keepWrittenNumbers } from "../shared/json/exact-json.ts";

/** Maximum nesting of an input: more than any honest call needs, less than recursion here or in a provider can handle. */
export const MAX_INPUT_DEPTH = 200;

/** Maximum weight of an input: far more than the JSON of one call can have. */
export const MAX_INPUT_WEIGHT = 5_000_000;

/**
 * Measures the nesting depth of a value, its weight (the number of values plus a share of the length of texts), and
 * whether it holds dates and BigInts. Stops at the limits of an input, so that a circular value ends.
 */
export function measure(value: unknown): {
  readonly depth: number;
  readonly weight: number;
  readonly hasDates: boolean;
  readonly hasBigInts: boolean;
} {
  let hasDates = false;
  let hasBigInts = false;
  let depth = 0;
  let weight = 0;
  let level: unknown[] = [value];
  while (level.length > 0 && depth <= MAX_INPUT_DEPTH && weight <= MAX_INPUT_WEIGHT) {
    const below: unknown[] = [];
    for (const each of level) {
      weight += typeof each === "string" ? 1 + (each.length >> 4) : 1;
      hasBigInts ||= typeof each === "bigint";
      if (typeof each !== "object" || each === null) continue;
      hasDates ||= each instanceof Date;
      if (Array.isArray(each)) for (const inner of each) below.push(inner);
      else if (isPlainObject(each)) for (const key of Object.keys(each)) below.push(each[key]);
    }
    level = below;
    depth++;
  }
  return { depth, weight, hasDates, hasBigInts };
}

/**
 * Copies a value so that defaults can be filled in: drops `undefined` properties, keeps `__proto__` as data, and shares
 * bytes and other instances. The nesting depth must have been checked before.
 */
export function copyValue(value: unknown, ofDate: OfDate = asItIs): unknown {
  if (Array.isArray(value))
    return keepWrittenNumbers(
      value,
      value.map((each) => copyValue(each, ofDate)),
    );
  if (value instanceof Date) return ofDate(value);
  return isPlainObject(value) ? copyObject(value, ofDate) : value;
}

/** Returns the replacement of a date in a copy. */
type OfDate = (date: Date) => unknown;

function asItIs(date: Date): unknown {
  return date;
}

export function copyObject(
  object: Readonly<Record<string, unknown>>,
  ofDate: OfDate = asItIs,
): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (value === undefined) continue;
    // Assignment to `__proto__` would change the copy's prototype.
    if (key === "__proto__") Object.defineProperty(copy, key, { ...DATA_PROPERTY, value: copyValue(value, ofDate) });
    else copy[key] = copyValue(value, ofDate);
  }
  return keepWrittenNumbers(object, copy);
}

const DATA_PROPERTY = { enumerable: true, writable: true, configurable: true } as const;
