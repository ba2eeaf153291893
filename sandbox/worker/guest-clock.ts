import type { GuestValues } from "./guest-values.ts";

/** Reads of a clock that stands still after which it moves by a millisecond, so that a loop that waits for it ends. */
const READS_PER_MS = 100;

/** The clock of the guest: that of the host, or one that stands still between deliveries, so that runs can be repeated. */
export class GuestClock {
  readonly #values: GuestValues;
  /** Address of the guest's fixed time, as a number of eight bytes; NaN for the host's time. */
  readonly #address: number;
  /** True if it moves with deliveries and when it is read. */
  #isRecorded = false;
  /** Reads since the last delivery. */
  #reads = 0;

  constructor(values: GuestValues, address: number) {
    this.#values = values;
    this.#address = address;
  }

  start(time: number, isRecorded: boolean): void {
    this.#time = time;
    this.#isRecorded = isRecorded;
    this.#reads = 0;
  }

  read(): number {
    const time = this.#time;
    if (Number.isNaN(time)) return Date.now();
    if (this.#isRecorded && ++this.#reads % READS_PER_MS === 0) this.#time = time + 1;
    return time;
  }

  /** Sets the time of a clock that was recorded. It never goes back. */
  set(time: number | undefined): void {
    if (time === undefined) return;
    this.#time = Math.max(time, this.#time);
    this.#reads = 0;
  }

  /** Continues with the time of a delivery; without one, the clock does not move by itself. */
  continue(time: number | undefined): void {
    this.#isRecorded = time !== undefined;
    this.set(time);
  }

  get #time(): number {
    return this.#values.view.getFloat64(this.#address, true);
  }

  set #time(time: number) {
    this.#values.view.setFloat64(this.#address, time, true);
  }
}
