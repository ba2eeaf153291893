/** Milliseconds between two checks for changes of other processes. */
const POLL_MS = 100;

export interface Watchers {
  watch(listener: () => void): () => void;
  announce(): void;
  close(): void;
}

/** Calls listeners when `readVersion` returns another value, and when `announce` is called. Polls only with listeners. */
export function watchByPolling(readVersion: () => unknown): Watchers {
  const watchers = createWatchers();
  let timer: NodeJS.Timeout | undefined;
  let version: unknown;

  function poll(): void {
    const current = readVersion();
    if (current === version) return;
    version = current;
    watchers.announce();
  }

  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  return {
    watch(listener) {
      if (timer === undefined) {
        version = readVersion();
        timer = setInterval(poll, POLL_MS).unref();
      }
      const remove = watchers.watch(listener);
      return () => {
        remove();
        if (watchers.isEmpty()) stop();
      };
    },
    announce: () => watchers.announce(),
    close: stop,
  };
}

/** A set of listeners. */
export function createWatchers(): Pick<Watchers, "watch" | "announce"> & { isEmpty(): boolean } {
  const listeners = new Set<() => void>();
  return {
    watch(listener) {
      // A function of its own, so that one listener can be added twice.
      const own = (): void => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    announce() {
      for (const listener of listeners) listener();
    },
    isEmpty: () => listeners.size === 0,
  };
}
