import type { ErrorObject, Options } from "ajv";

import type { JsonSchema } from "../model/json.ts";
import { TIMED_OUT, runSyncWithTimeout } from "../shared/run-with-timeout.ts";
import type { TimeBudget } from "./time-budget.ts";
import { compileForDraft } from "./ajv-drafts.ts";
import { createPattern, PatternTimeout, type Pattern } from "./patterns.ts";

/** Weight of the value times length of the schema that is certainly done with in a millisecond: it needs no watch. */
const UNWATCHED_WORK = 13_000;

/** Keywords with which a short schema can ask for endless work. */
const HEAVY_KEYWORDS = /"(?:\$ref|\$dynamicRef|\$recursiveRef|uniqueItems)"/;

/** A schema that has been made ready. */
export interface CompiledCheck {
  /** Why not all of the schema is checked; empty if all of it is. */
  readonly note: string;
  /**
   * What is wrong with a value of some weight; `TIMED_OUT` if that takes too long to find out. The value gets its defaults
   * where they were asked for.
   */
  errorsIn(value: unknown, weight: number): readonly ErrorObject[] | typeof TIMED_OUT;
  /** Why a text could not be tested against a pattern of the schema, if it could not. */
  patternFault(source: string, text: string): string | undefined;
}

/**
 * Makes a schema ready by the rules of its `$schema`: 2020-12 unless it says otherwise, and draft-07 where it says nothing
 * and is no 2020-12. References out of the schema are never fetched. Any schema will do: of one that does not compile, the
 * properties that do are still checked, and the names.
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
      if (error instanceof RangeError) return []; // The schema leads to itself in a circle, and so asks for nothing.
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

/** The registry has bounded the schema; that its keywords make sense is found out by compiling it. */
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
