import { readFileSync } from "node:fs";

/**
 * Measures the processor time of this thread between two turns of the event loop, so that other programs on the machine do not
 * count. Linux only.
 */
export class LoopProbe {
  #last = readThreadMs();
  #longest = 0;
  #isOpen = true;

  constructor() {
    this.#turn();
  }

  /** Returns the longest turn since the last call, in milliseconds. */
  async takeLongest(): Promise<number> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#note();
    const longest = this.#longest;
    this.#longest = 0;
    return longest;
  }

  close(): void {
    this.#isOpen = false;
  }

  readonly #turn = (): void => {
    this.#note();
    if (this.#isOpen) setImmediate(this.#turn);
  };

  #note(): void {
    const now = readThreadMs();
    this.#longest = Math.max(this.#longest, now - this.#last);
    this.#last = now;
  }
}

export const canProbe = process.platform === "linux";

function readThreadMs(): number {
  if (!canProbe) return 0;
  return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]) / 1e6;
}
