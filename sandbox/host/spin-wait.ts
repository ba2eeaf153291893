import type { FromWorker } from "../shared/protocol.ts";
import { canSpin } from "../processors.ts";
import { SpinBackoff, spinUntil } from "../spin-wait.ts";
import type { WorkerHandle } from "./worker-handle.ts";

/** How long the host's event loop stands still at most for a slice of work. */
const MAX_SPIN_MS = 0.4;
/** How long consecutive spin waits may keep the event loop from turning. */
const TURN_MS = 2;

/**
 * Polls for messages of the workers while the event loop stands still, because sleeping and being woken takes longer than
 * most slices of work. After polls without a message, polls less often.
 */
export class WorkerSpinWait {
  /** When the event loop must turn; 0 once it has. */
  #turnEnds = 0;
  readonly #backoff = new SpinBackoff();

  /** Returns true if a working thread has sent a message. */
  spin(working: readonly WorkerHandle[], onMessage: (slot: WorkerHandle, message: FromWorker) => void): boolean {
    const now = performance.now();
    if (this.#turnEnds === 0) {
      this.#turnEnds = now + TURN_MS;
      setImmediate(() => (this.#turnEnds = 0)).unref();
    }
    if (working.length === 0 || !canSpin() || now > this.#turnEnds || !this.#backoff.begin()) return false;
    const hasMessage = this.#watch(working);
    for (const slot of working) for (const message of slot.read()) onMessage(slot, message);
    return hasMessage;
  }

  #watch(working: readonly WorkerHandle[]): boolean {
    for (const slot of working) slot.watched = true;
    try {
      const hasMessage = spinUntil(() => hasAny(working), MAX_SPIN_MS);
      this.#backoff.end(hasMessage);
      return hasMessage;
    } finally {
      // Reset all before any message is handled: a worker that is not watched wakes the host itself.
      for (const slot of working) slot.watched = false;
    }
  }
}

/** A poll must make no garbage: there are thousands in a millisecond. */
function hasAny(working: readonly WorkerHandle[]): boolean {
  for (let at = 0; at < working.length; at++) if (working[at]?.hasMessage === true) return true;
  return false;
}
