import { isPlainObject } from "../model/arguments.ts";

/** What an input may nest: more than any honest call, less than what any recursion here or in a provider can bear. */
export const MAX_INPUT_DEPTH = 200;

/** How much an input may hold: far more than the JSON of one call can. */
export const MAX_INPUT_WEIGHT = 5_000_000;

/**
 * How deeply a value nests, whether it holds dates, and about how much there is to check: its values, and a part of the length of its texts.
 * Counting stops past what an input may be, so that a circle ends.
 */
export function measure(value: unknown): {
  readonly depth: number;
  readonly weight: number;
  readonly hasDates: boolean;
} {
  let hasDates = false;
  let depth = 0;
  let weight = 0;
  let level: unknown[] = [value];
  while (level.length > 0 && depth <= MAX_INPUT_DEPTH && weight <= MAX_INPUT_WEIGHT) {
    const below: unknown[] = [];
    for (const each of level) {
      weight += typeof each === "string" ? 1 + (each.length >> 4) : 1;
      hasDates ||= each instanceof Date;
      if (Array.isArray(each) || isPlainObject(each)) for (const inner of Object.values(each)) below.push(inner);
    }
    level = below;
    depth++;
  }
  return { depth, weight, hasDates };
}

/**
 * A copy for defaults to be filled in: without `undefined` properties, with `__proto__` as data, and with bytes and other
 * instances as they are. Only for what is known not to nest too deeply.
 */
export function copyValue(value: unknown, ofDate: OfDate = asItIs): unknown {
  if (Array.isArray(value)) return value.map((each) => copyValue(each, ofDate));
  if (value instanceof Date) return ofDate(value);
  return isPlainObject(value) ? copyObject(value, ofDate) : value;
}

/** What a copy has in place of a date. */
type OfDate = (date: Date) => unknown;

function asItIs(date: Date): unknown {
  return date;
}

export function copyObject(
  object: Readonly<Record<string, unknown>>,
  ofDate: OfDate = asItIs,
): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined) continue;
    // Assignment to `__proto__` would change the copy's prototype.
    if (key === "__proto__") Object.defineProperty(copy, key, { ...DATA_PROPERTY, value: copyValue(value, ofDate) });
    else copy[key] = copyValue(value, ofDate);
  }
  return copy;
}

const DATA_PROPERTY = { enumerable: true, writable: true, configurable: true } as const;
