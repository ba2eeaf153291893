/** Captured before skill code can replace them. */
const { performance, setImmediate } = globalThis;

/** Waits that are skipped after a wait that timed out. */
const BACKOFF_ROUNDS = 8;

/**
 * Keeps the event loop spinning for a moment, because waking it up takes longer than most calls. Other work on the
 * loop continues.
 */
export class SpinWait {
  readonly #forMs: number;
  #until = 0;
  #isTurning = false;
  #hasty = 0;

  constructor(forMs: number) {
    this.#forMs = forMs;
  }

  /** Starts to spin: an event may follow soon. */
  begin(): void {
    if (this.#hasty > 0) {
      this.#hasty--;
      return;
    }
    this.#until = performance.now() + this.#forMs;
    if (this.#isTurning) return;
    this.#isTurning = true;
    setImmediate(this.#turn);
  }

  /** Stops spinning: the event has arrived. */
  end(): void {
    this.#until = 0;
  }

  readonly #turn = (): void => {
    if (performance.now() < this.#until) {
      setImmediate(this.#turn);
      return;
    }
    if (this.#until > 0) this.#hasty = BACKOFF_ROUNDS;
    this.#isTurning = false;
  };
}
