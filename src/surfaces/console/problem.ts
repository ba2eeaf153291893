import { type ErrorCode, ERRORS, hidePlace, sentence, SkillgateError } from "../../errors.ts";
import { reportFault } from "../../shared/errors/faults.ts";
import { getErrorKind, RPC_ERRORS } from "../../shared/rpc-errors.ts";
import type { ProblemDetails } from "./messages.ts";

/** Statuses of errors that differ from those of the other endpoints. */
const STATUS_BY_CODE: Partial<Record<ErrorCode, number>> = {
  LOGIN_MISSING: 401,
  LOGIN_INVALID: 401,
  ADMIN_MISSING: 403,
  RUN_HIDDEN: 403,
  REQUEST_FOREIGN: 403,
  REQUEST_INVALID: 400,
  CONFIG_INVALID: 400,
  OPTION_INVALID: 400,
  ARGUMENTS_INVALID: 400,
  CONTINUE_INVALID: 400,
  INPUT_INVALID: 400,
  PAGE_UNKNOWN: 404,
  RUN_NOT_FOUND: 404,
  KEY_UNKNOWN: 404,
  APPROVAL_UNKNOWN: 404,
  APPROVAL_CLOSED: 409,
  APPROVAL_FORBIDDEN: 403,
  RUN_BUSY: 409,
  AUTOMATION_INVALID: 400,
  AUTOMATION_UNKNOWN: 404,
  OCCURRENCE_UNKNOWN: 404,
  AUTOMATION_HELD: 409,
  RATE_LIMIT: 429,
  RUNTIME_CLOSED: 503,
};

/** Answers with a thrown error as RFC 9457 describes it. Errors of the server itself reveal no details. */
export function answerProblem(thrown: unknown): Response {
  const problem = toProblem(thrown);
  return Response.json(problem, {
    status: problem.status,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store" },
  });
}

/** Describes a thrown value. Errors of the server itself reveal no details. */
export function toProblem(thrown: unknown): ProblemDetails {
  const error = hidePlace(thrown);
  if (!(error instanceof SkillgateError)) {
    reportFault({ thrown });
    const fix = "Try again; the log of the server has the cause";
    return { type: "urn:skillgate:error:INTERNAL", title: "Internal server error", status: 500, code: "INTERNAL", fix };
  }
  const { code, message, facts } = error;
  const { fix = ERRORS[code].fix, suggestions } = facts;
  return {
    type: `urn:skillgate:error:${code}`,
    title: ERRORS[code].says,
    status: STATUS_BY_CODE[code] ?? RPC_ERRORS[getErrorKind(code)].status,
    detail: message,
    code,
    fix: String(fix),
    ...(Array.isArray(suggestions) && { suggestions: suggestions.map(String) }),
  };
}

/** Creates the error for a part of a request that cannot be used. */
export function invalidRequest(values: string): SkillgateError {
  return new SkillgateError("REQUEST_INVALID", sentence("REQUEST_INVALID", values));
}
