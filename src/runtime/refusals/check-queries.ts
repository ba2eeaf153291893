import { getMessage, SkillgateError } from "../../errors.ts";
import type { LiteralQuery } from "../../gatekeeper/index.ts";
import type { Violation } from "../../model/outcome.ts";
import { formatQueryProblem } from "../../model/requests/query-errors.ts";
import type { QueryProblem } from "../../model/skill.ts";
import type { TextOutput } from "../../registry/index.ts";
import { createSourceText, createViolation, type SourceFinding } from "../../shared/source-text.ts";
import type { RunnableProgram } from "../check-program.ts";

/** Violations of the texts of one program that are reported. */
const MAX_VIOLATIONS = 50;

/** A program whose literal texts were checked: their problems are among the violations, and their parts in the plan. */
export interface QueriedProgram extends RunnableProgram {
  /** The type of the result of each text, for the check of types. */
  readonly outputs: readonly TextOutput[];
}

/**
 * Checks the literal texts of a program against the schemas of their APIs, also of one that has other violations, so that a model
 * reads all its mistakes at once. Every place that checks a program does this.
 */
export async function checkQueries(checked: RunnableProgram, source: string): Promise<QueriedProgram> {
  const { queries = [], plan, violations, program, ...rest } = checked;
  if (queries.length === 0) return { ...checked, outputs: [] };
  const results = await Promise.all(queries.map(checkQuery));
  const partsBySite = new Map(results.map(({ query, parts }) => [query.site, parts]));
  const sourceText = createSourceText(source);
  const found = results.flatMap(({ findings }) => findings.map((finding) => createViolation(sourceText, finding)));
  const all = [...violations, ...found.slice(0, MAX_VIOLATIONS)].toSorted(comparePlaces);
  return {
    ...rest,
    queries,
    violations: all,
    plan: plan.map((site, at) => {
      const parts = partsBySite.get(at) ?? [];
      return parts.length === 0 ? site : { ...site, parts };
    }),
    outputs: results.flatMap(({ output }) => output ?? []),
    ...(program !== undefined && all.length === 0 && { program }),
  };
}

interface QueryResult {
  readonly query: LiteralQuery;
  readonly parts: readonly string[];
  readonly findings: readonly SourceFinding[];
  readonly output?: TextOutput;
}

async function checkQuery(query: LiteralQuery): Promise<QueryResult> {
  const { method, text, variables } = query;
  const { queryText } = method.definition;
  if (queryText === undefined) return { query, parts: [], findings: [] };
  try {
    const { problems, parts, output } = await queryText.check(text, variables);
    return {
      query,
      parts,
      findings: problems.map((problem) => toFinding(problem, query)),
      ...(output !== undefined && { output: { path: method.path, argument: queryText.argument, text, output } }),
    };
  } catch (error) {
    const isUnchecked = error instanceof SkillgateError && error.code === "QUERY_UNCHECKED";
    const { start, end } = query.literal;
    const reason = getMessage(error).replace(/^Cannot check the query: | \(QUERY_UNCHECKED\)$/g, "");
    const values = `${method.path}: ${isUnchecked ? reason : "its API cannot check it"}`;
    return { query, parts: [], findings: [{ code: "QUERY_UNCHECKED", values, start, end }] };
  }
}

/** The place of a problem inside the literal, where the program writes the text as it is; else the literal, and where in it. */
function toFinding(problem: QueryProblem, query: LiteralQuery): SourceFinding {
  const { method, literal, variablesRange, textStart, text } = query;
  const { range, suggestions, message } = problem;
  const isExact = range !== undefined && textStart !== undefined;
  const offsets =
    range === undefined
      ? { start: variablesRange.start, end: variablesRange.end }
      : textStart === undefined
        ? { start: literal.start, end: literal.end }
        : { start: textStart + range[0], end: textStart + range[1] };
  return {
    code: "QUERY_INVALID",
    values: `${method.path}: ${isExact ? message : formatQueryProblem(problem, text)}`,
    ...offsets,
    suggestions,
    ...(suggestions.length > 0 && { fix: `Write ${suggestions.join(" or ")}` }),
  };
}

function comparePlaces(a: Violation, b: Violation): number {
  return a.line - b.line || a.column - b.column;
}
