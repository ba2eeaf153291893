import { type Finding, placesOf, violationAt } from "./model/frame.ts";
import type { Catalog } from "./model/catalog.ts";
import type { Violation } from "./model/outcome.ts";
import type { Program, Snippet } from "./model/snippet.ts";
import { declarations } from "./registry/index.ts";
import type { Diagnostic, Typecheck } from "./typecheck/index.ts";

/** Asks the compiler about a snippet that the gatekeeper has let through. */
export type CheckTypes = (snippet: Snippet, program: Program, catalog: Catalog) => Promise<readonly Violation[]>;

/** Without a compiler nothing is wrong. */
export const NO_TYPES: CheckTypes = async () => [];

/** What the compiler is certain of becomes a violation; when it is cold or late, the snippet goes on without it. */
export function checkTypesWith(typecheck: Typecheck): CheckTypes {
  return async (snippet, { paths }, catalog) => {
    const skills = new Set(paths.flatMap((path) => catalog.method(path)?.skill ?? []));
    if (snippet.kind !== "program" || skills.size === 0) return [];
    const result = await typecheck.check({ code: snippet.text, declarations: declarations(catalog, [...skills]) });
    if (result.kind === "skipped") {
      if (result.why === "cold") void typecheck.warmUp();
      return [];
    }
    const places = placesOf(snippet.source);
    const certain = result.diagnostics.filter((diagnostic) => diagnostic.certain);
    return certain.map((diagnostic) => violationAt(places, findingOf(diagnostic)));
  };
}

function findingOf({ code, message, start, end, suggestions }: Diagnostic): Finding {
  return {
    code: code === "MEMBER_UNKNOWN" ? "MEMBER_UNKNOWN" : "ARGUMENTS_INVALID",
    values: message,
    start,
    end,
    suggestions,
    ...(suggestions.length > 0 && { fix: `Write ${suggestions.join(" or ")}` }),
  };
}
