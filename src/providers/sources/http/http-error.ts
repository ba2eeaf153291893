import { STATUS_CODES } from "node:http";

import { type HttpFailure, SkillgateError } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { toVisibleLine } from "../../../shared/visible-text.ts";
import { type AnswerHeaders, findRequestId, getHeader, getRetryAfterMs } from "../../../shared/http/headers.ts";

const PATH_UNITS = 300;
const DETAIL_UNITS = 600;

/** An answer that is an error. */
interface FailedAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: unknown;
}

/** Creates the error for an answer: what was asked, what the API says, and what to do. */
export function createHttpError(
  request: Pick<HttpFailure, "httpMethod" | "path">,
  { status, headers, body }: FailedAnswer,
  advice?: string,
): SkillgateError {
  const retryAfterMs = getRetryAfterMs(headers);
  const requestId = findRequestId(headers);
  const detail = truncateText(toVisibleLine(findDetail(body)), DETAIL_UNITS);
  const reason = STATUS_CODES[status] ?? "";
  const retryAfter = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1_000);
  const says = [`${status} ${reason}`.trim(), ...(detail === "" ? [] : [detail.replace(/[.\s]+$/, "")])].join(": ");
  return createFailure(`answered ${says}. ${advice ?? advise(status, headers, retryAfter)}`, {
    status,
    ...request,
    ...(body !== undefined && { body }),
    ...(requestId !== undefined && { requestId }),
    ...(retryAfter !== undefined && { retryAfter }),
  });
}

/** Creates the error for a request that is not sent, because the API would refuse it for so long. */
export function createRateLimitError(
  request: Pick<HttpFailure, "httpMethod" | "path">,
  pauseMs: number,
): SkillgateError {
  const retryAfter = Math.ceil(pauseMs / 1_000);
  const says = `was not sent, because the API takes no more requests for now. ${callAgain(retryAfter)}`;
  return createFailure(says, { status: 429, ...request, retryAfter });
}

function createFailure(says: string, http: HttpFailure): SkillgateError {
  const code = `HTTP_${http.status}`;
  const path = truncateText(toVisibleLine(http.path), PATH_UNITS);
  const message = `${http.httpMethod} ${path} ${says} (${code})`;
  return new SkillgateError("CALL_FAILED", message, { serverError: { code, http } });
}

/** Says what the reader can do, for each status that calls for something. */
function advise(status: number, headers: AnswerHeaders, retryAfter: number | undefined): string {
  if (retryAfter !== undefined && [403, 429, 503].includes(status)) return callAgain(retryAfter);
  if (status === 401) return "Ask the owner to configure credentials for this source";
  if (status === 403) return "Ask the owner for credentials that allow this, or continue without it";
  if (status === 404 || status === 410)
    return "Check the arguments that name the resource; it may also be hidden from these credentials";
  if (status === 429) return "Call again later";
  if (status === 304) return "The resource has not changed";
  if (status >= 300 && status < 400)
    return `${describeTarget(headers)}; ask the owner to correct the address of this source`;
  if (status >= 500) return "Try again later, or continue without it";
  return "Correct the arguments as the answer says";
}

/** `Call again after 30 s, at 2026-01-31T12:00:00Z` */
export function callAgain(seconds: number): string {
  const at = new Date(Date.now() + seconds * 1_000);
  const clock = Number.isNaN(at.getTime()) ? "" : `, at ${at.toISOString().slice(0, 19)}Z`;
  return `Call again after ${seconds} s${clock}`;
}

function describeTarget(headers: AnswerHeaders): string {
  const location = getHeader(headers, "location") ?? "";
  return `It redirects to ${truncateText(toVisibleLine(location), PATH_UNITS) || "no address"}, which is not followed`;
}

/** Members in which APIs write what is wrong, the clearest first. */
const DETAIL_NAMES = [
  "message",
  "error_description",
  "detail",
  "title",
  "error",
  "msg",
  "description",
  "reason",
  "errors",
];

const MAX_DETAIL_DEPTH = 4;

/** Finds the words of an API in the body of its error; of a page of HTML, the title. */
function findDetail(body: unknown): string {
  if (typeof body === "string") return findText(body);
  const message = findMessage(body, 0) ?? "";
  const errors = isRecord(body) ? (body["errors"] ?? body["details"]) : undefined;
  const more = errors === undefined ? "" : (JSON.stringify(errors) ?? "");
  return more === "" || more.includes(JSON.stringify(message)) ? message : `${message} ${more}`.trim();
}

function findText(text: string): string {
  if (!/^\s*</.test(text)) return text.slice(0, DETAIL_UNITS);
  return /<title[^>]{0,100}>([^<]{1,200})/i.exec(text.slice(0, MAX_HTML_UNITS))?.[1] ?? "";
}

const MAX_HTML_UNITS = 10_000;

function findMessage(value: unknown, depth: number): string | undefined {
  if (typeof value === "string") return value;
  if (depth > MAX_DETAIL_DEPTH) return undefined;
  if (Array.isArray(value)) return findMessage(value[0], depth + 1);
  if (!isRecord(value)) return undefined;
  for (const name of DETAIL_NAMES) {
    const message = Object.hasOwn(value, name) ? findMessage(value[name], depth + 1) : undefined;
    if (message !== undefined) return message;
  }
  return undefined;
}
