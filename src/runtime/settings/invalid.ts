import { sentence, SkillgateError } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import type { Problem } from "../../model/provider.ts";

/** Returns the problem of a setting that is not valid, or none if it was parsed. `form` says what it must be. */
export function findProblem(parsed: unknown, form: string): readonly Problem[] {
  return parsed === undefined ? [{ source: "settings.yaml", error: sentence("CONFIG_INVALID", form) }] : [];
}

/** Returns the parsed option; `undefined` without the option. Throws `OPTION_INVALID` if it is not valid. */
export function requireOption<Value>(option: unknown, parsed: Value | undefined, form: string): Value | undefined {
  if (option === undefined) return undefined;
  if (parsed === undefined) throw createOptionError(form);
  return parsed;
}

/** Creates the error of an option that is not valid; `form` says what it must be. */
export function createOptionError(form: string): SkillgateError {
  return new SkillgateError("OPTION_INVALID", sentence("OPTION_INVALID", form));
}

/** Formats an option for an error. JSON has no word for `NaN`. */
export function formatValue(value: unknown): string {
  return typeof value === "string" || isRecord(value) ? JSON.stringify(value) : String(value);
}
