import type { Method } from "../../model/catalog.ts";
import { OWNER } from "../../model/caller.ts";
import { toolName } from "../../registry/index.ts";
import { describeUnknownName } from "../../shared/suggest.ts";
import type { StepContext } from "./step-context.ts";

/** The method that a tool name stands for, or what to say instead. */
export type MethodByName =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "unknown"; readonly message: string };

/** Most names that a message lists. */
const MAX_LISTED = 8;

/** Finds a method by its tool name, its path, or its own name if no other method has the same one. */
export function findMethod(
  name: string,
  toolNames: readonly string[],
  { runtime, caller = OWNER }: Pick<StepContext, "runtime" | "caller">,
): MethodByName {
  const { methods } = runtime.catalogFor(caller);
  const bare = name.replace(/^(?:devices?\.|functions?\.)/, "");
  const exact = methods.find((method) => method.path === bare || toolName(method) === bare);
  if (exact !== undefined) return { kind: "found", path: exact.path };
  const sameName = methods.filter((method) => method.name === bare || method.wireName === bare);
  const [only, ...others] = sameName;
  if (only !== undefined && others.length === 0) return { kind: "found", path: only.path };
  if (sameName.length > 1)
    return { kind: "unknown", message: `Several methods are called ${name}: ${listPaths(sameName)}` };
  const names = [...toolNames, ...methods.map(({ path }) => path)];
  const otherwise = `use ${toolNames.slice(0, MAX_LISTED).join(", ")}`;
  return { kind: "unknown", message: describeUnknownName("tool", name, names, { otherwise }).message };
}

function listPaths(methods: readonly Method[]): string {
  const paths = methods.slice(0, MAX_LISTED).map(({ path }) => path);
  const more = methods.length - paths.length;
  return `${paths.join(", ")}${more > 0 ? ` and ${more} more` : ""}. Call one of them by its whole name`;
}
