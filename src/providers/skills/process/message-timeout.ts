/** Time limit for the next part of a message: our code in the process writes each message in one go. */
const TIMEOUT_MS = 1_000;

/** Detects a message that started but does not continue. */
export class MessageTimeout {
  readonly #onStall: () => void;
  #limit: NodeJS.Timeout | undefined;

  constructor(onStall: () => void) {
    this.#onStall = onStall;
  }

  /** Restarts the timer after a part of a message arrived. */
  begin(): void {
    this.end();
    const limit = setTimeout(() => {
      // This process may have been busy: read data that has arrived first.
      setImmediate(() => this.#limit === limit && this.#onStall());
    }, TIMEOUT_MS).unref();
    this.#limit = limit;
  }

  end(): void {
    clearTimeout(this.#limit);
    this.#limit = undefined;
  }
}
