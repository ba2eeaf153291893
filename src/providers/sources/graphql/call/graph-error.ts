import { SkillgateError } from "../../../../errors.ts";
import { quote } from "../../../../shared/format-text.ts";
import { findRequestId, getRetryAfterMs } from "../../../../shared/http/headers.ts";
import { callAgain } from "../../http/http-error.ts";
import type { ApiResponse } from "../../pages/next-page.ts";
import { countErrors, type QueryAnswer, type GraphError } from "./graph-answer.ts";

/** The code of an error for which the API has none. */
const NO_CODE = "GRAPHQL_ERROR";

/** Errors beside the value of an answer that notes name. */
const MAX_NOTES = 5;

/** True if the API has refused a request because there were too many of them. */
export function isRateLimit({ errors }: Pick<QueryAnswer, "errors">): boolean {
  return errors.some(({ code = "" }) => /^(?:RATE_?LIMIT\w*|THROTTLED|TOO_MANY_REQUESTS)$/i.test(code));
}

/** True if the API has refused the credential with a status of success. */
export function isUnauthenticated({ errors, failure, data }: QueryAnswer): boolean {
  return failure === undefined && data == null && errors.some(({ code = "" }) => UNAUTHENTICATED.test(code));
}

const UNAUTHENTICATED = /^(?:UNAUTHENTICATED|AUTHENTICATION_ERROR)$/i;

/** Creates the error for an answer without a value: what the API says, about which field, and what to do. */
export function createGraphError(answer: QueryAnswer): SkillgateError {
  const { errors, response, request, failure } = answer;
  const [first] = errors;
  const { status } = response;
  const code = first?.code ?? (failure === undefined ? NO_CODE : `HTTP_${status}`);
  const retryAfterMs = getRetryAfterMs(response.headers);
  const requestId = findRequestId(response.headers);
  const http = {
    ...(requestId !== undefined && { requestId }),
    ...(retryAfterMs !== undefined && { retryAfter: Math.ceil(retryAfterMs / 1_000) }),
    ...failure?.facts.serverError?.http,
    status,
    httpMethod: request.httpMethod,
    path: first?.path ?? "",
    body: { data: null, errors: errors.map(({ sent }) => sent) },
  };
  const location = [...(first !== undefined && first.path !== "" ? [`at ${first.path}`] : []), code].join(", ");
  const says = failure === undefined ? describe(answer, http.retryAfter) : withoutCode(failure.message);
  // The API was asked as often as is useful.
  const attempts = failure?.facts.attempts ?? 1;
  return new SkillgateError("CALL_FAILED", `${says} (${location})`, { serverError: { code, http }, attempts });
}

function describe({ errors, response, request, advice }: QueryAnswer, retryAfter: number | undefined): string {
  const subject = `${request.httpMethod} ${request.path}`;
  const [first] = errors;
  if (first === undefined)
    return `${subject} answered without data and without an error. Try again later, or continue without it`;
  const more = countErrors(response.body) - 1;
  const others = more > 0 ? `, and ${more} more error${more > 1 ? "s" : ""}` : "";
  return `${subject} answered with an error in place of data: ${first.message}${others}. ${advice ?? advise(first, retryAfter)}`;
}

function withoutCode(message: string): string {
  return message.replace(/ \(HTTP_\d{3}\)$/, "");
}

/** Says what the reader can do, by the codes that servers use most (Apollo, GraphQL Yoga, GitHub, Shopify). */
function advise({ code = "", ...error }: GraphError, retryAfter: number | undefined): string {
  if (isRateLimit({ errors: [{ code, ...error }] }))
    return retryAfter === undefined ? "Call again later" : callAgain(retryAfter);
  if (UNAUTHENTICATED.test(code)) return "Ask the owner to configure credentials for this source";
  if (/^(?:FORBIDDEN|ACCESS_DENIED|INSUFFICIENT_SCOPES)$/i.test(code))
    return "Ask the owner for credentials that allow this, or continue without it";
  if (/NOT_?FOUND$/i.test(code))
    return "Check the arguments that name the resource; it may also be hidden from these credentials";
  if (/^INTERNAL/i.test(code)) return "Continue without it, or ask for fewer fields";
  return "Correct the text or its variables as the answer says, or continue without it";
}

/** Says which parts of a value are missing, and why. */
export function noteErrors({ errors, response }: QueryAnswer, path: string, addNote: (text: string) => void): void {
  for (const { message, path: field, code } of errors.slice(0, MAX_NOTES)) {
    const where = field === "" ? "has an error" : `has an error at ${field}`;
    addNote(`The result of ${path} ${where}: ${message}${code === undefined ? "" : ` (${code})`}`);
  }
  const more = countErrors(response.body) - MAX_NOTES;
  if (more > 0) addNote(`The result of ${path} has ${more} more errors; includeResponse: true gives all of them`);
}

/** Creates the error for an answer of success that is no answer of GraphQL. */
export function refuseBody(httpMethod: string, path: string, { status, headers, body }: ApiResponse): SkillgateError {
  const type = headers["content-type"]?.split(";", 1)[0] ?? "no media type";
  const begins = typeof body === "string" && body !== "" ? `; it begins ${quote(body)}` : "";
  const says = `${httpMethod} ${path} answered ${status} with ${type}, which is no answer of GraphQL${begins}`;
  const message = `${says}. Ask the owner to check the address in "graphql" of this source (${NOT_GRAPHQL})`;
  const http = { status, httpMethod, path };
  return new SkillgateError("CALL_FAILED", message, { serverError: { code: NOT_GRAPHQL, http }, attempts: 1 });
}

const NOT_GRAPHQL = "NOT_GRAPHQL";
