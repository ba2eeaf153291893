import type { JsonSchema } from "../model/json.ts";
import { DEFAULT_TIMEOUTS } from "../model/timeouts.ts";
import { TIMED_OUT } from "../shared/run-with-timeout.ts";
import { createErrorFinder } from "./error-finder.ts";
import { createPattern, PatternTimeout } from "./patterns.ts";
import { measure } from "./size.ts";
import { createTimeBudget } from "./time-budget.ts";

/** Creates a check of generated values. It returns the JSON pointers at which a value is invalid; none if it took too long. */
export function createSchemaCheck(schema: JsonSchema): (value: unknown) => readonly string[] {
  const check = createErrorFinder(schema, false, createTimeBudget(DEFAULT_TIMEOUTS.validationMs));
  return (value) => {
    const errors = check.errorsIn(value, measure(value).weight);
    return errors === TIMED_OUT ? [] : [...new Set(errors.map(({ pointer }) => pointer))];
  };
}

/** Creates a test for a pattern of a schema; false for a text that takes too long. */
export function createPatternTest(source: string): (text: string) => boolean {
  const budget = createTimeBudget(DEFAULT_TIMEOUTS.validationMs);
  const pattern = createPattern(source, budget);
  budget.start();
  return (text) => {
    try {
      return pattern.test(text);
    } catch (error) {
      if (error instanceof PatternTimeout) return false;
      throw error;
    }
  };
}
