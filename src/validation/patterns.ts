import { TIMED_OUT, runSyncWithTimeout } from "../shared/run-with-timeout.ts";
import type { TimeBudget } from "./time-budget.ts";
import { quote } from "../shared/format-text.ts";

const PATTERN_CHARACTERS = 10_000;

/** Up to this length even the worst pattern finishes quickly. */
const SHORT_TEXT = 16;

/** Up to this length a pattern without nested repetition finishes quickly. */
const MIDDLE_TEXT = 200;

/** A pattern of a schema. A text that is not a regular expression, or that takes too long, matches nothing. */
export interface Pattern {
  test(text: string): boolean;
  /** Returns why this text could not be tested; `undefined` if it could. */
  faultFor(text: string): string | undefined;
  /** ajv identifies patterns by this text. */
  toString(): string;
}

/** Thrown when the time for the whole validation is used up. */
export class PatternTimeout extends Error {}

export function createPattern(source: string, budget: TimeBudget): Pattern {
  const regExp = compiled(source);
  const safe = !mayBacktrack(source);
  // Halved by each test that takes too long: a hostile text costs the host at most a second, however often it is sent.
  let testedCharacters = Infinity;

  function test(text: string): boolean {
    if (regExp === undefined || text.length > testedCharacters) return false;
    if (text.length <= (safe ? MIDDLE_TEXT : SHORT_TEXT)) return regExp.test(text);
    const leftMs = budget.leftMs("pattern");
    if (leftMs === 0) throw new PatternTimeout();
    const matches = runSyncWithTimeout(leftMs, () => regExp.test(text));
    if (matches === TIMED_OUT) testedCharacters = Math.floor(text.length / 2);
    return matches === true;
  }

  function faultFor(text: string): string | undefined {
    if (regExp === undefined) return `cannot be checked: the pattern ${quote(source, 80)} is not a regular expression`;
    return text.length > testedCharacters
      ? `cannot be checked: the pattern ${quote(source, 80)} takes too long on this value`
      : undefined;
  }

  return { test, faultFor, toString: () => `/${source}/` };
}

/** Compiles in Unicode mode, as JSON Schema requires, else in the older mode, which allows needless escapes. */
function compiled(source: string): RegExp | undefined {
  if (source.length > PATTERN_CHARACTERS) return undefined;
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(source, flags);
    } catch {
      // Invalid in this mode; a pattern that is invalid in both modes is reported by `faultFor`.
    }
  }
  return undefined;
}

/** True for repeated groups, references to groups, or more than two repetitions; errs on the side of caution. */
function mayBacktrack(source: string): boolean {
  if (/\)[*+?{]|\\[1-9k]/.test(source)) return true;
  return (source.match(/[*+]|\{\d*,/g) ?? []).length > 2;
}
