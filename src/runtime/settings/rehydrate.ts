import { isRecord } from "../../model/json.ts";
import type { Problem } from "../../model/provider.ts";
import { findProblem } from "./invalid.ts";

/** Returns `secrets.rehydrate`; a value that is not valid counts as `false`. */
export function resolveRehydrate(section: unknown): {
  readonly rehydrateSecrets: boolean;
  readonly problems: readonly Problem[];
} {
  const parsed = parseRehydrate(section);
  return {
    rehydrateSecrets: parsed ?? false,
    problems: findProblem(parsed, "secrets.rehydrate must be true or false"),
  };
}

/** `undefined` for a setting that is neither `true` nor `false`. */
function parseRehydrate(secrets: unknown): boolean | undefined {
  if (secrets === undefined || secrets === null) return false;
  const { rehydrate = false } = isRecord(secrets) ? secrets : { rehydrate: secrets };
  return typeof rehydrate === "boolean" && isRecord(secrets) ? rehydrate : undefined;
}
