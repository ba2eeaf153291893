import type { Guard } from "../call.ts";

/** Refuses a call whose request does not have the values that the skill needs, before anyone is asked about it. */
export const requestValues: Guard = (next) => (call) => {
  call.requestKey();
  return next(call);
};
