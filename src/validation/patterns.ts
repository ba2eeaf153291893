import { TIMED_OUT, runSyncWithTimeout } from "../shared/run-with-timeout.ts";
import type { TimeBudget } from "./time-budget.ts";

const PATTERN_CHARACTERS = 10_000;

/** Up to here the worst pattern is done in no time. */
const SHORT_TEXT = 16;

/** Up to here a pattern without nested repetition is done in no time. */
const MIDDLE_TEXT = 200;

/** A pattern of a schema. It can be any text at all: what is no regular expression, or never ends, matches nothing. */
export interface Pattern {
  test(text: string): boolean;
  /** Why this text could not be tested, if it could not. */
  faultFor(text: string): string | undefined;
  /** What ajv tells patterns apart by. */
  toString(): string;
}

/** The time for the whole validation is over. */
export class PatternTimeout extends Error {}

export function createPattern(source: string, budget: TimeBudget): Pattern {
  const regExp = compiled(source);
  const safe = !mayBacktrack(source);
  // Halved by each test that took too long: however often a hostile text is sent, its pattern costs the host a second.
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
    if (regExp === undefined) return `cannot be checked: the pattern ${shown(source)} is not a regular expression`;
    return text.length > testedCharacters
      ? `cannot be checked: the pattern ${shown(source)} takes too long on this value`
      : undefined;
  }

  return { test, faultFor, toString: () => `/${source}/` };
}

/** In Unicode mode as JSON Schema asks, else in the older one, which forgives needless escapes. */
function compiled(source: string): RegExp | undefined {
  if (source.length > PATTERN_CHARACTERS) return undefined;
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(source, flags);
    } catch {
      // Not in this mode; the caller is told when it is not in the other one either.
    }
  }
  return undefined;
}

/** Errs on the side of caution: repeated groups, references to groups, or more than two repetitions. */
function mayBacktrack(source: string): boolean {
  if (/\)[*+?{]|\\[1-9k]/.test(source)) return true;
  return (source.match(/[*+]|\{\d*,/g) ?? []).length > 2;
}

function shown(source: string): string {
  return JSON.stringify(source.length > 80 ? `${source.slice(0, 79)}…` : source);
}
