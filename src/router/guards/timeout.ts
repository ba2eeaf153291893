import { Cancellation } from "../../../sandbox/index.ts";
import { SkillgateError } from "../../errors.ts";
import type { Method } from "../../model/catalog.ts";
import { cancelledError, rejectWhenCancelled } from "../cancellation.ts";
import { type Call, getMethodFacts, type Guard, pauseTimeout } from "../call.ts";

/** The longest time that Node can wait. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Ends a call that takes longer than its method may, or longer than its run (X2). Whoever reports progress is given the
 * time of the method anew, but never more than the run has. The method learns of its end by its signal; one that does not
 * listen is left behind.
 */
export const timeout: Guard = (next) => async (call) => {
  const { method } = call;
  const end = new Cancellation();
  const timeoutMs = Math.min(method.metadata.timeoutMs, MAX_TIMEOUT_MS);
  const timer = setTimeout(() => end.cancel(timedOut(method)), timeoutMs);
  const stop = call.cancellable.onCancel(() => end.cancel(cancelledError(method)));
  try {
    if (end.reason !== undefined) throw end.reason;
    const progress: typeof call.progress = (...step) => {
      timer.refresh();
      call.progress(...step);
    };
    const patiently = keepsFresh(timer, timeoutMs);
    const work = next({
      ...call,
      cancellable: end,
      progress,
      patiently: (answer) => patiently(pauseTimeout(call, answer)),
    });
    return await rejectWhenCancelled(end, work, () => end.reason ?? cancelledError(method));
  } finally {
    clearTimeout(timer);
    stop();
  }
};

/** The time in which somebody thinks is not the method's. */
function keepsFresh(timer: NodeJS.Timeout, timeoutMs: number): NonNullable<Call["patiently"]> {
  return async (answer) => {
    const fresh = setInterval(() => timer.refresh(), timeoutMs / 2);
    try {
      return await answer;
    } finally {
      clearInterval(fresh);
      timer.refresh();
    }
  };
}

function timedOut(method: Method): SkillgateError {
  const seconds = method.metadata.timeoutMs / 1_000;
  return new SkillgateError("CALL_TIMEOUT", `Tool '${method.path}' timed out after ${seconds}s`, {
    ...getMethodFacts(method),
    timeoutMs: method.metadata.timeoutMs,
  });
}
