import { randomUUID } from "node:crypto";

import { type ErrorCode, ERRORS, hidePlace, SkillgateError } from "../errors.ts";
import type { ArgumentProblem } from "../model/arguments.ts";
import { isRecord, isTextList } from "../model/json.ts";
import { reportFault } from "./errors/faults.ts";

/** Kinds of errors that programs receive, each with its JSON-RPC code and message. */
export const RPC_ERRORS = {
  ParseError: { code: -32700, message: "Parse error", status: 400, retryable: false },
  InvalidRequest: { code: -32600, message: "Invalid Request", status: 400, retryable: false },
  MethodNotFound: { code: -32601, message: "Method not found", status: 404, retryable: false },
  InvalidParams: { code: -32602, message: "Invalid params", status: 400, retryable: false },
  InternalError: { code: -32603, message: "Internal error", status: 500, retryable: true },
  ValidationError: { code: -32001, message: "Validation error", status: 400, retryable: false },
  ToolNotFound: { code: -32002, message: "Tool not found", status: 404, retryable: false },
  ToolExecution: { code: -32003, message: "Tool execution error", status: 502, retryable: true },
  ToolTimeout: { code: -32003, message: "Tool execution timeout", status: 504, retryable: true },
  AuthenticationError: { code: -32004, message: "Authentication error", status: 401, retryable: false },
  AuthorizationError: { code: -32005, message: "Authorization error", status: 403, retryable: false },
} as const satisfies Record<
  string,
  { readonly code: number; readonly message: string; readonly status: number; readonly retryable: boolean }
>;

export type RpcErrorKind = keyof typeof RPC_ERRORS;

/** The data of an error, in addition to its code and message. */
export interface RpcErrorData {
  readonly error_type: RpcErrorKind;
  /** The invalid argument. */
  readonly field?: string;
  readonly tool_name?: string;
  readonly timeout_ms?: number;
  /** Seconds. */
  readonly retry_after?: number;
  /** The scopes that a call requires, if its caller lacks one of them. */
  readonly required_scopes?: readonly string[];
  readonly reason: string;
  readonly trace_id: string;
  readonly suggestions: readonly string[];
  readonly retryable: boolean;
}

/** A JSON-RPC error as it is sent. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: RpcErrorData;
}

/** Optional fields of an error's data. */
export interface RpcErrorDetails extends Partial<Omit<RpcErrorData, "error_type" | "reason">> {
  /** JSON-RPC endpoints know the trace of a request; elsewhere it is a new one. */
  readonly trace_id?: string;
}

export function rpcError(kind: RpcErrorKind, reason: string, details: RpcErrorDetails = {}): RpcError {
  const { code, message, retryable } = RPC_ERRORS[kind];
  const { trace_id = newTraceId(), suggestions = [], ...rest } = details;
  return { code, message, data: { error_type: kind, ...rest, reason, trace_id, suggestions, retryable } };
}

/** 32 random hexadecimal digits, as trace contexts have them. A UUID takes its random bytes from a supply. */
export function newTraceId(): string {
  return randomUUID().replaceAll("-", "");
}

/** Creates the error for a fault of the server itself. It reveals no details: the log has them. */
export function ownFault(thrown: unknown, trace_id = newTraceId()): RpcError {
  reportFault({ thrown, traceId: trace_id });
  return rpcError("InternalError", "Internal server error", { trace_id });
}

/** Converts a thrown value for the caller of `tool`; a value that is not a `SkillgateError` reveals no details. */
export function toRpcError(thrown: unknown, tool: string, details: RpcErrorDetails = {}): RpcError {
  const error = hidePlace(thrown);
  if (!(error instanceof SkillgateError)) return ownFault(error, details.trace_id);
  const { code, facts, message } = error;
  if (code === "CALL_TIMEOUT" || code === "DISCOVERY_TIMEOUT")
    return rpcError("ToolTimeout", message, { ...details, ...getTimeoutFacts(tool, error) });
  if (code === "ARGUMENTS_INVALID")
    return rpcError("ValidationError", message, { ...details, ...getProblemFacts(facts["problems"]) });
  const suggestions = getSuggestions(code, facts);
  return rpcError(getErrorKind(code), message, {
    suggestions,
    ...details,
    ...getRetryFacts(facts),
    ...getScopeFacts(facts),
  });
}

