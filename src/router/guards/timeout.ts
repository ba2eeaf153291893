import { Cancellation } from "../../../sandbox/index.ts";
import { SkillgateError } from "../../errors.ts";
import type { Method } from "../../model/catalog.ts";
import { cancelledError, rejectWhenCancelled } from "../cancellation.ts";
import { type Call, getMethodFacts, type Guard, type GuardedCall, pauseTimeout } from "../call.ts";

/** The longest delay of a Node timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Ends a call that exceeds the timeout of its method or outlives its run. Reporting progress restarts the timeout of the
 * method, but never extends the run. The signal of the method fires at the end; a method that ignores it is abandoned.
 */
export const timeout: Guard = (next) => async (call) => {
  const { method, rule } = call;
  const end = new Cancellation();
  const timeoutMs = Math.min(rule.timeoutMs, MAX_TIMEOUT_MS);
  const leftMs = call.readTimeLeft?.() ?? Infinity;
  const timer = setTimeout(() => end.cancel(timedOut(method, rule.timeoutMs)), timeoutMs);
  const stop = call.cancellable.onCancel(() => end.cancel(createRunEndError(call, leftMs)));
  try {
    if (end.reason !== undefined) throw end.reason;
    const progress: typeof call.progress = (...step) => {
      timer.refresh();
      call.progress(...step);
    };
    const pauseTimeoutFor = pauseTimer(timer, timeoutMs);
    const work = next({
      ...call,
      cancellable: end,
      progress,
      timeoutMs: Math.min(timeoutMs, leftMs),
      pauseTimeoutFor: (answer) => pauseTimeoutFor(pauseTimeout(call, answer)),
    });
    return await rejectWhenCancelled(end, work, () => end.reason ?? cancelledError(method, end));
  } finally {
    clearTimeout(timer);
    stop();
  }
};

/** The error of a call whose run ends. The run ends a call that may take longer than the run has left. */
function createRunEndError({ method, rule, cancellable, readTimeLeft }: GuardedCall, leftMs: number): SkillgateError {
  const isOutOfTime = leftMs < rule.timeoutMs && readTimeLeft !== undefined && readTimeLeft() <= 0;
  return cancelledError(method, cancellable, isOutOfTime ? `the run had only ${leftMs} ms left for it` : undefined);
}

/** Restarts the timeout for as long as the method waits for an answer from a user or client. */
function pauseTimer(timer: NodeJS.Timeout, timeoutMs: number): NonNullable<Call["pauseTimeoutFor"]> {
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

function timedOut(method: Method, timeoutMs: number): SkillgateError {
  return new SkillgateError("CALL_TIMEOUT", `Tool '${method.path}' timed out after ${timeoutMs / 1_000}s`, {
    ...getMethodFacts(method),
    timeoutMs,
  });
}
