import { createSourceText } from "../shared/source-text.ts";
import type { Violation } from "../model/outcome.ts";
import type { Plan } from "../model/plan.ts";
import type { Program, ProgramSource } from "../model/program.ts";
import { checkArguments } from "./rules/arguments.ts";
import { LATER, insertAwaits } from "./awaits/insert-awaits.ts";
import { trackDevice } from "./rules/device.ts";
import type { Waits } from "./awaits/types.ts";
import { findFoundCalls } from "./rules/found-calls.ts";
import { findEntry } from "./emit/entry-point.ts";
import { checkGlobals } from "./rules/globals.ts";
import { type CheckContext, type Host, withSearchBudget } from "./context.ts";
import { markPositions } from "./emit/position-markers.ts";
import { createPlan, sortUses } from "./plan.ts";
import { applyEdits } from "./emit/apply-edits.ts";
import { Report } from "./report.ts";
import { findResults, LAST_ITERATION, writeReturns } from "./emit/completion-value.ts";
import { resolveNames } from "./ast/scopes.ts";
import { checkSyntax } from "./rules/syntax.ts";
import { listLiteralQueries, type LiteralQuery } from "./rules/query-texts.ts";
import { refuseToolCalls } from "./rules/tool-calls.ts";

export type { Host } from "./context.ts";
export type { LiteralQuery } from "./rules/query-texts.ts";
export { literalWithoutNames } from "./ast/literals.ts";
export { literalName, walk } from "./ast/walk.ts";
export { createPositionMap } from "./emit/apply-edits.ts";

/** The result of a check. `program` is set exactly if there are no violations. */
export interface Verdict {
  readonly violations: readonly Violation[];
  readonly plan: Plan;
  /** Corrections that were made. */
  readonly notes: readonly string[];
  readonly program?: Program;
  /** Texts of query languages that the program writes: their APIs check them. */
  readonly queries?: readonly LiteralQuery[];
}

/**
 * Checks a program before it runs: against the allowlist and against the catalog, and lists the calls that it will make.
 * Corrects and notes habits of other languages or systems; reports all other errors together.
 * The purpose is good error messages. Safety depends on the sandbox and on the host, which checks every call again.
 */
export function gatekeep(program: ProgramSource, host: Host): Verdict {
  switch (program.kind) {
    case "unreadable":
      return { violations: program.violations, plan: [], notes: [] };
    case "toolCalls":
      return { violations: [refuseToolCalls(program, host)], plan: [], notes: [] };
    case "program":
      return inspect({
        program,
        scopes: resolveNames(program.tree),
        host: withSearchBudget(host),
        report: new Report(),
      });
  }
}

function inspect(context: CheckContext): Verdict {
  const { program, report } = context;
  const { catalog } = context.host;
  const facts = checkSyntax(context);
  const entry = findEntry(context);
  const { uses: tracked, paths, deviceNames } = trackDevice(context, entry?.parameters ?? []);
  const uses = sortUses([...tracked, ...findFoundCalls(tracked, facts.calls, context)]);
  const args = checkArguments(uses, context);
  const explained = new Set([...deviceNames, ...args.keywordNames]);
  const undeclared = checkGlobals(context, { explained, imported: facts.imported });
  const results = entry === undefined ? findResults(context) : { statements: [], loops: [] };
  const { blocking, hasLater, mayForget, isExplicit } = insertAwaits(
    { uses, facts, results: results.statements, entry: entry?.func },
    context,
  );
  writeReturns(results, context);
  markPositions(context);
  const sourceText = createSourceText(program.source);
  const plan = createPlan(uses, { args, blocking, sourceText }, context);
  const notes = [...program.notes, ...report.notes()];
  const listed = listLiteralQueries(uses, args.argumentValues, context);
  const queries = listed.length > 0 ? { queries: listed } : {};
  if (!report.clean) return { violations: report.violations(sourceText), plan, notes, ...queries };
  const waits = plan.flatMap(({ blocking: isWait, line }) => (isWait ? [line] : []));
  const readOnly = [...paths].filter((path) => catalog.method(path)?.metadata.readOnly === true);
  const variables = results.loops.length > 0 ? [...undeclared, LAST_ITERATION] : undeclared;
  const around = createContext(variables, entry?.closing ?? "", { hasLater, mayForget, isExplicit });
  const written = applyEdits(program.text, [...program.edits, ...report.edits], around);
  return { violations: [], plan, notes, program: { ...written, paths: [...paths], readOnly, waits }, ...queries };
}

/** The code around the program. The program gets its own block, because it may declare names of the outer function. */
function createContext(
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
