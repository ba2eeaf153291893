/** Work that must be done, and is repeated until it succeeds. */
export interface RetryQueue {
  /**
   * Does work, and repeats it later if it fails. Resolves after the first attempt, and never rejects. Work with the same name is
   * the same: it has succeeded when one attempt has.
   */
  add(name: string, work: () => Promise<void>): Promise<void>;
  /** Repeats now what has failed: the reason for it has probably ended. */
  repeatNow(): void;
  /** Tries once more what has not succeeded, and does nothing later. */
  close(): Promise<void>;
}

export interface RetryOptions {
  /** Receives the first failure of each work, and its last one if it never succeeded. */
  readonly onFailure: (name: string, error: unknown) => void;
  /** Milliseconds before the first repetition. Each failure doubles them, up to `maxMs`. */
  readonly firstMs?: number;
  readonly maxMs?: number;
}

const FIRST_MS = 1_000;
const MAX_MS = 15_000;

/** Work that waits at the same time; further work is given up after its first failure. */
const MAX_WAITING = 10_000;

/** Failures after which the last attempts end: the process must end, too. */
const MAX_LAST_FAILURES = 3;

/** Creates a queue whose timer does not keep the process alive. */
export function createRetryQueue({ onFailure, firstMs = FIRST_MS, maxMs = MAX_MS }: RetryOptions): RetryQueue {
  const waiting = new Map<string, () => Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let delayMs = firstMs;
  let isClosed = false;
  let isRepeating = false;

  async function attempt(name: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      waiting.delete(name);
      return true;
    } catch (error) {
      if (!waiting.delete(name)) onFailure(name, error);
      // At the end of the queue, it does not hold up the others.
      if (waiting.size < MAX_WAITING) waiting.set(name, work);
      return false;
    }
  }

  /** Repeats work until some fails: then the rest would probably fail as well. */
  async function repeat(): Promise<void> {
    let hasFailed = false;
    isRepeating = true;
    for (const [name, work] of waiting) {
      hasFailed = !(await attempt(name, work));
      if (hasFailed) break;
    }
    delayMs = hasFailed ? Math.min(2 * delayMs, maxMs) : firstMs;
    isRepeating = false;
    timer = undefined;
    schedule();
  }

  function schedule(): void {
    if (isClosed || waiting.size === 0) return;
    timer ??= setTimeout(() => void repeat(), delayMs).unref();
  }

  return {
    async add(name, work) {
      await attempt(name, work);
      schedule();
    },
    repeatNow() {
      if (isClosed || isRepeating || waiting.size === 0) return;
      clearTimeout(timer);
      void repeat();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      let failures = 0;
      const last = new Map(waiting);
      waiting.clear();
      for (const [name, work] of last) if (failures < MAX_LAST_FAILURES && !(await attempt(name, work))) failures++;
      waiting.clear();
    },
  };
}
