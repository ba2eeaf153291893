/** Counts down the wall time of a run. It can be paused, for example while a user is asked. */
export class WallClock {
  readonly #over: () => void;
  #leftMs: number;
  /** When it last started, in `performance.now()`. */
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

  /** Pauses the clock until every hold is released. Returns the function that releases this one. */
  hold(): () => void {
    if (this.#holds === 0) this.#stop();
    this.#holds++;
    let isHeld = true;
    return () => {
      if (isHeld && --this.#holds === 0) this.#goOn();
      isHeld = false;
    };
  }

  /** Sets the time that is left. */
  restart(leftMs: number): void {
    clearTimeout(this.#timer);
    this.#leftMs = leftMs;
    if (this.#holds === 0) this.#goOn();
  }

  /** Stops the clock for good when the run is over. */
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
