import type { Cancellable } from "../../../sandbox/index.ts";
import type { Database } from "../../store/index.ts";

/** The store reports changes; the end of a claim is no change. */
const LOOK_MS = 1_000;

/** Resolves after a change of the store, after a second, and when one of `cancellables` is cancelled. */
export function waitForChange(
  database: Pick<Database, "watch">,
  ...cancellables: readonly (Cancellable | undefined)[]
): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(settle, LOOK_MS);
    const stopWatching = database.watch(settle);
    const stops = cancellables.map((each) => (each?.isCancelled === true ? undefined : each?.onCancel(settle)));
    function settle(): void {
      clearTimeout(timer);
      stopWatching();
      for (const stop of stops) stop?.();
      resolve();
    }
  });
}
