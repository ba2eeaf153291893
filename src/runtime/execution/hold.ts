/** The time for which a run that waits for a person keeps its memory, and for which its callers wait for it. */
export interface Hold {
  /** Says whether the run waits for a person. */
  set(isWaiting: boolean): void;
  /** Returns the signal that suspends the present execution of the program, or the next one. */
  getSignal(): AbortSignal;
  /** Resolves when the run has waited for a person for `holdMs` since the call. */
  whenWaiting(): Promise<undefined>;
  /** Resolves as soon as the run waits for a person. */
  whenHeld(): Promise<void>;
  close(): void;
}

export function createHold(holdMs: number): Hold {
  const callers = new Set<Countdown>();
  const watchers = new Set<() => void>();
  let isWaiting = false;
  let controller = new AbortController();
  const suspension = createCountdown(() => controller.abort());

  function set(waits: boolean): void {
    isWaiting = waits;
    for (const countdown of [suspension, ...callers]) {
      countdown.stop();
      if (waits) countdown.start(holdMs);
    }
    if (!waits) return;
    for (const watcher of watchers) watcher();
    watchers.clear();
  }

  return {
    set,
    getSignal() {
      if (controller.signal.aborted && !isWaiting) controller = new AbortController();
      return controller.signal;
    },
    whenWaiting: () =>
      new Promise((resolve) => {
        const caller = createCountdown(() => {
          callers.delete(caller);
          resolve(undefined);
        });
        callers.add(caller);
        if (isWaiting) caller.start(holdMs);
      }),
    async whenHeld() {
      if (!isWaiting) await new Promise<void>((resolve) => watchers.add(resolve));
    },
    close() {
      set(false);
      callers.clear();
    },
  };
}

interface Countdown {
  start(milliseconds: number): void;
  stop(): void;
}

function createCountdown(onEnd: () => void): Countdown {
  let timer: NodeJS.Timeout | undefined;
  return {
    start(milliseconds) {
      timer = setTimeout(onEnd, milliseconds);
    },
    stop: () => clearTimeout(timer),
  };
}
