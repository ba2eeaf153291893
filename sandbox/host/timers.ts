import type { Timer } from "../shared/protocol.ts";

/** The timers of one run. */
export class RunTimers {
  readonly #maxMs: number;
  readonly #fire: (id: number) => void;
  readonly #alarms = new Map<number, Alarm>();
  #isStopped: boolean;

  /** `fire` receives the id of each timer that is due. A stopped set of timers waits for `start`. */
  constructor(maxMs: number, fire: (id: number) => void, isStopped = false) {
    this.#maxMs = maxMs;
    this.#fire = fire;
    this.#isStopped = isStopped;
  }

  get size(): number {
    return this.#alarms.size;
  }

  /** When the first timer is due, in milliseconds since 1970; infinite if none is running. */
  get firstAt(): number {
    return Math.min(...Array.from(this.#alarms.values(), ({ at }) => at));
  }

  /** Sets or clears a timer that was started at some time, in milliseconds since 1970. */
  set({ id, milliseconds }: Timer, startedAt = Date.now()): void {
    this.clear(id);
    if (!(milliseconds >= 0)) return;
    const delay = Math.min(milliseconds, this.#maxMs);
    const alarm: Alarm = { timeout: undefined, at: startedAt + delay };
    this.#alarms.set(id, alarm);
    if (!this.#isStopped) this.#arm(id, alarm, delay);
  }

  clear(id: number): void {
    clearTimeout(this.#alarms.get(id)?.timeout);
    this.#alarms.delete(id);
  }

  /** Starts stopped timers. Those that are overdue fire at once, in the order in which they were due. */
  start(): void {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    const now = Date.now();
    const alarms = [...this.#alarms].sort(([, a], [, b]) => a.at - b.at);
    for (const [id, alarm] of alarms) this.#arm(id, alarm, Math.max(0, alarm.at - now));
  }

  /** Stops all timers for good. */
  end(): void {
    for (const { timeout } of this.#alarms.values()) clearTimeout(timeout);
  }

  #arm(id: number, alarm: Alarm, delay: number): void {
    alarm.timeout = setTimeout(() => {
      this.#alarms.delete(id);
      this.#fire(id);
    }, delay);
  }
}

interface Alarm {
  timeout: NodeJS.Timeout | undefined;
  /** When it is due, in milliseconds since 1970. */
  readonly at: number;
}
