/** Passes values from callbacks to one reader. */
export class EventQueue<Value> implements AsyncIterator<Value, undefined> {
  readonly #values: Value[] = [];
  readonly #onReturn: () => Promise<void>;
  #isEnded = false;
  #failure: { readonly thrown: unknown } | undefined;
  #wake: (() => void) | undefined;

  /** `onReturn` is called when the reader stops early. */
  constructor(onReturn: () => Promise<void>) {
    this.#onReturn = onReturn;
  }

  push(value: Value): void {
    this.#values.push(value);
    this.#wake?.();
  }

  end(failure?: { readonly thrown: unknown }): void {
    this.#isEnded = true;
    this.#failure = failure;
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<Value, undefined>> {
    while (this.#values.length === 0) {
      if (this.#failure !== undefined) throw this.#failure.thrown;
      if (this.#isEnded) return { value: undefined, done: true };
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return { value: this.#values.shift() as Value, done: false };
  }

  async return(): Promise<IteratorResult<Value, undefined>> {
    await this.#onReturn();
    return { value: undefined, done: true };
  }
}
