import type { ObservationSettings } from "../../observed/index.ts";
import { isRecord } from "../../model/json.ts";
import type { Problem } from "../../model/provider.ts";
import type { RuntimeOptions } from "../options.ts";
import { findProblem, requireOption } from "./invalid.ts";

const OBSERVES_ALL: ObservationSettings = { requests: true, results: true };

const FORM = "observe must be true, false, or have requests and results, each true or false";

/** Returns the option, else the setting `observe`, else both. Throws `OPTION_INVALID`. */
export function resolveObservation(
  option: RuntimeOptions["observe"],
  setting: unknown,
): { readonly observations: ObservationSettings; readonly problems: readonly Problem[] } {
  const parsed = parseObservation(setting);
  return {
    observations: requireOption(option, parseObservation(option), FORM) ?? parsed ?? OBSERVES_ALL,
    problems: findProblem(parsed, FORM),
  };
}

/** One switch for all, or one for each; `undefined` for what is neither. */
function parseObservation(value: unknown = true): ObservationSettings | undefined {
  if (typeof value === "boolean") return { requests: value, results: value };
  if (!isRecord(value)) return undefined;
  const { requests = true, results = true, ...others } = value;
  const isWhole = typeof requests === "boolean" && typeof results === "boolean" && Object.keys(others).length === 0;
  return isWhole ? { requests, results } : undefined;
}
