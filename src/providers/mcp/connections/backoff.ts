/** How often, and after which delay, a lost server is restarted. */
export interface RestartPolicy {
  readonly firstDelayMs: number;
  /** Each delay is twice the previous one, up to this limit. */
  readonly longestDelayMs: number;
  /** Maximum number of restarts within the window; after that, the server stays down. */
  readonly times: number;
  readonly windowMs: number;
}

export const RESTART_POLICY: RestartPolicy = {
  firstDelayMs: 1_000,
  longestDelayMs: 60_000,
  times: 5,
  windowMs: 300_000,
};

export interface Backoff {
  /** How long to wait before the next restart; `undefined` if there were too many. */
  next(): number | undefined;
}

export function createBackoff(policy: RestartPolicy, now: () => number = Date.now): Backoff {
  let restarts: readonly number[] = [];
  return {
    next() {
      const time = now();
      restarts = restarts.filter((restart) => time - restart < policy.windowMs);
      if (restarts.length >= policy.times) return undefined;
      const delayMs = Math.min(policy.firstDelayMs * 2 ** restarts.length, policy.longestDelayMs);
      restarts = [...restarts, time];
      return delayMs;
    },
  };
}
