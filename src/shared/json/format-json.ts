import { isPlainObject } from "../../model/arguments.ts";

/** Levels of lists and objects, as in the arguments of a call. */
const MAX_DEPTH = 200;

const MAX_PLACE_UNITS = 80;

/**
 * Writes a value as JSON. A date becomes its ISO text, and a BigInt a number where that is exact, else text; members that are
 * `undefined` are left out. Throws what `fail` creates for a value that is not JSON, and for one with too many levels or values.
 */
export function formatJson(value: unknown, fail: (why: string) => Error, maxValues = Infinity): string {
  const limits = { left: maxValues, maxValues, fail };
  requireJson(value, "", 0, limits);
  return JSON.stringify(value, (_key, member: unknown) => (typeof member === "bigint" ? toExactValue(member) : member));
}

function toExactValue(value: bigint): number | string {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
}

interface ValueLimits {
  left: number;
  readonly maxValues: number;
  readonly fail: (why: string) => Error;
}

function requireJson(value: unknown, location: string, depth: number, limits: ValueLimits): void {
  const { fail, maxValues } = limits;
  if (--limits.left < 0) throw fail(`it has more than ${maxValues} values`);
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "bigint") return;
  if (typeof value === "number" && Number.isFinite(value)) return;
  if (value instanceof Date && !Number.isNaN(value.getTime())) return;
  const isList = Array.isArray(value);
  if (!isList && !isPlainObject(value))
    throw fail(`${formatSubject(location)} is ${describeKind(value)}, and JSON has no such value`);
  if (depth === MAX_DEPTH) throw fail(`it has more than ${MAX_DEPTH} levels`);
  if (isList) {
    for (const [at, item] of value.entries()) requireJson(item, `${location}[${at}]`, depth + 1, limits);
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    requireJson(member, location === "" ? name : `${location}.${name}`, depth + 1, limits);
  }
}

function formatSubject(location: string): string {
  return location === "" ? "it" : `its member ${JSON.stringify(location.slice(0, MAX_PLACE_UNITS))}`;
}

function describeKind(value: unknown): string {
  if (typeof value === "number") return String(value);
  if (typeof value === "function") return "a function";
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return "bytes";
  if (typeof value === "object") return "an object of a class";
  return value === undefined ? "undefined" : "a symbol";
}
