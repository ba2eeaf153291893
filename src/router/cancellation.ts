import type { Cancellable } from "../../sandbox/index.ts";
import { createError, type SkillgateError } from "../errors.ts";
import type { Method } from "../model/catalog.ts";
import { findCancelReason } from "../model/credential.ts";
import { getMethodFacts } from "./call.ts";

/** Settles like `work`, or rejects when it is cancelled first. Then `work` continues and its outcome is ignored. */
export function rejectWhenCancelled<T>(cancellable: Cancellable, work: Promise<T>, why: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = cancellable.onCancel(() => reject(why()));
    work.then(resolve, reject).finally(stop);
  });
}

/** The error of a call whose run ends before the call does. */
export function cancelledError(
  method: Method,
  cancellable: Cancellable,
  why: string | undefined = findCancelReason(cancellable),
): SkillgateError {
  const values = why === undefined ? method.path : `${method.path}; ${why}`;
  return createError("CALL_CANCELLED", values, getMethodFacts(method));
}
