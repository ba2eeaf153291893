import { setMaxListeners } from "node:events";

/** Something that may be called off while it is under way. */
export interface Cancellable {
  readonly isCancelled: boolean;
  /** The same for whoever needs a signal. It is made when somebody asks for it, which costs more than most calls. */
  readonly signal: AbortSignal;
  /** Calls back when it is called off, at once if it has been. Returns what stops that. */
  onCancel(listener: () => void): () => void;
}

/** What its owner can call off, once. */
export class Cancellation implements Cancellable {
  readonly #listeners = new Set<() => void>();
  #controller: AbortController | undefined;
  #reason: Error | undefined;
  #isCancelled = false;

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Why, as far as that was said. */
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

/** What somebody else's signal calls off. */
export function cancellableBy(signal: AbortSignal): Cancellable {
  return {
    signal,
    get isCancelled() {
      return signal.aborted;
    },
    onCancel(listener) {
      // A signal of many calls has a listener for each; Node would warn of a leak from the eleventh on.
      setMaxListeners(0, signal);
      if (signal.aborted) listener();
      else signal.addEventListener("abort", listener, { once: true });
      return () => signal.removeEventListener("abort", listener);
    },
  };
}
