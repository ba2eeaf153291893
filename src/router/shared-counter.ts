import { sentence, SkillgateError } from "../errors.ts";
import { type CountersInTurn, type Database, getPartMs, NOTED_PART_MS } from "../store/index.ts";
import type { CallWindow, FullWindow } from "./call-counter.ts";

/** Counts calls in the database, for all processes on it. */
export interface SharedCounter {
  /**
   * Counts a call in all windows, or in none if one of them is full; returns that one. Of simultaneous calls, no more pass
   * than a window has space for, in whatever process.
   */
  take(windows: readonly CallWindow[]): Promise<FullWindow | undefined>;
  /** Takes back a call that was counted but not made. */
  release(windows: readonly CallWindow[]): Promise<void>;
  /** Counts a use without a limit; the counts are kept for two days. Never rejects: the count is for people. */
  note(bucket: string): Promise<void>;
}

export function createSharedCounter(open: () => Promise<Pick<Database, "counters">>, now: () => number): SharedCounter {
  /** The milliseconds until a window has space; 0 if it has some. */
  async function findWaitMs(window: CallWindow, counters: CountersInTurn): Promise<number> {
    const { key, maxCalls, lengthMs } = window;
    const time = now();
    const partMs = getPartMs(window);
    const parts = await counters.list(key, time - lengthMs - partMs);
    if (sum(parts) < maxCalls) return 0;
    return Math.max(1, getFreeTime(parts, maxCalls, getStart(time, partMs)) + partMs + lengthMs - time);
  }

  async function takeInTurn(windows: readonly CallWindow[], counters: CountersInTurn): Promise<FullWindow | undefined> {
    for (const [index, window] of windows.entries()) {
      const waitMs = await findWaitMs(window, counters);
      if (waitMs > 0) return { index, waitMs };
    }
    await addAll(windows, counters, 1);
    return undefined;
  }

  /** Adds 1 or -1 to the present part of each window. */
  async function addAll(windows: readonly CallWindow[], counters: CountersInTurn, amount: 1 | -1): Promise<void> {
    for (const window of windows) {
      const start = getStart(now(), getPartMs(window));
      await counters.add({ bucket: window.key, start, expires: start + 2 * window.lengthMs }, amount);
    }
  }

  let nextSweep = 0;
  async function take(windows: readonly CallWindow[]): Promise<FullWindow | undefined> {
    const { counters } = await open();
    if (now() >= nextSweep) {
      nextSweep = now() + SWEEP_MS;
      await counters.expire(now());
    }
    const buckets = windows.map(({ key }) => key);
    return counters.useInTurn(buckets, (inTurn) => takeInTurn(windows, inTurn));
  }

  async function release(windows: readonly CallWindow[]): Promise<void> {
    const { counters } = await open();
    await addAll(windows, counters, -1);
  }

  return {
    take: (windows) => take(windows).catch(throwWithoutPlace),
    release: (windows) => release(windows).catch(throwWithoutPlace),
    async note(bucket) {
      const start = getStart(now(), NOTED_PART_MS);
      try {
        const { counters } = await open();
        await counters.add({ bucket, start, expires: start + NOTED_MS });
      } catch {
        // The use is not counted.
      }
    },
  };
}

/** A guest reads the kind of a failure of the store, but not its place. */
function throwWithoutPlace(error: unknown): never {
  const code = error instanceof SkillgateError ? error.code : "STORE_UNAVAILABLE";
  const message = sentence(code, "the call has a limit, and cannot be counted");
  throw new SkillgateError(code, message, {}, { cause: error });
}

const NOTED_MS = 2 * 86_400_000;

/** Milliseconds between two deletions of counters that are no longer used. */
const SWEEP_MS = 600_000;

function getStart(time: number, partMs: number): number {
  return Math.floor(time / partMs) * partMs;
}

interface CountedPart {
  readonly start: number;
  readonly count: number;
}

function sum(parts: readonly CountedPart[]): number {
  return parts.reduce((total, { count }) => total + count, 0);
}

/** Returns the start of the part after whose end the window has space for one more call. */
function getFreeTime(parts: readonly CountedPart[], maxCalls: number, current: number): number {
  let excess = sum(parts) - maxCalls + 1;
  for (const { start, count } of parts) {
    excess -= count;
    if (excess <= 0) return start;
  }
  return current;
}
