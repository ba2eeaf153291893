import { setMaxListeners } from "node:events";

/** An operation that may be cancelled while it runs. */
export interface Cancellable {
  readonly isCancelled: boolean;
  /** The same as a signal. Created on first access, because that costs more than most calls. */
  readonly signal: AbortSignal;
  /** Calls back on cancellation, at once if it has happened. Returns a function that removes the listener. */
  onCancel(listener: () => void): () => void;
}

/** A cancellation that its owner triggers, once. */
export class Cancellation implements Cancellable {
  readonly #listeners = new Set<() => void>();
  #controller: AbortController | undefined;
  #reason: Error | undefined;
  #isCancelled = false;

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** The reason passed to `cancel`, if any. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isCancelled) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  onCancel(listener: () => void): () => void {
    if (this.#isCancelled) listener();
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  cancel(reason?: Error): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    for (const listener of this.#listeners) listener();
  }
}

/** Wraps an `AbortSignal`. */
export function cancellableBy(signal: AbortSignal): Cancellable {
  return {
    signal,
    get isCancelled() {
      return signal.aborted;
    },
    onCancel(listener) {
      // A signal shared by many calls has a listener for each; Node would warn of a leak from the eleventh on.
      setMaxListeners(0, signal);
      if (signal.aborted) listener();
      else signal.addEventListener("abort", listener, { once: true });
      return () => signal.removeEventListener("abort", listener);
    },
  };
}
