import type { FromWorker } from "../shared/protocol.ts";
import type { WorkerHandle } from "./worker-handle.ts";

/** The longest that the host's event loop stands still for a slice of work. */
const MAX_SPIN_MS = 0.4;
/** The longest that it is kept from turning by one such moment after the other. */
const TURN_MS = 2;
/** Looks between two looks at the clock. */
const LOOKS = 100;
/** After a wait in vain, so many slices of work are not waited for. */
const BACKOFF_ROUNDS = 8;

/**
 * Going to sleep and being woken takes longer than most slices of work. So we look out for what the workers say, for a
 * moment in which the event loop stands still; where that was in vain, not again for a while.
 */
export class WorkerSpinWait {
  /** When the event loop must turn; 0 once it has. */
  #turnEnds = 0;
  /** So many slices of work are not waited for. */
  #hasty = 0;

  /** True if one of those that work has said something. */
  spin(working: readonly WorkerHandle[], hear: (slot: WorkerHandle, message: FromWorker) => void): boolean {
    const now = performance.now();
    if (this.#turnEnds === 0) {
      this.#turnEnds = now + TURN_MS;
      setImmediate(() => (this.#turnEnds = 0)).unref();
    }
    if (working.length === 0 || now > this.#turnEnds || this.#hasty-- > 0) return false;
    const hasHeard = this.#watch(working, now + MAX_SPIN_MS);
    for (const slot of working) for (const message of slot.read()) hear(slot, message);
    return hasHeard;
  }

  #watch(working: readonly WorkerHandle[], until: number): boolean {
    for (const slot of working) slot.watched = true;
    try {
      // Asking the time makes garbage, and takes longer than looking.
      do for (let look = 0; look < LOOKS; look++) for (const slot of working) if (slot.hasSpoken) return true;
      while (performance.now() < until);
      this.#hasty = BACKOFF_ROUNDS;
      return false;
    } finally {
      // All of them, before any is heard: whoever is not watched calls, whatever happens here.
      for (const slot of working) slot.watched = false;
    }
  }
}
