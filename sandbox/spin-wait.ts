/** Captured before the code of a skill can replace them. */
const { performance, setImmediate } = globalThis;

/** Polls between two reads of the clock, which makes garbage and takes longer than a poll. */
const POLLS = 100;
/** Waits that do not spin after one that spun without success. */
const BACKOFF_ROUNDS = 8;

/** Polls until `isReady`, for about `durationMs` milliseconds; once if that is 0. Returns false if it is not ready. */
export function spinUntil(isReady: () => boolean, durationMs: number): boolean {
  if (durationMs === 0) return isReady();
  const until = performance.now() + durationMs;
  do for (let poll = 0; poll < POLLS; poll++) if (isReady()) return true;
  while (performance.now() < until);
  return false;
}

/** Decides which waits may spin: none for a while after one that spun without success. */
export class SpinBackoff {
  #skips = 0;

  /** Returns whether the wait that begins may spin. */
  begin(): boolean {
    return this.#skips-- <= 0;
  }

  /** Notes that a wait has spun without success. */
  fail(): void {
    this.#skips = BACKOFF_ROUNDS;
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
    this.#until = 0;
  }

  readonly #poll = (): void => {
    if (performance.now() < this.#until) {
      setImmediate(this.#poll);
      return;
    }
    if (this.#until > 0) this.#backoff.fail();
    this.#isTurning = false;
  };
}
