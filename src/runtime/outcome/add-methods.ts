import type { Catalog, Method } from "../../model/catalog.ts";
import type { CallRecord, Outcome } from "../../model/outcome.ts";
import type { Plan } from "../../model/plan.ts";
import { getEffectKnowledge } from "../../model/tools/effects.ts";
import { methodLines } from "../../registry/index.ts";
import { NO_OUTPUT } from "./answer-text.ts";
import { describeUnusedResults } from "./unused-results.ts";
import type { RunRequest, RunServices } from "../execution/run-services.ts";

/** Maximum methods that a refusal or an error describes. */
const MAX_METHODS = 8;
const MAX_METHODS_OF_ERROR = 3;

/**
 * Adds the declarations of the methods that the program uses, with the types of their results, to a refusal, an error, and a run
 * that only read and whose result is undefined: it has guessed a member that is not there. Another run without an answer gets
 * the types of the results that it did not use.
 */
export function addMethods(
  outcome: Outcome,
  { plan, source }: { readonly plan: Plan; readonly source: string },
  { catalog, caller }: Pick<RunRequest, "catalog" | "caller">,
  { discovery }: Pick<RunServices, "discovery">,
): Outcome {
  const paths = new Set(outcome.kind === "refused" ? plan.map(({ path }) => path) : findMisreadPaths(outcome, catalog));
  const methods = [...paths].slice(0, MAX_METHODS).flatMap((path) => catalog.method(path) ?? []);
  const lines = methodLines(catalog, methods, discovery.observedFor(caller));
  if (lines !== "") return { ...outcome, text: `${outcome.text}\n\n${lines}` };
  const unused = describeUnusedResults(outcome, source, { catalog, caller }, discovery);
  return unused.length === 0 ? outcome : { ...outcome, text: [outcome.text, ...unused].join("\n") };
}

/** The method that failed, or those whose results the program misread. Errors that the program throws itself have no hint. */
function findMisreadPaths(outcome: Outcome, catalog: Catalog): readonly string[] {
  if (outcome.kind === "completed" && outcome.text.startsWith(NO_OUTPUT)) {
    const paths = findAnsweredPaths(outcome.calls);
    return paths.every((path) => isRead(catalog.method(path))) ? paths.slice(-MAX_METHODS_OF_ERROR) : [];
  }
  if (outcome.kind !== "failed") return [];
  const { code, hint, skill, method } = outcome.error;
  // The message of invalid arguments has the signature.
  if (code === "ARGUMENTS_INVALID") return [];
  if (skill !== undefined && method !== undefined) return [`${skill}.${method}`];
  if (code !== "THROWN" || hint === "") return [];
  return findAnsweredPaths(outcome.calls).slice(-MAX_METHODS_OF_ERROR);
}

function findAnsweredPaths(calls: readonly CallRecord[]): readonly string[] {
  const answered = calls.filter((call) => call.outcome === "ok").map((call) => `${call.skill}.${call.method}`);
  return [...new Set(answered)];
}

function isRead(method: Method | undefined): boolean {
  return method !== undefined && ["none", "unlikely"].includes(getEffectKnowledge(method));
}
