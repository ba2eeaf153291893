/** Taken before any skill can put something else in their place. */
const { performance, setImmediate } = globalThis;

/** After a wait in vain, nobody waits so many times. */
const BACKOFF_ROUNDS = 8;

/**
 * Keeps an event loop turning for a moment instead of letting it go to sleep, since being woken takes longer than most
 * calls. Everything else on the loop goes on meanwhile.
 */
export class SpinWait {
  readonly #forMs: number;
  #until = 0;
  #isTurning = false;
  #hasty = 0;

  constructor(forMs: number) {
    this.#forMs = forMs;
  }

  /** Something will come soon, perhaps. */
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

  /** It has come. */
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
