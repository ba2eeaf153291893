import type { Problem } from "../../model/provider.ts";
import type { RuntimeOptions } from "../options.ts";
import { findProblem, formatValue } from "./invalid.ts";

/** Returns the option, else the setting `typecheck`, else true if the runtime is not lazy. */
export function resolveTypecheck(
  { typecheck, lazy = false }: Pick<RuntimeOptions, "typecheck" | "lazy">,
  setting: unknown = true,
): { readonly typecheck: boolean; readonly problems: readonly Problem[] } {
  const parsed = typeof setting === "boolean" ? setting : undefined;
  const hint = setting === "off" ? "; write: typecheck: false" : "";
  return {
    typecheck: typecheck ?? (!lazy && parsed !== false),
    problems: findProblem(parsed, `typecheck must be true or false, not ${formatValue(setting)}${hint}`),
  };
}
