import type { LearningSettings } from "../../learning/index.ts";
import { isRecord } from "../../model/json.ts";
import type { Problem } from "../../model/provider.ts";
import type { RuntimeOptions } from "../options.ts";
import { findProblem, requireOption } from "./invalid.ts";

const LEARNS_ALL: LearningSettings = { requests: true, results: true };

const FORM = "learning must be true, false, or have requests and results, each true or false";

/** Returns the option, else the setting `learning`, else both. Throws `OPTION_INVALID`. */
export function resolveLearning(
  option: RuntimeOptions["learning"],
  setting: unknown,
): { readonly learning: LearningSettings; readonly problems: readonly Problem[] } {
  const parsed = parseLearning(setting);
  return {
    learning: requireOption(option, parseLearning(option), FORM) ?? parsed ?? LEARNS_ALL,
    problems: findProblem(parsed, FORM),
  };
}

/** One switch for all, or one for each; `undefined` for what is neither. */
function parseLearning(value: unknown = true): LearningSettings | undefined {
  if (typeof value === "boolean") return { requests: value, results: value };
  if (!isRecord(value)) return undefined;
  const { requests = true, results = true, ...others } = value;
  const isWhole = typeof requests === "boolean" && typeof results === "boolean" && Object.keys(others).length === 0;
  return isWhole ? { requests, results } : undefined;
}
