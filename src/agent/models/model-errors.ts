import { type ErrorCode, ERRORS, getMessage, sentence, SkillgateError } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import { RedirectRefused } from "../../shared/http/fetch-same-server.ts";
import { cutText } from "../../shared/format-text.ts";
import { type RequestErrorFields, isRequestError } from "./model-request-error.ts";

/** A request to a model that failed. */
export interface ModelFailure {
  readonly error: SkillgateError;
  readonly isRetryable: boolean;
  /** The time that the server asks to wait; `undefined` if it does not say. */
  readonly waitMs?: number | undefined;
  /** The server does not offer tools for this model. */
  readonly lacksTools: boolean;
  /** The conversation is longer than the context window. */
  readonly isTooLong: boolean;
}

const MAX_MESSAGE_UNITS = 500;

/** A reply that ended before the model was finished. */
export class ReplyCut extends Error {}

/** Describes what was thrown while a model was asked. */
export function toModelFailure(caught: unknown, label: string): ModelFailure {
  const thrown = unwrapCut(caught);
  if (thrown instanceof SkillgateError) return createFailure(thrown);
  if (isRequestError(thrown)) return fromApiError(thrown, label);
  const text = cutText(describeThrown(thrown), MAX_MESSAGE_UNITS);
  if (isConnectionCut(thrown))
    return createFailure(createError("MODEL_UNREACHABLE", `${label}: the connection was cut: ${text}`), {
      isRetryable: true,
    });
  if (/overloaded|rate.?limit|too many requests|server_error|timeout/i.test(text))
    return createFailure(createError("MODEL_BUSY", `${label}: ${text}`), { isRetryable: true });
  return createFailure(createError("MODEL_REPLY_INVALID", `${label}: ${text}`));
}

function fromApiError(thrown: Error & RequestErrorFields, label: string): ModelFailure {
  const { statusCode: status, responseHeaders = {} } = thrown;
  const text = cutText(thrown.message || "no message", MAX_MESSAGE_UNITS);
  const what = `${label}: ${status === undefined ? "" : `HTTP ${status}: `}${text}`;
  const isRetryable = !(thrown.cause instanceof RedirectRefused);
  if (status === undefined) return createFailure(createError("MODEL_UNREACHABLE", what), { isRetryable });
  if (status < 400) return createFailure(createError("MODEL_REPLY_INVALID", what));
  if (status === 408 || status === 409 || status === 429 || status >= 500)
    return createFailure(createError(status >= 500 && status !== 529 ? "MODEL_UNREACHABLE" : "MODEL_BUSY", what), {
      isRetryable: true,
      waitMs: parseWait(responseHeaders),
    });
  const isAboutTools = /tool|function/i.test(text) && /support|not (?:allowed|available|enabled)/i.test(text);
  const isTooLong =
    status === 413 || /context.{0,20}(?:length|window|size)|too long|maximum.{0,20}tokens|too many tokens/i.test(text);
  return createFailure(createError("MODEL_REFUSED", what), { lacksTools: isAboutTools, isTooLong });
}

function createError(code: ErrorCode, what: string): SkillgateError {
  return new SkillgateError(code, sentence(code, what), { fix: ERRORS[code].fix });
}

function createFailure(error: SkillgateError, facts: Partial<ModelFailure> = {}): ModelFailure {
  return { error, isRetryable: false, lacksTools: false, isTooLong: false, ...facts };
}

/** An error inside of a stream may be an object of the server. */
function describeThrown(thrown: unknown): string {
  if (!isRecord(thrown) || thrown instanceof Error) return getMessage(thrown);
  const { type, message } = thrown;
  return [type, message].filter((part) => typeof part === "string").join(": ") || JSON.stringify(thrown);
}

/** The AI SDK reports a connection that is lost in the middle of a reply as a request that failed with HTTP 200. */
function unwrapCut(thrown: unknown): unknown {
  const isWrapped = isRequestError(thrown) && thrown.statusCode === 200 && isConnectionCut(thrown.cause);
  return isWrapped ? thrown.cause : thrown;
}

/** The library has words of its own for a stream without an end. */
function isConnectionCut(thrown: unknown): boolean {
  if (thrown instanceof ReplyCut) return true;
  const text = getMessage(thrown);
  return thrown instanceof TypeError
    ? /terminated|fetch failed|network|socket|other side closed/i.test(text)
    : /ended without a finish reason|ECONNRESET|socket hang up|premature/i.test(text);
}

/** Parses `retry-after-ms`, and `retry-after` in seconds or as a date. */
function parseWait(headers: Readonly<Record<string, string>>): number | undefined {
  const ms = Number(headers["retry-after-ms"]);
  if (headers["retry-after-ms"] !== undefined && ms >= 0) return ms;
  const written = headers["retry-after"];
  if (written === undefined) return undefined;
  const seconds = Number(written);
  if (seconds >= 0) return seconds * 1_000;
  const date = Date.parse(written);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
