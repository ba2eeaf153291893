import { DEFAULT_TIMEOUTS } from "../model/timeouts.ts";

/**
 * The parts of validation: the latest end of a part, and the maximum time of one piece of it. Compiling a schema, once, may
 * take four fifths of the time of a validation; checking the arguments of one call may take one fifth.
 */
const PARTS = {
  schema: { endMs: 2_000, pieceMs: 1_000 },
  properties: { endMs: 3_000, pieceMs: 1_000 },
  rest: { endMs: 4_000, pieceMs: 1_000 },
  check: { endMs: 1_000, pieceMs: 150 },
  pattern: { endMs: 1_000, pieceMs: 50 },
} as const satisfies Record<string, { readonly endMs: number; readonly pieceMs: number }>;

/** The time of a validation. Validation blocks the host, so the pieces are short. */
export interface TimeBudget {
  /** Starts the clock, before a schema is compiled or arguments are checked. */
  start(): void;
  /** Returns the time for the next piece of a part; 0 if the part is over. */
  leftMs(part: keyof typeof PARTS): number;
}

/** A time above the default extends every part; a shorter one shortens only the checks: half a schema would accept anything. */
export function createTimeBudget(validationMs: number): TimeBudget {
  const scale = Math.max(1, validationMs / DEFAULT_TIMEOUTS.validationMs);
  let startedAt = performance.now();
  return {
    start() {
      startedAt = performance.now();
    },
    leftMs(part) {
      const { endMs, pieceMs } = PARTS[part];
      const isCheck = part === "check" || part === "pattern";
      const wholeMs = isCheck ? Math.min(validationMs, endMs * scale) : endMs * scale;
      return Math.max(0, Math.min(pieceMs * scale, startedAt + wholeMs - performance.now()));
    },
  };
}
