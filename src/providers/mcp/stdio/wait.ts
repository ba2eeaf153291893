import { setTimeout as sleep } from "node:timers/promises";

/** Waits for an event, but no longer than `ms`; leaves no timer behind. */
export async function waitAtMost(ms: number, event: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const timer = sleep(ms, undefined, { signal: over.signal }).catch(() => {}); // aborted if the event came first
  await Promise.race([event, timer]).finally(() => over.abort());
}
