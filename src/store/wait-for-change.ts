import type { Cancellation } from "../../sandbox/index.ts";
import type { Database } from "./database/database.ts";

/** A change of the store is reported, but may be missed; and the end of a claim is no change. */
const LOOK_MS = 1_000;

/** Resolves after a change of the store, after a second, and when one of `cancellations` is cancelled. */
export function waitForChange(
  database: Pick<Database, "watch">,
  ...cancellations: readonly (Pick<Cancellation, "isCancelled" | "onCancel"> | undefined)[]
): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(settle, LOOK_MS);
    const stopWatching = database.watch(settle);
    const stops = cancellations.map((each) => (each?.isCancelled === true ? undefined : each?.onCancel(settle)));
    function settle(): void {
      clearTimeout(timer);
      stopWatching();
      for (const stop of stops) stop?.();
      resolve();
    }
  });
}
