import { setMaxListeners } from "node:events";

import { SkillgateError, sentence } from "../errors.ts";
import type { Method } from "../model/catalog.ts";
import { factsOf } from "./call.ts";

/** The result of `work`, unless the signal fires first. Then `work` is left alone, and whatever becomes of it ignored. */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>, why: () => Error): Promise<T> {
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = onAbort(signal, () => reject(why()));
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stop?.();
  }
}

/** Calls back when the signal fires, at once if it has. Returns what stops that. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  // The signal of a run has a listener for each call under way; Node would warn of a leak from the eleventh on.
  setMaxListeners(0, signal);
  if (signal.aborted) listener();
  else signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}

/** The error of a call whose run ends before the call does. */
export function cancelledError(method: Method): SkillgateError {
  return new SkillgateError("CALL_CANCELLED", sentence("CALL_CANCELLED", method.path), factsOf(method));
}
