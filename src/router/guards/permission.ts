import { SkillgateError, sentence } from "../../errors.ts";
import { findRefusal, hasMissingScopes } from "../../model/policy.ts";
import { getMethodFacts, type Guard } from "../call.ts";

/** Refuses calls for which the caller lacks a permission or a scope, and calls that the policy denies. */
export const permission: Guard = (next) => (call) => {
  const refusal = findRefusal(call.caller, call.method, { rule: call.rule, roles: call.policy.roles });
  if (refusal === undefined) return next(call);
  const requiredScopes = hasMissingScopes(refusal) ? { requiredScopes: call.rule.requiredScopes } : {};
  const facts = { ...getMethodFacts(call.method), ...requiredScopes };
  throw new SkillgateError(refusal.code, sentence(refusal.code, `${call.method.path}, because ${refusal.why}`), facts);
};
