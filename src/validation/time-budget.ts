import { DEFAULT_TIMEOUTS } from "../model/timeouts.ts";

/** Milliseconds of a validation, of which the test of one text against one pattern may take a part. */
const WHOLE_MS = 1_000;
const PATTERN_MS = 25;

/** Patterns of one validation that may take too long. */
const MAX_LATE = 2;

/** The time of a validation, which blocks the host. */
export interface TimeBudget {
  /** Starts the clock, before a value is checked. */
  start(): void;
  /** Returns the time that is left for the whole, or for the next test of a pattern; 0 if it is over. */
  leftMs(part: "whole" | "pattern"): number;
  /** Counts a pattern that took too long. Returns true if there were too many. */
  countLate(): boolean;
}

/** A time above the default extends both; a shorter one shortens the whole. */
export function createTimeBudget(validationMs: number): TimeBudget {
  const scale = Math.max(1, validationMs / DEFAULT_TIMEOUTS.validationMs);
  let startedAt = performance.now();
  let late = 0;
  return {
    start() {
      startedAt = performance.now();
      late = 0;
    },
    leftMs(part) {
      const wholeMs = Math.min(validationMs, WHOLE_MS * scale) + startedAt - performance.now();
      return Math.max(0, part === "pattern" ? Math.min(PATTERN_MS * scale, wholeMs) : wholeMs);
    },
    countLate: () => ++late >= MAX_LATE,
  };
}
