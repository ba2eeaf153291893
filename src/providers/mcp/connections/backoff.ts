/** After which delay a server that was lost, or cannot be reached, is tried again. */
export interface RestartPolicy {
  readonly firstDelayMs: number;
  /** Each delay is twice the previous one, up to this limit. */
  readonly longestDelayMs: number;
  /** After this number of crashes within the window, each further start waits for the longest delay. */
  readonly times: number;
  readonly windowMs: number;
}

export const RESTART_POLICY: RestartPolicy = {
  firstDelayMs: 1_000,
  longestDelayMs: 60_000,
  times: 5,
  windowMs: 300_000,
};

/** How a server has failed. */
export interface ServerFailure {
  /** Its process has ended, or did not start correctly. */
  readonly isCrash: boolean;
  /** It was connected before it failed. */
  readonly hasRun: boolean;
}

export interface Backoff {
  /** Counts a failure; returns how long to wait before the next try. */
  next(failure: ServerFailure): number;
  /** Forgets the failures to connect; crashes are forgotten after the window. */
  connected(): void;
  /** False if a call must not try at once: a try has just failed, or there were too many crashes. */
  readonly mayTryAtOnce: boolean;
}

export function createBackoff(policy: RestartPolicy, now: () => number = Date.now): Backoff {
  let crashes: readonly number[] = [];
  let failures = 0;
  let failedAt = -Infinity;
  const countCrashes = (): number => {
    const time = now();
    crashes = crashes.filter((crash) => time - crash < policy.windowMs);
    return crashes.length;
  };
  return {
    next({ isCrash, hasRun }) {
      if (isCrash) crashes = [...crashes, now()];
      else failures += 1;
      if (!hasRun) failedAt = now();
      const count = countCrashes();
      if (count >= policy.times) return policy.longestDelayMs;
      return Math.min(policy.firstDelayMs * 2 ** (count + failures - 1), policy.longestDelayMs);
    },
    connected() {
      failures = 0;
    },
    get mayTryAtOnce() {
      return countCrashes() < policy.times && now() - failedAt >= policy.firstDelayMs;
    },
  };
}
