import { SkillgateError, sentence } from "../../errors.ts";
import { mayCall } from "../../model/caller.ts";
import { getMethodFacts, type Guard } from "../call.ts";

/** Refuses calls for which the caller holds no grant. */
export const permission: Guard = (next) => (call) => {
  const { caller, method } = call;
  if (mayCall(caller, method.path)) return next(call);
  const values = `caller ${JSON.stringify(caller.id)} calls "${method.path}"`;
  throw new SkillgateError("PERMISSION_MISSING", sentence("PERMISSION_MISSING", values), getMethodFacts(method));
};
