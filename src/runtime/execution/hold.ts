import type { Cancellable } from "../../../sandbox/index.ts";

/** The time for which a run that waits for a person keeps its memory, and for which its callers wait for it. */
export interface Hold {
  /** Says whether the run waits for a person. */
  set(isWaiting: boolean): void;
  /** Returns the signal that suspends the present execution of the program, or the next one. */
  getSignal(): AbortSignal;
  /** Resolves when the run has waited for a person for `holdMs` since the call, with `isPatient` only after the release. */
  whenWaiting(isPatient?: boolean): Promise<undefined>;
  /** Resolves as soon as the run waits for a person. */
  whenHeld(): Promise<void>;
  close(): void;
}

/** After `released`, callers do not wait for persons. */
export function createHold(holdMs: number, released: Cancellable): Hold {
  const callers = new Set<WaitingCaller>();
  const watchers = new Set<() => void>();
  let isWaiting = false;
  let controller = new AbortController();
  const suspension = createCountdown(() => controller.abort());
  const stopListening = released.onCancel(() => isWaiting && set(true));

  function set(waits: boolean): void {
    isWaiting = waits;
    for (const countdown of [suspension, ...callers]) countdown.stop();
    if (waits) suspension.start(holdMs);
    if (waits) for (const caller of callers) startCaller(caller);
    if (!waits) return;
    for (const watcher of watchers) watcher();
    watchers.clear();
  }

  function startCaller(caller: WaitingCaller): void {
    if (released.isCancelled) caller.start(0);
    else if (!caller.isPatient) caller.start(holdMs);
  }

  return {
    set,
    getSignal() {
      if (controller.signal.aborted && !isWaiting) controller = new AbortController();
      return controller.signal;
    },
    whenWaiting: (isPatient = false) =>
      new Promise((resolve) => {
        const countdown = createCountdown(() => {
          callers.delete(caller);
          resolve(undefined);
        });
        const caller = { ...countdown, isPatient };
        callers.add(caller);
        if (isWaiting) startCaller(caller);
      }),
    async whenHeld() {
      if (!isWaiting) await new Promise<void>((resolve) => watchers.add(resolve));
    },
    close() {
      set(false);
      callers.clear();
      stopListening();
    },
  };
}

interface WaitingCaller extends Countdown {
  /** Waits as long as the person does. */
  readonly isPatient: boolean;
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
