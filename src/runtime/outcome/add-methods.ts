import type { Outcome } from "../../model/outcome.ts";
import type { Plan } from "../../model/plan.ts";
import { methodLines } from "../../registry/index.ts";
import type { RunRequest, RunServices } from "../execution/run-services.ts";

/** Maximum methods that a refusal or an error describes. */
const MAX_METHODS = 8;
const MAX_METHODS_OF_ERROR = 3;

/** Adds to a refusal or an error the declarations of the methods that the program uses, with the types of their results. */
export function addMethods(
  outcome: Outcome,
  plan: Plan,
  { catalog, caller }: RunRequest,
  { discovery }: Pick<RunServices, "discovery">,
): Outcome {
  const paths = new Set(outcome.kind === "refused" ? plan.map(({ path }) => path) : findPathsOfError(outcome));
  const methods = [...paths].slice(0, MAX_METHODS).flatMap((path) => catalog.method(path) ?? []);
  const lines = methodLines(catalog, methods, discovery.observedFor(caller));
  return lines === "" ? outcome : { ...outcome, text: `${outcome.text}\n\n${lines}` };
}

/** The method that failed, or those whose results the program misread. Errors that the program throws itself have no hint. */
function findPathsOfError(outcome: Outcome): readonly string[] {
  if (outcome.kind !== "failed") return [];
  const { code, hint, skill, method } = outcome.error;
  // The message of invalid arguments has the signature.
  if (code === "ARGUMENTS_INVALID") return [];
  if (skill !== undefined && method !== undefined) return [`${skill}.${method}`];
  if (code !== "THROWN" || hint === "") return [];
  const answered = outcome.calls.filter((call) => call.outcome === "ok").map((call) => `${call.skill}.${call.method}`);
  return [...new Set(answered)].slice(-MAX_METHODS_OF_ERROR);
}
