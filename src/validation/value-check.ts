import { formatProblem } from "../model/arguments.ts";
import type { JsonSchema } from "../model/json.ts";
import { DEFAULT_TIMEOUTS } from "../model/timeouts.ts";
import { TIMED_OUT } from "../shared/run-with-timeout.ts";
import { createErrorFinder } from "./error-finder.ts";
import { problemFrom } from "./problems.ts";
import type { Finding } from "./schema/evaluation.ts";
import { measure } from "./size.ts";
import { NOTHING_UNKNOWN, summarizeErrors } from "./summarize-errors.ts";
import { createTimeBudget } from "./time-budget.ts";

/** At most this many errors of a value are reported. */
const REPORTED_PROBLEMS = 3;

/** Returns what is wrong with a value, by its places; `undefined` if nothing is. */
export type ValueCheck = (value: unknown) => string | undefined;

/** Creates a check of values. A schema that cannot be checked as a whole, or takes too long, is a problem of each value. */
export function createValueCheck(schema: JsonSchema, validationMs: number = DEFAULT_TIMEOUTS.validationMs): ValueCheck {
  const check = createErrorFinder(schema, false, createTimeBudget(validationMs));
  if (check.note !== "") return () => check.note;
  return (value) => {
    const errors = check.errorsIn(value, measure(value).weight);
    if (errors === TIMED_OUT) return "it takes too long to check against its schema";
    return errors.length === 0 ? undefined : describeErrors(errors, value);
  };
}

/** `"city" must be a string, not 5; "days" is required` */
export function describeErrors(errors: readonly Finding[], value: unknown): string {
  const findings = summarizeErrors(errors.slice(0, 100), NOTHING_UNKNOWN);
  const problems = findings
    .slice(0, REPORTED_PROBLEMS)
    .map((finding) => formatProblem(problemFrom(finding, value), "it"));
  return problems.join("; ");
}
