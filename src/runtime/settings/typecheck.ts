import type { Problem } from "../../model/provider.ts";
import type { RuntimeOptions } from "../options.ts";
import { findProblem } from "./invalid.ts";

const FORM = "typecheck must be true or false; on, off, yes and no are texts in YAML 1.2";

/** Returns the option, else the setting `typecheck`, else true if the runtime is not lazy. */
export function resolveTypecheck(
  { typecheck, lazy = false }: Pick<RuntimeOptions, "typecheck" | "lazy">,
  setting: unknown = true,
): { readonly typecheck: boolean; readonly problems: readonly Problem[] } {
  const parsed = typeof setting === "boolean" ? setting : undefined;
  return {
    typecheck: typecheck ?? (!lazy && parsed !== false),
    problems: findProblem(parsed, FORM),
  };
}
