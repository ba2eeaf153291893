/** At most `maxCalls` in any period of `lengthMs`. */
export interface CallWindow {
  /** Identifies the calls that are counted together. */
  readonly key: string;
  readonly maxCalls: number;
  readonly lengthMs: number;
}

/** A window without space for another call: its place in the list, and the milliseconds until it has space. */
export interface FullWindow {
  readonly index: number;
  readonly waitMs: number;
}

/** Counts calls. The one below counts for this process; one over a shared store counts for several. */
export interface CallCounter {
  /**
   * Counts a call in all windows, or in none if one of them is full; returns that one. Atomic: of simultaneous calls no
   * more pass than a window has space for.
   */
  take(windows: readonly CallWindow[]): FullWindow | undefined | Promise<FullWindow | undefined>;
}

/** Windows without a recent call are removed when there are more than this. */
const MAX_WINDOWS = 10_000;

interface CountedCalls {
  /** In milliseconds, the oldest first. */
  readonly times: number[];
  lengthMs: number;
}

/** Counts in memory, by the times of the calls. */
export function createCallCounter(now: () => number): CallCounter {
  const counted = new Map<string, CountedCalls>();

  function findWaitMs({ key, maxCalls, lengthMs }: CallWindow): number {
    // The window has space when the oldest call that fills it is as old as the window is long.
    const first = counted.get(key)?.times.at(-maxCalls);
    return first === undefined ? 0 : first + lengthMs - now();
  }

  function count({ key, maxCalls, lengthMs }: CallWindow): void {
    if (counted.size >= MAX_WINDOWS) removeUnused();
    const calls = counted.get(key) ?? { times: [], lengthMs };
    calls.lengthMs = lengthMs;
    calls.times.push(now());
    if (calls.times.length > 2 * maxCalls) calls.times.splice(0, calls.times.length - maxCalls);
    counted.set(key, calls);
  }

  function removeUnused(): void {
    for (const [key, { times, lengthMs }] of counted) if ((times.at(-1) ?? 0) + lengthMs <= now()) counted.delete(key);
  }

  return {
    take(windows) {
      for (const [index, window] of windows.entries()) {
        const waitMs = findWaitMs(window);
        if (waitMs > 0) return { index, waitMs };
      }
      windows.forEach(count);
      return undefined;
    },
  };
}
