import { basename, dirname } from "node:path";

import { watchFolder } from "../../shared/watch-file.ts";

/** Milliseconds between two checks for changes of other processes whose events the system does not report. */
const POLL_MS = 2_000;

/** Milliseconds in which writes of other processes count as one. */
const SETTLE_MS = 10;

export interface Watchers {
  watch(listener: () => void): () => void;
  announce(): void;
  close(): void;
}

/**
 * Calls listeners when `readVersion` returns another value after a write to the file or its log, and when `announce` is called.
 * Watches only with listeners. `onError` receives what `readVersion` throws later.
 */
export function watchDatabaseFile(
  file: string,
  readVersion: () => unknown,
  onError: (error: unknown) => void,
): Watchers {
  const watchers = createWatchers();
  let stopWatching: (() => void) | undefined;
  let version: unknown;

  /** Errors do not end the process: a later check may succeed. */
  function check(): void {
    try {
      const current = readVersion();
      if (current === version) return;
      version = current;
    } catch (error) {
      return onError(error);
    }
    watchers.announce();
  }

  function start(): void {
    version = readVersion();
    const names = new Set([basename(file), `${basename(file)}-wal`]);
    const onFailure = (): void => {}; // the timer finds the changes
    const stop = watchFolder(dirname(file), (name) => names.has(name), { onChange: check, onFailure }, SETTLE_MS);
    const timer = setInterval(check, POLL_MS).unref();
    stopWatching = () => {
      stop();
      clearInterval(timer);
      stopWatching = undefined;
    };
  }

  return {
    watch(listener) {
      if (stopWatching === undefined) start();
      const remove = watchers.watch(listener);
      return () => {
        remove();
        if (watchers.isEmpty()) stopWatching?.();
      };
    },
    announce: () => watchers.announce(),
    close: () => stopWatching?.(),
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
