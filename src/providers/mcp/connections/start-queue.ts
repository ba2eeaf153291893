import { availableParallelism } from "node:os";

/** Maximum number of processes that start together: more would take the time of each other, until none is ready in time. */
const MAX_STARTS = 2 * availableParallelism();

/** How long a start keeps its place: a server that is silent for longer waits for something else than a core. */
const PLACE_MS = 10_000;

/** The start of one process. */
export interface QueuedStart {
  /** Settles when the process may be started. Rejects when the signal aborts before. */
  readonly mayBegin: Promise<void>;
  /** Begins at once, because a call waits for it. */
  hurry(): void;
  /** Frees the place; called when the server has connected or failed. */
  end(): void;
}

/** Lets processes start in the order of their requests, at most `limit` together. */
export class StartQueue {
  readonly #limit: number;
  readonly #waiting = new Set<() => void>();
  #startCount = 0;

  constructor(limit = MAX_STARTS) {
    this.#limit = limit;
  }

  request(signal: AbortSignal): QueuedStart {
    let timer: NodeJS.Timeout | undefined;
    const free = (): void => {
      if (timer === undefined) return;
      clearTimeout(timer);
      timer = undefined;
      this.#startCount -= 1;
      this.#beginNext();
    };
    let begin = (): void => {};
    const mayBegin = new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        this.#waiting.delete(begin);
        reject(signal.reason as Error);
      };
      begin = () => {
        this.#waiting.delete(begin);
        signal.removeEventListener("abort", stop);
        this.#startCount += 1;
        timer = setTimeout(free, PLACE_MS).unref();
        resolve();
      };
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      this.#waiting.add(begin);
    });
    this.#beginNext();
    return { mayBegin, hurry: () => void (this.#waiting.has(begin) && begin()), end: free };
  }

  #beginNext(): void {
    const [next] = this.#waiting;
    if (next !== undefined && this.#startCount < this.#limit) next();
  }
}
