import { sentence, SkillgateError } from "../../errors.ts";
import { isPlainObject } from "../../model/arguments.ts";

/** Limit on the JSON of an input, in bytes of UTF-8: the body of a webhook with 1 MiB, and the facts about it. */
export const MAX_INPUT_BYTES = (1 << 20) + (64 << 10);

/** Levels of lists and objects in an input, as in the arguments of a call. */
const MAX_INPUT_DEPTH = 200;

/** Values in an input from elsewhere: the flows of a policy compare so many values and names of members with arguments. */
const MAX_FOREIGN_VALUES = 50_000;

/** The value that a run is started with, as a program gets it. */
export interface RunInput {
  readonly value: unknown;
  /** The value as JSON. */
  readonly json: string;
  /** True if the value is from elsewhere: the flows of the policy apply to it. */
  readonly isForeign: boolean;
}

/**
 * Converts a value to the input of a run, which is a copy. A date becomes its ISO text, and a BigInt a number where that is exact,
 * else text; members that are `undefined` are left out. Throws `INPUT_INVALID` for a value that is not JSON, and for one that
 * is too deep or too large.
 */
export function createRunInput(value: unknown, isForeign: boolean): RunInput {
  const remaining = { values: isForeign ? MAX_FOREIGN_VALUES : Infinity };
  requireJson(value, "", 0, remaining);
  const json = JSON.stringify(value, (_key, member: unknown) =>
    typeof member === "bigint" ? toExactValue(member) : member,
  );
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_INPUT_BYTES) throw createInputError(`it has ${bytes} bytes, at most ${MAX_INPUT_BYTES} are allowed`);
  return { value: JSON.parse(json) as unknown, json, isForeign };
}

/** Creates the error for an input that a run cannot be started with. */
export function createInputError(why: string): SkillgateError {
  return new SkillgateError("INPUT_INVALID", sentence("INPUT_INVALID", why));
}

function toExactValue(value: bigint): number | string {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
}

const MAX_PLACE_UNITS = 80;

function requireJson(value: unknown, place: string, depth: number, remaining: { values: number }): void {
  if (--remaining.values < 0) throw createInputError(`it has more than ${MAX_FOREIGN_VALUES} values`);
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "bigint") return;
  if (typeof value === "number" && Number.isFinite(value)) return;
  if (value instanceof Date && !Number.isNaN(value.getTime())) return;
  const isList = Array.isArray(value);
  if (!isList && !isPlainObject(value)) throw createKindError(value, place);
  if (depth === MAX_INPUT_DEPTH) throw createInputError(`it has more than ${MAX_INPUT_DEPTH} levels`);
  if (isList) {
    for (const [at, item] of value.entries()) requireJson(item, `${place}[${at}]`, depth + 1, remaining);
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    requireJson(member, place === "" ? name : `${place}.${name}`, depth + 1, remaining);
  }
}

function createKindError(value: unknown, place: string): SkillgateError {
  const where = place === "" ? "it" : `its member ${JSON.stringify(place.slice(0, MAX_PLACE_UNITS))}`;
  return createInputError(`${where} is ${describeKind(value)}, and JSON has no such value`);
}

function describeKind(value: unknown): string {
  if (typeof value === "number") return String(value);
  if (typeof value === "function") return "a function";
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return "bytes";
  if (typeof value === "object") return "an object of a class";
  return value === undefined ? "undefined" : "a symbol";
}
