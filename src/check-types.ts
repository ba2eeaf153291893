import type { Verdict } from "./gatekeeper/index.ts";
import type { Catalog, Method } from "./model/catalog.ts";
import { type Finding, type Places, placesOf, violationAt } from "./model/frame.ts";
import type { Violation } from "./model/outcome.ts";
import { type Plan, UNKNOWN } from "./model/plan.ts";
import type { Program, Snippet } from "./model/snippet.ts";
import { declarations } from "./registry/index.ts";
import type { Diagnostic, Typecheck } from "./typecheck/index.ts";

/** What the compiler says of a snippet that the gatekeeper has let through. */
export interface Opinion {
  /** What it is certain of. */
  readonly violations: readonly Violation[];
  /** What may be wrong. */
  readonly notes: readonly string[];
}

export type CheckTypes = (snippet: Snippet, verdict: Passed, catalog: Catalog) => Promise<Opinion>;

/** What the gatekeeper found in a snippet that may run. */
export type Passed = Pick<Verdict, "plan"> & { readonly program: Program };

const NO_OPINION: Opinion = { violations: [], notes: [] };

/** Without a compiler nothing is wrong. */
export const NO_TYPES: CheckTypes = async () => NO_OPINION;

/** The compiler takes a second of computing to load, which a program that runs a single snippet does not have to pay. */
const LOAD_AFTER_MS = 1_000;

/** Guesses that are told of one snippet. */
const MOST_GUESSES = 3;

/**
 * Lets the compiler look at snippets in which it may find something. Where it is not installed, still loading or late, they
 * run without. It is loaded a while after the first snippet, unless it is warm already.
 */
export function checkTypesWith(typecheck: Typecheck): CheckTypes {
  let loading: NodeJS.Timeout | undefined;
  return async (snippet, { plan, program }, catalog) => {
    if (!typecheck.isWarm) {
      loading ??= setTimeout(() => typecheck.load(), LOAD_AFTER_MS).unref();
      return NO_OPINION;
    }
    const methods = [...program.paths].flatMap((path) => catalog.method(path) ?? []);
    if (snippet.kind !== "program" || methods.length === 0 || isKnownWhole(plan, methods)) return NO_OPINION;
    const skills = new Set(methods.map(({ skill }) => skill));
    const result = await typecheck.check({ code: snippet.text, declarations: declarations(catalog, [...skills]) });
    return result.kind === "checked" ? opinionOf(result.diagnostics, placesOf(snippet.source)) : NO_OPINION;
  };
}

/** True where the gatekeeper has seen all arguments, and results can be anything: there is nothing left to find. */
function isKnownWhole(plan: Plan, methods: readonly Method[]): boolean {
  return (
    methods.every(({ output }) => output === undefined) &&
    plan.every(({ literalArguments }) => literalArguments !== undefined && !literalArguments.some(hasUnknown))
  );
}

function hasUnknown(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === UNKNOWN;
  return Object.values(value).some(hasUnknown);
}

function opinionOf(diagnostics: readonly Diagnostic[], places: Places): Opinion {
  const certain = diagnostics.filter((diagnostic) => diagnostic.certain);
  const guesses = diagnostics.filter((diagnostic) => !diagnostic.certain).slice(0, MOST_GUESSES);
  return {
    violations: certain.map((diagnostic) => violationAt(places, findingOf(diagnostic))),
    notes: guesses.map(({ start, message }) => `Line ${places.position(start).line} may be wrong: ${message}`),
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
