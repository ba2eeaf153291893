import { setTimeout as wait } from "node:timers/promises";

/** Lets the runs of a process begin after the deliveries that it receives: a service waits for its answer, and a run can wait. */
export interface Intake {
  /** Does the work of a delivery. Runs do not begin meanwhile. */
  receive<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Resolves when no delivery is being received, or when the beginning of runs has waited long enough. */
  whenQuiet(): Promise<void>;
  /** Ends all waits. */
  close(): void;
}

/** Milliseconds after a delivery in which the next one of a burst arrives. */
const QUIET_MS = 50;

/**
 * Milliseconds for which runs wait at most. This time is used up by waits, and comes back with a quarter of the time between them: deliveries
 * that never end take at most a fifth of the time from the runs.
 */
const MAX_WAIT_MS = 10_000;
const RETURNED_SHARE = 0.25;

/** Time in milliseconds, for tests. */
export interface IntakeClock {
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<unknown>;
}

const CLOCK: IntakeClock = { now: () => performance.now(), wait };

export function createIntake({ now, wait }: IntakeClock = CLOCK): Intake {
  let received = 0;
  let lastAt = -Infinity;
  let left = MAX_WAIT_MS;
  let waitedUntil = now();
  let waiting: Promise<void> | undefined;
  let isClosed = false;
  const isBusy = (): boolean => !isClosed && (received > 0 || now() - lastAt < QUIET_MS);

  async function waitForQuiet(): Promise<void> {
    const startedAt = now();
    const most = Math.min(MAX_WAIT_MS, left + (startedAt - waitedUntil) * RETURNED_SHARE);
    while (isBusy() && now() - startedAt < most) await wait(QUIET_MS);
    waitedUntil = now();
    left = Math.max(0, most - (waitedUntil - startedAt));
  }

  return {
    async receive(work) {
      received++;
      try {
        return await work();
      } finally {
        received--;
        lastAt = now();
      }
    },
    async whenQuiet() {
      if (isBusy()) await (waiting ??= waitForQuiet().finally(() => (waiting = undefined)));
    },
    close: () => void (isClosed = true),
  };
}
