import { DEFAULT_TIMEOUTS } from "../model/timeouts.ts";

/** The parts of a validation: the latest end of a part, and the maximum time of one piece of it. */
const PARTS = {
  check: { endMs: 1_000, pieceMs: 150 },
  pattern: { endMs: 1_000, pieceMs: 25 },
} as const satisfies Record<string, { readonly endMs: number; readonly pieceMs: number }>;

/** Patterns of one validation that may take too long. */
const MAX_LATE = 2;

/** The time of a validation. Validation blocks the host, so the pieces are short. */
export interface TimeBudget {
  /** Starts the clock, before a value is checked. */
  start(): void;
  /** Returns the time for the next piece of a part; 0 if the part is over. */
  leftMs(part: keyof typeof PARTS): number;
  /** Counts a pattern that took too long. Returns true if there were too many. */
  countLate(): boolean;
}

/** A time above the default extends every part; a shorter one shortens it. */
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
      const { endMs, pieceMs } = PARTS[part];
      const wholeMs = Math.min(validationMs, endMs * scale);
      return Math.max(0, Math.min(pieceMs * scale, startedAt + wholeMs - performance.now()));
    },
    countLate: () => ++late >= MAX_LATE,
  };
}
