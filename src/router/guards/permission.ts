import { SkillgateError, sentence } from "../../errors.ts";
import { findRefusal, formatScopes, hasMissingScopes, type Refusal } from "../../model/policy.ts";
import { getMethodFacts, type Guard, type GuardedCall } from "../call.ts";

/** Refuses calls for which the caller lacks a grant or a scope, and calls that the policy denies. */
export const permission: Guard = (next) => (call) => {
  const refusal = findRefusal(call.caller, call.method, { rule: call.rule, roles: call.policy.roles });
  if (refusal === undefined) return next(call);
  const requiredScopes = hasMissingScopes(refusal) ? { requiredScopes: call.rule.requiredScopes } : {};
  const facts = { ...getMethodFacts(call.method), ...requiredScopes };
  throw new SkillgateError(refusal.code, formatRefusal(refusal, call), facts);
};

function formatRefusal(refusal: Refusal, { caller, method }: GuardedCall): string {
  if (refusal.code === "POLICY_DENIED") return sentence(refusal.code, method.path);
  const values = `caller ${JSON.stringify(caller.id)} calls "${method.path}"`;
  const { missingScopes } = refusal;
  return sentence(
    refusal.code,
    missingScopes.length === 0 ? values : `${values} and lacks ${formatScopes(missingScopes)}`,
  );
}
