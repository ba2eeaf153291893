import type { ErrorObject, Options } from "ajv";

import type { JsonSchema } from "../model/json.ts";
import { TIMED_OUT, runSyncWithTimeout } from "../shared/run-with-timeout.ts";
import type { TimeBudget } from "./time-budget.ts";
import { compileForDraft } from "./ajv-drafts.ts";
import { createPattern, PatternTimeout, type Pattern } from "./patterns.ts";

/** Value weight times schema length that is certainly checked within a millisecond and needs no time limit. */
const UNWATCHED_WORK = 13_000;

/** Keywords with which a short schema can cause unbounded work. */
const HEAVY_KEYWORDS = /"(?:\$ref|\$dynamicRef|\$recursiveRef|uniqueItems)"/;

/** A compiled schema. */
export interface CompiledCheck {
  /** Why part of the schema is not checked; empty if all of it is. */
  readonly note: string;
  /**
   * Returns the errors of a value of the given weight, or `TIMED_OUT`. Fills defaults into the value if the schema was
   * compiled with `useDefaults`.
   */
  errorsIn(value: unknown, weight: number): readonly ErrorObject[] | typeof TIMED_OUT;
  /** Returns why a text could not be tested against a pattern; `undefined` if it could. */
  patternFault(source: string, text: string): string | undefined;
}

/**
 * Compiles a schema in the dialect of its `$schema`. Without `$schema` it is 2020-12, or draft-07 if that fails. External
 * references are never fetched. If a schema does not compile, its property names and the properties that compile on their
 * own are still checked.
 */
export function compile(schema: JsonSchema, useDefaults: boolean, budget: TimeBudget): CompiledCheck {
  const patterns = new Map<string, Pattern>();
  const options = { ...OPTIONS, useDefaults, code: { regExp: engineFor(patterns, budget) } };
  budget.start();
  const { find, note } = compileForDraft(schema, options, budget);
  const text = JSON.stringify(schema);
  const heavy = HEAVY_KEYWORDS.test(text);

  function errorsIn(value: unknown): readonly ErrorObject[] | typeof TIMED_OUT {
    try {
      return find(value);
    } catch (error) {
      if (error instanceof PatternTimeout) return TIMED_OUT;
      if (error instanceof RangeError) return []; // The schema refers to itself in a cycle and requires nothing.
      throw error;
    }
  }

  return {
    note,
    errorsIn(value, weight) {
      budget.start();
      const leftMs = budget.leftMs("check");
      if (!heavy && weight * text.length <= UNWATCHED_WORK * leftMs) return errorsIn(value);
      return runSyncWithTimeout(leftMs, () => errorsIn(value));
    },
    patternFault: (source, text) => patterns.get(source)?.faultFor(text),
  };
}

/** The registry has limited the size of the schema; compiling it reveals invalid keywords. */
const OPTIONS: Options = {
  strict: false,
  strictNumbers: true,
  allErrors: true,
  verbose: true,
  messages: false,
  ownProperties: true,
  meta: false,
  validateSchema: false,
  logger: false,
};

function engineFor(
  patterns: Map<string, Pattern>,
  budget: TimeBudget,
): NonNullable<NonNullable<Options["code"]>["regExp"]> {
  const engine = (source: string): Pattern => {
    const pattern = patterns.get(source) ?? createPattern(source, budget);
    patterns.set(source, pattern);
    return pattern;
  };
  return Object.assign(engine, { code: "createPattern" });
}
