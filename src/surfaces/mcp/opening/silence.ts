/** Milliseconds without a message after which a client is silent: it may send its first request late. */
const SILENT_MS = 50;

/** Milliseconds after which the silence begins at the latest. */
const MAX_DELAY_MS = 1_000;

/** The silence of clients, in which a server loads the rest of its program. It begins once. */
export class Silence {
  /** Settles when the silence begins. */
  readonly begun: Promise<void>;
  readonly #end = performance.now() + MAX_DELAY_MS;
  #resolve: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    this.begun = new Promise((resolve) => (this.#resolve = resolve));
    this.delay();
  }

  /** Starts the wait for the silence again. */
  delay(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#resolve, Math.min(SILENT_MS, Math.max(0, this.#end - performance.now())));
  }

  begin(): void {
    clearTimeout(this.#timer);
    this.#resolve();
  }
}
