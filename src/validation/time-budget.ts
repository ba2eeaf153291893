import { DEFAULT_TIMEOUTS } from "../model/timeouts.ts";

/**
 * What validation is made of: when a part is over at the latest, and what one piece of it may take. A schema is made ready
 * once, in four fifths of the time for a validation; a fifth is for checking the arguments of one call.
 */
const PARTS = {
  schema: { endMs: 2_000, pieceMs: 1_000 },
  properties: { endMs: 3_000, pieceMs: 1_000 },
  rest: { endMs: 4_000, pieceMs: 1_000 },
  check: { endMs: 1_000, pieceMs: 150 },
  pattern: { endMs: 1_000, pieceMs: 50 },
} as const satisfies Record<string, { readonly endMs: number; readonly pieceMs: number }>;

/** The time of a validation (X8). The host does nothing else meanwhile, so the pieces are short. */
export interface TimeBudget {
  /** A schema is about to be made ready, or arguments are to be checked. */
  start(): void;
  /** What the next piece of a part may take; nothing is left of a part that is over. */
  leftMs(part: keyof typeof PARTS): number;
}

/** A longer time than the usual makes every part longer; a shorter one cuts checks only: half a schema would let all pass. */
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
