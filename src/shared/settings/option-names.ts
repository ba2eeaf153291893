import { createError } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import { formatChoices } from "../format-text.ts";
import { describeUnknownName } from "../suggest.ts";
import { formatSetting } from "./check-settings.ts";

/** The names of the options of a function. The compiler reports one that is missing. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Throws `OPTION_INVALID` for options that are not an object, or that have another name. A program in plain JavaScript may pass
 * anything, and a misspelt `caller` would otherwise run as the owner.
 */
export function requireNames<Options extends object>(
  what: string,
  options: Options,
  names: OptionNames<Options>,
): asserts options is Options {
  const record: unknown = options;
  if (!isRecord(record)) throw createError("OPTION_INVALID", `the options of ${what} must be an object`);
  for (const name in record) {
    if (Object.hasOwn(names, name) || record[name] === undefined) continue;
    const otherwise = `its options are ${formatChoices(Object.keys(names))}`;
    const { detail } = describeUnknownName("option", name, Object.keys(names), { limit: 1, otherwise });
    throw createError("OPTION_INVALID", `${what} has no option ${detail}`);
  }
}

/** Throws `OPTION_INVALID` for an argument that is not a text. */
export function requireText(what: string, text: unknown): asserts text is string {
  if (typeof text !== "string") throw createError("OPTION_INVALID", `${what} must be a text, not ${describe(text)}`);
}

function describe(value: unknown): string {
  return typeof value === "object" && value !== null ? "an object" : formatSetting(value);
}
