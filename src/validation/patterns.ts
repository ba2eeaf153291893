import { compilePattern } from "../shared/json/compile-pattern.ts";
import { TIMED_OUT, runSyncWithTimeout } from "../shared/run-with-timeout.ts";
import type { TimeBudget } from "./time-budget.ts";
import { quote } from "../shared/format-text.ts";

/** Up to this length even the worst pattern finishes quickly. */
const SHORT_TEXT = 16;

/** Up to this length a pattern without nested repetition finishes quickly. */
export const MIDDLE_TEXT = 200;

/** A pattern of a schema. A text that is not a regular expression, or that takes too long, matches nothing. */
export interface Pattern {
  test(text: string): boolean;
  /** Returns why this text could not be tested; `undefined` if it could. */
  faultFor(text: string): string | undefined;
}

/** Thrown when the time for the whole validation is used up. */
export class PatternTimeout extends Error {}

export function createPattern(source: string, budget: TimeBudget): Pattern {
  const regExp = compilePattern(source);
  const name = quote(source, 80);
  if (regExp === undefined)
    return {
      test: () => false,
      faultFor: () => `cannot be checked: the pattern ${name} is not a regular expression`,
    };
  const shortUnits = mayBacktrack(source) ? SHORT_TEXT : MIDDLE_TEXT;
  const { test, isTooSlow } = createTextTest((text) => regExp.test(text), shortUnits, budget);
  return {
    test,
    faultFor: (text) =>
      isTooSlow(text) ? `cannot be checked: the pattern ${name} takes too long on this value` : undefined,
  };
}

/** A test of texts that takes bounded time: where it takes too long, it is false. Texts of at most `shortUnits` are not watched. */
export function createTextTest(
  matches: (text: string) => boolean,
  shortUnits: number,
  budget: TimeBudget,
): { readonly test: (text: string) => boolean; readonly isTooSlow: (text: string) => boolean } {
  // Halved by each test that takes too long: a hostile text costs the host at most a second, however often it is sent.
  let testedUnits = Infinity;
  const isTooSlow = (text: string): boolean => text.length > testedUnits;
  return {
    isTooSlow,
    test(text) {
      if (isTooSlow(text)) return false;
      if (text.length <= shortUnits) return matches(text);
      const leftMs = budget.leftMs("pattern");
      if (leftMs === 0) throw new PatternTimeout();
      const isMatch = runSyncWithTimeout(leftMs, () => matches(text));
      if (isMatch !== TIMED_OUT) return isMatch;
      testedUnits = Math.floor(text.length / 2);
      if (budget.countLate()) throw new PatternTimeout();
      return false;
    },
  };
}

/** True for repeated groups, references to groups, or more than two repetitions; errs on the side of caution. */
function mayBacktrack(source: string): boolean {
  if (/\)[*+?{]|\\[1-9k]/.test(source)) return true;
  return (source.match(/[*+]|\{\d*,/g) ?? []).length > 2;
}
