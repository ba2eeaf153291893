import { setTimeout as wait } from "node:timers/promises";

import { isLost, isUnsent } from "./postgres-errors.ts";

/** Milliseconds that an operation waits for a server that cannot be reached, as while it restarts. */
export const MAX_OUTAGE_MS = 5_000;

const MIN_PAUSE_MS = 10;
const MAX_PAUSE_MS = 200;

/** How an operation is repeated. */
export interface RepeatOptions {
  /** True if the operation has the same effect when it is carried out twice. */
  readonly canRepeat: boolean;
  /** Ends the attempts. */
  readonly signal: AbortSignal;
}

/**
 * Runs an operation again while the server cannot be reached: one that was not sent, and one that can be repeated. Rejects with
 * the last error after `MAX_OUTAGE_MS`.
 */
export async function repeatWhileOffline<Result>(
  work: () => PromiseLike<Result>,
  { canRepeat, signal }: RepeatOptions,
): Promise<Result> {
  const until = performance.now() + MAX_OUTAGE_MS;
  for (let pauseMs = MIN_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      const isPassing = isUnsent(error) || (canRepeat && isLost(error));
      if (!isPassing || signal.aborted || performance.now() > until) throw error;
    }
    // The next attempt fails at once if the store was closed in the meantime.
    await wait(pauseMs, undefined, { signal }).catch(() => {});
  }
}
