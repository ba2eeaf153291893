import type { Discovery } from "./discovery.ts";
import { type Finding, placesOf, violationAt } from "./model/frame.ts";
import type { Catalog } from "./model/catalog.ts";
import type { Violation } from "./model/outcome.ts";
import type { Program, Snippet } from "./model/snippet.ts";
import { declarations } from "./registry/index.ts";
import type { Diagnostic, Typecheck } from "./typecheck/index.ts";

/** What the compiler says of a snippet. */
export interface TypeVerdict {
  /** What it is certain of. */
  readonly violations: readonly Violation[];
  /** What it would be certain of if results always were as they have been so far. */
  readonly notes: readonly string[];
}

/** Asks the compiler about a snippet that the gatekeeper has let through. */
export type CheckTypes = (snippet: Snippet, program: Program, catalog: Catalog) => Promise<TypeVerdict>;

const NOTHING_WRONG: TypeVerdict = { violations: [], notes: [] };

/** Without a compiler nothing is wrong. */
export const NO_TYPES: CheckTypes = async () => NOTHING_WRONG;

/**
 * What the compiler is certain of becomes a violation; when it is cold or late, the snippet goes on without it. What it
 * says only because of types that were learned becomes a note.
 */
export function checkTypesWith(typecheck: Typecheck, discovery: Discovery): CheckTypes {
  async function certain(code: string, types: string): Promise<readonly Diagnostic[]> {
    const result = await typecheck.check({ code, declarations: types });
    if (result.kind === "checked") return result.diagnostics.filter((diagnostic) => diagnostic.certain);
    if (result.why === "cold") void typecheck.warmUp();
    return [];
  }

  return async (snippet, { paths }, catalog) => {
    const skills = [...new Set(paths.flatMap((path) => catalog.method(path)?.skill ?? []))];
    if (snippet.kind !== "program" || skills.length === 0) return NOTHING_WRONG;
    const [promised, learned] = [declarations(catalog, skills), discovery.declarations(catalog, skills)];
    const all = await certain(snippet.text, learned);
    const sure = learned === promised || all.length === 0 ? all : await certain(snippet.text, promised);
    const places = placesOf(snippet.source);
    const violationOf = (diagnostic: Diagnostic): Violation => violationAt(places, findingOf(diagnostic));
    const isSure = ({ start, code }: Diagnostic): boolean =>
      sure.some((one) => one.start === start && one.code === code);
    return {
      violations: sure.map(violationOf),
      notes: all.filter((each) => !isSure(each)).map((each) => noteOf(violationOf(each))),
    };
  };
}

function noteOf({ message, line, column }: Violation): string {
  return `Line ${line}, column ${column + 1}, by the results so far: ${message}`;
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
