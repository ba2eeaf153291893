import { SkillgateError } from "../../errors.ts";
import type { Method } from "../../model/catalog.ts";
import { cancelledError, onAbort, unlessAborted } from "../abort.ts";
import { factsOf, type Guard } from "../call.ts";

/** The longest time that Node can wait. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Ends a call that takes longer than its method may, or longer than its run (X2). The method learns of it by its signal;
 * one that does not listen is left behind.
 */
export const timeout: Guard = (next) => async (call) => {
  const { method } = call;
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(timedOut(method)), Math.min(method.metadata.timeoutMs, LONGEST_MS));
  const stop = onAbort(call.signal, () => controller.abort(cancelledError(method)));
  try {
    controller.signal.throwIfAborted();
    const work = next({ ...call, signal: controller.signal });
    return await unlessAborted(controller.signal, work, () => controller.signal.reason);
  } finally {
    clearTimeout(timer);
    stop();
  }
};

function timedOut(method: Method): SkillgateError {
  const seconds = method.metadata.timeoutMs / 1_000;
  return new SkillgateError("CALL_TIMEOUT", `Tool '${method.path}' timed out after ${seconds}s`, {
    ...factsOf(method),
    timeoutMs: method.metadata.timeoutMs,
  });
}
