/** The wall time that a run has left. It stands still while somebody outside thinks about an answer. */
export class WallClock {
  readonly #over: () => void;
  #leftMs: number;
  /** Since when it runs, in `performance.now()`. */
  #since = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #holds = 0;

  constructor(wallMs: number, over: () => void) {
    this.#over = over;
    this.#leftMs = wallMs;
    this.#timer = setTimeout(over, wallMs);
  }

  get leftMs(): number {
    return this.#holds > 0 ? this.#leftMs : this.#leftMs - (performance.now() - this.#since);
  }

  /** Stops it, until everybody who has stopped it lets it go on. */
  hold(): () => void {
    if (this.#holds === 0) this.#stop();
    this.#holds++;
    let isHeld = true;
    return () => {
      if (isHeld && --this.#holds === 0) this.#goOn();
      isHeld = false;
    };
  }

  /** The run is over. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #stop(): void {
    this.#leftMs = this.leftMs;
    clearTimeout(this.#timer);
  }

  #goOn(): void {
    this.#since = performance.now();
    if (this.#timer !== undefined) this.#timer = setTimeout(this.#over, this.#leftMs);
  }
}
