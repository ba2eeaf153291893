import type { SchedulerClock } from "./clock.ts";

/** The messages of one subject that are written in a minute; further ones are counted. */
const MAX_MESSAGES = 10;

const PERIOD_MS = 60_000;

export interface LimitedLog {
  write(text: string): void;
  /** Writes the number of the messages that were left out. */
  close(): void;
}

/** Limits the messages about one subject, because all automations can fail for one reason. `subject` is a plural. */
export function createLimitedLog(subject: string, log: (text: string) => void, clock: SchedulerClock): LimitedLog {
  let count = 0;
  let stopTimer: (() => void) | undefined;

  function endPeriod(): void {
    stopTimer?.();
    stopTimer = undefined;
    if (count > MAX_MESSAGES) log(`${count - MAX_MESSAGES} more ${subject} in the last minute`);
    count = 0;
  }

  return {
    write(text) {
      stopTimer ??= clock.setTimer(PERIOD_MS, endPeriod);
      count++;
      if (count <= MAX_MESSAGES) log(text);
    },
    close: endPeriod,
  };
}
