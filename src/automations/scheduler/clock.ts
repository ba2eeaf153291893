/** The clocks and timers of a scheduler. Times are in milliseconds. */
export interface SchedulerClock {
  /** Milliseconds since 1970, by the clock of the machine, which people and NTP set. */
  now(): number;
  /** A time that only passes. */
  monotonicNow(): number;
  /** Calls `callback` once after a delay of at most a minute. Returns the function that prevents it. */
  setTimer(delayMs: number, callback: () => void): () => void;
}

/** Its timers do not keep the process alive. */
export const SYSTEM_CLOCK: SchedulerClock = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  setTimer(delayMs, callback) {
    const timer = setTimeout(callback, delayMs).unref();
    return () => clearTimeout(timer);
  },
};

/** Smaller steps, as NTP makes them, matter to no slot. */
export const MIN_JUMP_MS = 5_000;

/**
 * Returns a function that returns by how many milliseconds the clock of the machine was set since its last call that returned
 * another number than 0: positive forward, negative back. The sleep of a machine is a jump forward.
 */
export function createJumpDetector(clock: SchedulerClock): () => number {
  let difference = clock.now() - clock.monotonicNow();
  return () => {
    const jump = clock.now() - clock.monotonicNow() - difference;
    if (Math.abs(jump) < MIN_JUMP_MS) return 0;
    difference += jump;
    return jump;
  };
}
