import { quote } from "../shared/format-text.ts";
import type { JsonSchema } from "../model/json.ts";
import { TIMED_OUT } from "../shared/run-with-timeout.ts";
import type { TimeBudget } from "./time-budget.ts";
import { PatternTimeout } from "./patterns.ts";
import { Evaluation, type Finding, WorkLimit } from "./schema/evaluation.ts";
import { SchemaDocument } from "./schema/schema-document.ts";

/** Finds the errors of values against a schema. */
export interface ErrorFinder {
  /** Why part of the schema is not checked; empty if all of it is. */
  readonly note: string;
  /**
   * Returns the errors of a value of the given weight, or `TIMED_OUT`. Fills defaults into the value if it was
   * created with `useDefaults`.
   */
  errorsIn(value: unknown, weight: number): readonly Finding[] | typeof TIMED_OUT;
  /** Returns why a text could not be tested against a pattern; `undefined` if it could. */
  patternFault(source: string, text: string): string | undefined;
}

/**
 * Reads a schema of any draft from 6 to 2020-12. External references are never fetched. A part of the schema with
 * a mistake accepts every value. Takes little time, also for the largest schema: its parts are read when a value needs them.
 */
export function createErrorFinder(schema: JsonSchema, useDefaults: boolean, budget: TimeBudget): ErrorFinder {
  const document = new SchemaDocument(schema, budget);
  const fault = document.findFault();

  return {
    note: fault === undefined ? "" : `part of its schema cannot be checked: ${quote(fault, 200)}`,
    errorsIn(value, weight) {
      budget.start();
      const run = new Evaluation(weight, useDefaults, budget);
      try {
        document.root.evaluate(value, undefined, run);
        return run.findings;
      } catch (error) {
        if (error instanceof PatternTimeout || error instanceof WorkLimit) return TIMED_OUT;
        throw error;
      }
    },
    patternFault: (source, text) => document.findPatternFault(source, text),
  };
}
