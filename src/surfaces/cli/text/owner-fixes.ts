import { type ErrorCode, ERRORS } from "../../../errors.ts";

/** Fixes for the person at the command line, where the table of errors advises a model. An empty one says nothing more. */
const OWNER_FIXES: Partial<Record<ErrorCode, string>> = {
  CALL_FAILED: "",
  CANCELLED: "",
  POLICY_DENIED: "See which rule denies it with: skillgate policy explain <Skill.method>",
  APPROVAL_MISSING: "Approve it at a terminal, or with --yes",
  SKILL_DISABLED: "Enable it with: skillgate skills enable <Skill>, or skillgate mcp enable <server>",
  SECRET_MISSING: "Set the variable that the message names, in the environment or in .env",
  RECORD_FAILED: "See what is wrong with the store with: skillgate store info; nothing was called",
};

/** Returns the fix of an error as a person needs it. */
export function getOwnerFix(code: ErrorCode): string {
  return OWNER_FIXES[code] ?? ERRORS[code].fix;
}
