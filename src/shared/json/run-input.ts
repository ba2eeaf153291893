import { createError, type SkillgateError } from "../../errors.ts";
import { formatJson } from "./format-json.ts";

/** Limit on the JSON of an input, in bytes of UTF-8: the body of a webhook with 1 MiB, and the facts about it. */
export const MAX_INPUT_BYTES = (1 << 20) + (64 << 10);

/** Values in an input from elsewhere: the flows of a policy compare this number of values and names of members with arguments. */
export const MAX_FOREIGN_VALUES = 50_000;

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
  const json = formatJson(value, createInputError, isForeign ? MAX_FOREIGN_VALUES : Infinity);
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_INPUT_BYTES) throw createInputError(`it has ${bytes} bytes, at most ${MAX_INPUT_BYTES} are allowed`);
  let parsed: { readonly value: unknown } | undefined;
  return {
    // Most runs need only the text: to parse a large one takes a turn of the event loop.
    get value() {
      parsed ??= { value: JSON.parse(json) as unknown };
      return parsed.value;
    },
    json,
    isForeign,
  };
}

/** Creates the error for an input that a run cannot be started with. */
export function createInputError(why: string): SkillgateError {
  return createError("INPUT_INVALID", why);
}
