import { placesOf } from "../model/frame.ts";
import type { Violation } from "../model/outcome.ts";
import type { Plan } from "../model/plan.ts";
import type { Program, Snippet } from "../model/snippet.ts";
import { checkArguments } from "./arguments.ts";
import { followDevice } from "./device.ts";
import { findEntry } from "./entry.ts";
import { checkGlobals } from "./globals.ts";
import type { Inspection, Questions } from "./inspection.ts";
import { planOf } from "./plan.ts";
import { writeEdits } from "./program.ts";
import { Report } from "./report.ts";
import { findResults, LATEST_ROUND, writeReturns } from "./result.ts";
import { resolveNames } from "./scopes.ts";
import { checkSyntax } from "./syntax.ts";
import { refuseToolCalls } from "./tool-calls.ts";
import { writeWaits } from "./waits.ts";

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
      return inspect({ snippet, scopes: resolveNames(snippet.tree), questions, report: new Report() });
  }
}

function inspect(inspection: Inspection): Verdict {
  const { snippet, report } = inspection;
  const facts = checkSyntax(inspection);
  const entry = findEntry(inspection);
  const { uses, paths, understood } = followDevice(inspection, entry?.parameters ?? []);
  const args = checkArguments(uses, inspection);
  const explained = new Set([...understood, ...args.keywordNames]);
  const undeclared = checkGlobals(inspection, { explained, imported: facts.imported });
  const results = entry === undefined ? findResults(inspection) : { statements: [], loops: [] };
  const blocking = writeWaits({ uses, args, facts, results: results.statements }, inspection);
  writeReturns(results, inspection);
  const places = placesOf(snippet.source);
  const plan = planOf(uses, { args, blocking, places }, inspection);
  const notes = [...snippet.notes, ...report.notes()];
  if (!report.clean) return { violations: report.violations(places), plan, notes };
  // A block of its own: the snippet may declare names that the function around it has as well.
  const variables = results.loops.length > 0 ? [...undeclared, LATEST_ROUND] : undeclared;
  const opening = variables.length > 0 ? `{let ${variables.join(", ")};` : "{";
  const written = writeEdits(snippet.text, [...snippet.edits, ...report.edits], {
    opening,
    closing: `${entry?.closing ?? ""}\n}`,
  });
  return { violations: [], plan, notes, program: { ...written, paths: [...paths] } };
}
