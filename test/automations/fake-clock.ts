import type { SchedulerClock } from "../../src/automations/scheduler.ts";

/** A clock that tests set and move. Each look at the monotonic time takes `stepMs`. */
export class FakeClock implements SchedulerClock {
  #wall: number;
  #monotonic = 0;
  #timers: { readonly at: number; readonly callback: () => void }[] = [];
  stepMs = 0;
  /** How often a timer has fired. */
  firedCount = 0;

  constructor(time: string) {
    this.#wall = Date.parse(time);
  }

  get timerCount(): number {
    return this.#timers.length;
  }

  now(): number {
    return this.#wall;
  }

  monotonicNow(): number {
    this.#monotonic += this.stepMs;
    this.#wall += this.stepMs;
    return this.#monotonic;
  }

  setTimer(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.#monotonic + delayMs, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }

  /** Sets the clock of the machine forward, or back. */
  set(byMs: number): void {
    this.#wall += byMs;
  }

  /** Lets time pass, with its timers and what follows from them. */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonic + ms;
    for (await settle(); ; await settle()) {
      const [next] = this.#timers.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers = this.#timers.filter((each) => each !== next);
      this.#move(next.at);
      this.firedCount++;
      next.callback();
    }
    this.#move(end);
  }

  #move(to: number): void {
    if (to <= this.#monotonic) return;
    this.#wall += to - this.#monotonic;
    this.#monotonic = to;
  }
}

/** Lets promises that are resolved already have their effects. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
