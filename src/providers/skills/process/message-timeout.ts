/** Our own code in the process sends a message at one go; this is how long the next piece of one may take. */
const TIMEOUT_MS = 1_000;

/** Notices when a message that has begun does not go on. */
export class MessageTimeout {
  readonly #onStall: () => void;
  #limit: NodeJS.Timeout | undefined;

  constructor(onStall: () => void) {
    this.#onStall = onStall;
  }

  /** Something has come, but not all of it. */
  begin(): void {
    this.end();
    const limit = setTimeout(() => {
      // We may have been busy ourselves: what has come meanwhile is read first.
      setImmediate(() => this.#limit === limit && this.#onStall());
    }, TIMEOUT_MS).unref();
    this.#limit = limit;
  }

  end(): void {
    clearTimeout(this.#limit);
    this.#limit = undefined;
  }
}