/** Formats an error for a model. */
export function formatRpcError({ data: { error_type, reason, suggestions } }: RpcError): string {
  // The reason already contains the problems of arguments and similar names.
  const advice = error_type === "ValidationError" ? [] : suggestions.filter((each) => !reason.includes(each));
  return [reason, ...advice].join("\n");
}

/** Codes whose kind is not `ToolExecution`. */
const KIND_BY_CODE: Partial<Record<ErrorCode, RpcErrorKind>> = {
  SKILL_UNKNOWN: "ToolNotFound",
  METHOD_UNKNOWN: "ToolNotFound",
  INPUT_INVALID: "ValidationError",
  SOURCE_LIMIT: "ValidationError",
  VALIDATION_TIMEOUT: "ValidationError",
  QUERY_INVALID: "ValidationError",
  QUERY_UNCHECKED: "ValidationError",
  PERMISSION_MISSING: "AuthorizationError",
  POLICY_DENIED: "AuthorizationError",
  APPROVAL_MISSING: "AuthorizationError",
  APPROVAL_EXPIRED: "AuthorizationError",
  APPROVAL_FORBIDDEN: "AuthorizationError",
  ADMIN_MISSING: "AuthorizationError",
  RUN_HIDDEN: "AuthorizationError",
  APPROVAL_UNKNOWN: "InvalidParams",
  APPROVAL_CLOSED: "InvalidRequest",
  SKILL_DISABLED: "AuthorizationError",
  SKILL_HELD: "AuthorizationError",
  METHOD_HELD: "AuthorizationError",
  METHOD_REMOVED: "ToolNotFound",
  SECRET_MISSING: "AuthorizationError",
  CPU_LIMIT: "ToolTimeout",
  WALL_LIMIT: "ToolTimeout",
  RUNTIME_CLOSED: "InternalError",
};

export function getErrorKind(code: ErrorCode): RpcErrorKind {
  return KIND_BY_CODE[code] ?? "ToolExecution";
}

function getSuggestions(code: ErrorCode, { suggestions }: SkillgateError["facts"]): readonly string[] {
  return isTextList(suggestions) && suggestions.length > 0 ? suggestions : [ERRORS[code].fix];
}

function getRetryFacts({ retryAfterSeconds }: SkillgateError["facts"]): Pick<RpcErrorData, "retry_after"> {
  return typeof retryAfterSeconds === "number" ? { retry_after: retryAfterSeconds } : {};
}

function getScopeFacts({ requiredScopes }: SkillgateError["facts"]): Pick<RpcErrorData, "required_scopes"> {
  return isTextList(requiredScopes) ? { required_scopes: requiredScopes } : {};
}

function getTimeoutFacts(tool: string, { code, facts }: SkillgateError): RpcErrorDetails {
  const { timeoutMs } = facts;
  return {
    tool_name: tool,
    ...(typeof timeoutMs === "number" && { timeout_ms: timeoutMs }),
    suggestions:
      code === "CALL_TIMEOUT" ? ["Ask for less at once", "Raise the timeout of the method"] : [ERRORS[code].fix],
  };
}

/** Returns the field of the first problem, and suggestions for all of them. */
function getProblemFacts(problems: unknown): RpcErrorDetails {
  const listed = Array.isArray(problems) ? problems.filter(isProblem) : [];
  const [first] = listed;
  const suggestions = [...new Set(listed.flatMap(getAdvice))];
  return { ...(first !== undefined && { field: first.field }), suggestions };
}

function isProblem(value: unknown): value is ArgumentProblem {
  return isRecord(value) && typeof value["field"] === "string" && typeof value["reason"] === "string";
}

/** The constraint in words, and the nearest names. */
function getAdvice({ field, reason, suggestions }: ArgumentProblem): readonly string[] {
  const subject = field === "_root" ? "the input" : field;
  return suggestions.length > 0 ? suggestions.map((name) => `Did you mean ${name}?`) : [`${subject} ${reason}`];
}
