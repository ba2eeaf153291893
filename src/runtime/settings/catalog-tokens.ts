import type { Problem } from "../../model/provider.ts";
import { findProblem, formatValue, requireOption } from "./invalid.ts";

export const DEFAULT_CATALOG_TOKENS = 2_500;
export const MAX_CATALOG_TOKENS = 100_000;

const FORM = `catalogTokens must be a whole number from 0 to ${MAX_CATALOG_TOKENS}`;

/** Returns the option, else the setting `catalogTokens`, else the default. Throws `OPTION_INVALID`. */
export function resolveCatalogTokens(
  option: number | undefined,
  setting: unknown,
): { readonly catalogTokens: number; readonly problems: readonly Problem[] } {
  const parsed = parseCatalogTokens(setting ?? DEFAULT_CATALOG_TOKENS);
  const form = `${FORM}, not ${formatValue(option)}`;
  return {
    catalogTokens: requireOption(option, parseCatalogTokens(option), form) ?? parsed ?? DEFAULT_CATALOG_TOKENS,
    problems: findProblem(parsed, FORM),
  };
}

/** `undefined` for a value that is not valid. */
function parseCatalogTokens(value: unknown): number | undefined {
  const isWhole = typeof value === "number" && Number.isInteger(value);
  return isWhole && value >= 0 && value <= MAX_CATALOG_TOKENS ? value : undefined;
}
