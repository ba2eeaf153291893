/** Lets at most `limit` holders have a turn together; the others wait in their order. */
export class Turns {
  readonly #limit: number;
  readonly #waiting = new Set<() => void>();
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Waits for a turn; rejects with the reason of the signal. Returns the function that ends the turn. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#count < this.#limit) this.#count += 1;
    else await this.#wait(signal);
    return () => this.#end();
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener("abort", stop);
        resolve();
      };
      const stop = (): void => {
        this.#waiting.delete(begin);
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", stop, { once: true });
      this.#waiting.add(begin);
    });
  }

  /** Passes the turn to the next one that waits. */
  #end(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#count -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
