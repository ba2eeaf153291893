import { sentence, SkillgateError } from "../../errors.ts";
import type { QueryProblem } from "../skill.ts";

/** Problems of one query that a message shows. */
const MAX_SHOWN_PROBLEMS = 5;

/** Creates the error for a query with mistakes: `Cannot send this query: TrackerGraph.query, line 1, column 3: … (QUERY_INVALID)`. */
export function createQueryError(
  method: { readonly skill: string; readonly name: string },
  text: string,
  problems: readonly QueryProblem[],
): SkillgateError {
  const texts = problems.slice(0, MAX_SHOWN_PROBLEMS).map((problem) => formatQueryProblem(problem, text));
  const more = problems.length > texts.length ? [`and ${problems.length - texts.length} more`] : [];
  const message = sentence("QUERY_INVALID", `${method.skill}.${method.name}: ${[...texts, ...more].join("; ")}`);
  return new SkillgateError("QUERY_INVALID", message, { skill: method.skill, method: method.name, problems: texts });
}

/** `line 1, column 3 of the text: Cannot query field "titel" on type "Issue"; did you mean "title"?` */
export function formatQueryProblem({ message, range }: QueryProblem, text: string): string {
  if (range === undefined) return message;
  const before = text.slice(0, range[0]).split("\n");
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1} of the text: ${message}`;
}
