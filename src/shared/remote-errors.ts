import type { ErrorCode } from "../errors.ts";

/** Codes with which another machine refuses a call: it says that the call had no effect. */
export const REMOTE_REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "PERMISSION_MISSING",
  "POLICY_DENIED",
  "APPROVAL_MISSING",
  "APPROVAL_EXPIRED",
  "RATE_LIMIT",
  "COOLDOWN",
  "AUDIT_FAILED",
  "METHOD_UNKNOWN",
  "SKILL_DISABLED",
  "SKILL_HELD",
  "METHOD_HELD",
  "METHOD_REMOVED",
  "ARGUMENTS_INVALID",
  "QUERY_INVALID",
  "QUERY_UNCHECKED",
  "VALIDATION_TIMEOUT",
]);

/** All codes that another machine may answer with. Any other code would look as if this machine, or the run, had failed. */
export const REMOTE_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...REMOTE_REFUSALS,
  "ANSWER_LIMIT",
  "CALL_TIMEOUT",
]);
