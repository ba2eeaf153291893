/** Captured before the code of a skill can replace them. */
const { performance, setImmediate } = globalThis;

/** Polls between two reads of the clock, which makes garbage and takes longer than a poll. */
const POLLS = 100;
/** Waits that do not spin after one that spun without success: twice as many each time. */
const MIN_PAUSE = 4;
const MAX_PAUSE = 256;

/** Polls until `isReady`, for about `durationMs` milliseconds; once if that is 0. Returns false if it is not ready. */
export function spinUntil(isReady: () => boolean, durationMs: number): boolean {
  if (durationMs === 0) return isReady();
  const until = performance.now() + durationMs;
  do for (let poll = 0; poll < POLLS; poll++) if (isReady()) return true;
  while (performance.now() < until);
  return false;
}

/** Decides which waits may spin: the less often it has paid lately, the fewer. */
export class SpinBackoff {
  #skips = 0;
  #pause = MIN_PAUSE;

  /** Returns whether the wait that begins may spin. */
  begin(): boolean {
    return this.#skips-- <= 0;
  }

  /** Notes whether a wait that spun has met its event. */
  end(isReady: boolean): void {
    if (!isReady) this.#skips = this.#pause;
    this.#pause = isReady ? Math.max(MIN_PAUSE, this.#pause / 2) : Math.min(MAX_PAUSE, this.#pause * 2);
  }
}

/** A wait of this many times the spin and longer is one that spinning would not have met. */
const LONG_WAIT = 2;

/**
 * The waits of one kind in a thread that sleeps. They poll for up to `durationMs` milliseconds before they sleep, as long as
 * the last wait was short and polling has paid lately. With 0 they sleep at once.
 */
export class ThreadWait {
  readonly #durationMs: number;
  readonly #backoff = new SpinBackoff();
  #lastMs = 0;

  constructor(durationMs: number) {
    this.#durationMs = durationMs;
  }

  /** Blocks until `isReady`; `sleep` may return before. Returns the milliseconds that passed. */
  until(isReady: () => boolean, sleep: () => void, mayPoll = true): number {
    const since = performance.now();
    const isShort = this.#lastMs < LONG_WAIT * this.#durationMs;
    if (mayPoll && isShort && this.#backoff.begin()) this.#backoff.end(spinUntil(isReady, this.#durationMs));
    while (!isReady()) sleep();
    this.#lastMs = performance.now() - since;
    return this.#lastMs;
  }
}

/**
 * Keeps the event loop turning for `durationMs` milliseconds, because waking it up takes longer than most calls. Other work
 * on it continues. With 0 it does nothing.
 */
export class EventLoopSpin {
  readonly #durationMs: number;
  readonly #backoff = new SpinBackoff();
  #until = 0;
  #isTurning = false;

  constructor(durationMs: number) {
    this.#durationMs = durationMs;
  }

  /** Starts to spin: an event may follow soon. */
  begin(): void {
    if (this.#durationMs === 0 || !this.#backoff.begin()) return;
    this.#until = performance.now() + this.#durationMs;
    if (this.#isTurning) return;
    this.#isTurning = true;
    setImmediate(this.#poll);
  }

  /** Stops spinning: the event has arrived. */
  end(): void {
    if (this.#until > 0) this.#backoff.end(true);
    this.#until = 0;
  }

  readonly #poll = (): void => {
    if (performance.now() < this.#until) {
      setImmediate(this.#poll);
      return;
    }
    if (this.#until > 0) this.#backoff.end(false);
    this.#until = 0;
    this.#isTurning = false;
  };
}
