import { createError, type SkillgateError } from "../../errors.ts";
import { findRefusal, hasMissingScopes, type Refusal } from "../../model/policy.ts";
import { getMethodFacts, type Guard, type GuardedCall } from "../call.ts";
import { findPartsRefusal } from "../query-parts.ts";

/** Refuses calls for which the caller lacks a permission or a scope, and calls that the policy denies; each part of a call counts. */
export const permission: Guard = (next) => (call) => {
  const { caller, method, parts, flaw, policy } = call;
  const own = findRefusal(caller, method, { rule: policy.getRule(method), roles: policy.roles });
  if (own !== undefined) throw createRefusal(own, call, call);
  if (flaw !== undefined) throw flaw;
  const refusal = findPartsRefusal(call, parts, policy);
  if (refusal !== undefined) throw createRefusal(refusal, refusal.part, call);
  return next(call);
};

function createRefusal(
  refusal: Refusal,
  { method: { path }, rule: { requiredScopes } }: Pick<GuardedCall, "method" | "rule">,
  { method }: GuardedCall,
): SkillgateError {
  const facts = { ...getMethodFacts(method), ...(hasMissingScopes(refusal) && { requiredScopes }) };
  return createError(refusal.code, `${path}, because ${refusal.why}`, facts);
}
