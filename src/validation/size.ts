import { isPlainObject } from "../model/arguments.ts";
import { keepWrittenNumbers } from "../shared/json/exact-json.ts";

/** Maximum nesting of an input: more than any honest call needs, less than recursion here or in a provider can handle. */
export const MAX_INPUT_DEPTH = 200;

/** Maximum weight of an input: far more than the JSON of one call can have. */
export const MAX_INPUT_WEIGHT = 5_000_000;

/**
 * Measures the nesting depth of a value, its weight (the number of values plus a share of the length of texts), and
 * whether it holds dates, BigInts, and Sets or Maps. Stops at the limits of an input, so that a circular value ends.
 */
export function measure(value: unknown): {
  readonly depth: number;
  readonly weight: number;
  readonly hasDates: boolean;
  readonly hasBigInts: boolean;
  readonly hasCollections: boolean;
} {
  let hasDates = false;
  let hasBigInts = false;
  let hasCollections = false;
  let depth = 0;
  let weight = 0;
  let level: unknown[] = [value];
  while (level.length > 0 && depth <= MAX_INPUT_DEPTH && weight <= MAX_INPUT_WEIGHT) {
    const below: unknown[] = [];
    for (const each of level) {
      weight += typeof each === "string" ? 1 + (each.length >> 4) : 1;
      hasBigInts ||= typeof each === "bigint";
      if (typeof each !== "object" || each === null) continue;
      if (Array.isArray(each)) for (const inner of each) below.push(inner);
      else if (isPlainObject(each)) for (const key of Object.keys(each)) below.push(each[key]);
      else if (each instanceof Date) hasDates = true;
      else if (each instanceof Set || each instanceof Map) {
        hasCollections = true;
        for (const inner of each) below.push(inner);
      }
    }
    level = below;
    depth++;
  }
  return { depth, weight, hasDates, hasBigInts, hasCollections };
}

/**
 * Copies a value so that defaults can be filled in: drops `undefined` properties, keeps `__proto__` as data, and shares
 * bytes and other instances. The nesting depth must have been checked before.
 */
export function copyValue(value: unknown, ofInstance: OfInstance = asItIs): unknown {
  if (Array.isArray(value))
    return keepWrittenNumbers(
      value,
      value.map((each) => copyValue(each, ofInstance)),
    );
  if (typeof value !== "object" || value === null) return value;
  return isPlainObject(value) ? copyObject(value, ofInstance) : ofInstance(value);
}

/** Returns the replacement of a date, of bytes or of another instance in a copy. */
type OfInstance = (instance: object) => unknown;

function asItIs(instance: object): unknown {
  return instance;
}

export function copyObject(
  object: Readonly<Record<string, unknown>>,
  ofInstance: OfInstance = asItIs,
): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (value === undefined) continue;
    // Assignment to `__proto__` would change the copy's prototype.
    if (key === "__proto__")
      Object.defineProperty(copy, key, { ...DATA_PROPERTY, value: copyValue(value, ofInstance) });
    else copy[key] = copyValue(value, ofInstance);
  }
  return keepWrittenNumbers(object, copy);
}

/** Copies a result as the guest gets it: a Set as a list, a Map as an object or a list of pairs. A date becomes its text. */
export function copyResult(value: unknown): unknown {
  return copyValue(value, (instance) => {
    if (instance instanceof Date) return instance.toJSON();
    if (instance instanceof Set) return copyResult([...instance]);
    if (!(instance instanceof Map)) return instance;
    const isObject = [...instance.keys()].every((key) => typeof key === "string");
    return copyResult(isObject ? Object.fromEntries(instance) : [...instance]);
  });
}

const DATA_PROPERTY = { enumerable: true, writable: true, configurable: true } as const;
