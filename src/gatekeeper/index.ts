import { placesOf } from "../model/frame.ts";
import type { Violation } from "../model/outcome.ts";
import type { Plan } from "../model/plan.ts";
import type { Program, Snippet } from "../model/snippet.ts";
import { checkArguments } from "./arguments.ts";
import { LATER, insertAwaits } from "./awaits/insert-awaits.ts";
import { followDevice } from "./device.ts";
import type { Waits } from "./awaits/types.ts";
import { findEntry } from "./entry.ts";
import { checkGlobals } from "./globals.ts";
import { type Inspection, type Questions, withFewSearches } from "./inspection.ts";
import { markPatterns } from "./marks.ts";
import { planOf } from "./plan.ts";
import { writeEdits } from "./program.ts";
import { Report } from "./report.ts";
import { findResults, LATEST_ROUND, writeReturns } from "./result.ts";
import { resolveNames } from "./scopes.ts";
import { checkSyntax } from "./syntax.ts";
import { refuseToolCalls } from "./tool-calls.ts";

export type { Questions } from "./inspection.ts";

/** What may become of a snippet. There is a program exactly if there are no violations. */
export interface Verdict {
  readonly violations: readonly Violation[];
  readonly plan: Plan;
  /** Corrections that were made. */
  readonly notes: readonly string[];
  readonly program?: Program;
}

/**
 * Checks a snippet before anything of it runs: against the allowlist, against the catalog, and for what it will call. What
 * is only a habit of another language or system is corrected and noted; everything else that is wrong is told at once.
 * This is for good errors. Safety is a matter of the sandbox and of the host, which checks every call again.
 */
export function gatekeep(snippet: Snippet, questions: Questions): Verdict {
  switch (snippet.kind) {
    case "unreadable":
      return { violations: snippet.violations, plan: [], notes: [] };
    case "toolCalls":
      return { violations: [refuseToolCalls(snippet, questions)], plan: [], notes: [] };
    case "program":
      return inspect({
        snippet,
        scopes: resolveNames(snippet.tree),
        questions: withFewSearches(questions),
        report: new Report(),
      });
  }
}

function inspect(inspection: Inspection): Verdict {
  const { snippet, report } = inspection;
  const { catalog } = inspection.questions;
  const facts = checkSyntax(inspection);
  const entry = findEntry(inspection);
  const { uses, paths, understood } = followDevice(inspection, entry?.parameters ?? []);
  const args = checkArguments(uses, inspection);
  const explained = new Set([...understood, ...args.keywordNames]);
  const undeclared = checkGlobals(inspection, { explained, imported: facts.imported });
  const results = entry === undefined ? findResults(inspection) : { statements: [], loops: [] };
  const { blocking, hasLater, mayForget, isExplicit } = insertAwaits(
    { uses, facts, results: results.statements, entry: entry?.func },
    inspection,
  );
  writeReturns(results, inspection);
  markPatterns(inspection);
  const places = placesOf(snippet.source);
  const plan = planOf(uses, { args, blocking, places }, inspection);
  const notes = [...snippet.notes, ...report.notes()];
  if (!report.clean) return { violations: report.violations(places), plan, notes };
  const waits = plan.flatMap(({ blocking: isWait, line }) => (isWait ? [line] : []));
  const readOnly = [...paths].filter((path) => catalog.method(path)?.metadata.readOnly === true);
  const variables = results.loops.length > 0 ? [...undeclared, LATEST_ROUND] : undeclared;
  const around = surroundings(variables, entry?.closing ?? "", { hasLater, mayForget, isExplicit });
  const written = writeEdits(snippet.text, [...snippet.edits, ...report.edits], around);
  return { violations: [], plan, notes, program: { ...written, paths: [...paths], readOnly, waits } };
}

/** The snippet gets a block of its own, as it may declare names that the function around it has as well. */
function surroundings(
  variables: readonly string[],
  start: string,
  { hasLater, mayForget, isExplicit }: Pick<Waits, "hasLater" | "mayForget" | "isExplicit">,
): { readonly opening: string; readonly closing: string } {
  const declared = variables.length > 0 ? `let ${variables.join(", ")};` : "";
  const plain = { opening: `{${isExplicit ? "" : `__waitForCalls(${mayForget});`}${declared}`, closing: `${start}\n}` };
  if (!hasLater) return plain;
  return {
    opening: `{const ${LATER} = [], ${LATER}Result = await (async () => ${plain.opening}`,
    closing: `${plain.closing})();await Promise.all(${LATER});return ${LATER}Result;}`,
  };
}
