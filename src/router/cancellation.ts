import type { Cancellable } from "../../sandbox/index.ts";
import { SkillgateError, sentence } from "../errors.ts";
import type { Method } from "../model/catalog.ts";
import { getMethodFacts } from "./call.ts";

/** The result of `work`, unless it is called off first. Then `work` is left alone, and whatever becomes of it ignored. */
export function rejectWhenCancelled<T>(cancellable: Cancellable, work: Promise<T>, why: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = cancellable.onCancel(() => reject(why()));
    work.then(resolve, reject).finally(stop);
  });
}

/** The error of a call whose run ends before the call does. */
export function cancelledError(method: Method): SkillgateError {
  return new SkillgateError("CALL_CANCELLED", sentence("CALL_CANCELLED", method.path), getMethodFacts(method));
}
