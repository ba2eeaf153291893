import type { ErrorCode } from "../../errors.ts";
import type { Outcome } from "../../model/outcome.ts";

/**
 * Every exit code of the command. A file that does not exist is wrong usage; only a skill, a method or a server can be
 * "not found".
 */
export const EXIT_CODES = {
  ok: { code: 0, says: "success" },
  failed: { code: 1, says: "the program or a call failed" },
  usage: { code: 2, says: "wrong usage or configuration, or a file that does not exist" },
  refused: { code: 3, says: "refused; nothing was called" },
  approval: { code: 4, says: "an approval was denied or is pending" },
  notFound: { code: 5, says: "the skill, method, server, key, run or automation does not exist" },
  unreachable: { code: 6, says: "a server cannot be reached, a skill is held, or the call is not allowed" },
  timeLimit: { code: 124, says: "a time limit was exceeded" },
  hungUp: { code: 129, says: "ended by SIGHUP" },
  interrupted: { code: 130, says: "interrupted (Ctrl-C)" },
  terminated: { code: 143, says: "ended by SIGTERM" },
} as const satisfies Record<string, { readonly code: number; readonly says: string }>;

export type Exit = keyof typeof EXIT_CODES;

/** The exit of each error; all other errors exit as `failed`. */
const EXIT_OF_ERROR: Partial<Record<ErrorCode, Exit>> = {
  SOURCE_LIMIT: "refused",
  ARGUMENTS_INVALID: "refused",
  INPUT_INVALID: "refused",
  QUERY_INVALID: "refused",
  COOLDOWN: "refused",
  RATE_LIMIT: "refused",
  SKILL_UNKNOWN: "notFound",
  METHOD_UNKNOWN: "notFound",
  KEY_UNKNOWN: "notFound",
  RUN_NOT_FOUND: "notFound",
  AUTOMATION_UNKNOWN: "notFound",
  OCCURRENCE_UNKNOWN: "notFound",
  AUTOMATION_HELD: "unreachable",
  AUTOMATION_INVALID: "usage",
  APPROVAL_MISSING: "approval",
  APPROVAL_EXPIRED: "approval",
  APPROVAL_UNKNOWN: "notFound",
  APPROVAL_CLOSED: "failed",
  APPROVAL_FORBIDDEN: "unreachable",
  PERMISSION_MISSING: "unreachable",
  POLICY_DENIED: "unreachable",
  SKILL_DISABLED: "unreachable",
  SKILL_HELD: "unreachable",
  METHOD_HELD: "unreachable",
  METHOD_REMOVED: "notFound",
  SECRET_MISSING: "unreachable",
  ACCOUNT_MISSING: "unreachable",
  ACCOUNT_RECONNECT: "unreachable",
  ACCOUNT_SCOPES: "unreachable",
  ACCOUNT_UNAVAILABLE: "unreachable",
  SERVER_FAILED: "unreachable",
  MODEL_UNREACHABLE: "unreachable",
  MODEL_REFUSED: "unreachable",
  MODEL_BUSY: "unreachable",
  MODEL_MISSING: "usage",
  CPU_LIMIT: "timeLimit",
  WALL_LIMIT: "timeLimit",
  CALL_TIMEOUT: "timeLimit",
  VALIDATION_TIMEOUT: "timeLimit",
  QUERY_UNCHECKED: "timeLimit",
  DISCOVERY_TIMEOUT: "timeLimit",
  CANCELLED: "interrupted",
  CONFIG_INVALID: "usage",
  OPTION_INVALID: "usage",
};

export function errorToExit(code: ErrorCode): Exit {
  return EXIT_OF_ERROR[code] ?? "failed";
}

const HELD: ReadonlySet<ErrorCode> = new Set(["SKILL_HELD", "METHOD_HELD"]);

/** A failed run may have made calls, so it never exits as `refused` or `notFound`. */
export function outcomeToExit(outcome: Outcome): Exit {
  switch (outcome.kind) {
    case "completed":
      return "ok";
    case "refused":
      return outcome.violations.some(({ code }) => HELD.has(code)) ? "unreachable" : "refused";
    case "waiting":
      return "approval";
    case "failed": {
      const exit = errorToExit(outcome.error.code);
      return exit === "approval" || exit === "timeLimit" || exit === "interrupted" ? exit : "failed";
    }
  }
}
