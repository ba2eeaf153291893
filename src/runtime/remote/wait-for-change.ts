import type { Cancellable } from "../../../sandbox/index.ts";
import type { Database } from "../../store/index.ts";

/** The store reports changes; the end of a claim is no change. */
const LOOK_MS = 1_000;

/** Resolves after a change of the store, after a second, and when the work is cancelled. */
export function waitForChange(database: Pick<Database, "watch">, cancellable?: Cancellable): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(settle, LOOK_MS);
    const stopWatching = database.watch(settle);
    const stopListening = cancellable?.isCancelled === true ? undefined : cancellable?.onCancel(settle);
    function settle(): void {
      clearTimeout(timer);
      stopWatching();
      stopListening?.();
      resolve();
    }
  });
}
