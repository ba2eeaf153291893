import type { IncomingHttpHeaders } from "node:http";

/** The headers of an answer. */
export type AnswerHeaders = IncomingHttpHeaders;

export function getHeader(headers: AnswerHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** Headers that a program may read; never cookies. */
const SHOWN_NAMES: ReadonlySet<string> = new Set([
  "content-disposition",
  "content-language",
  "content-range",
  "content-type",
  "etag",
  "last-modified",
  "link",
  "location",
  "retry-after",
]);

const SHOWN_PATTERN =
  /^(?:x-)?(?:ratelimit|rate-limit)|^x-(?:total|page|per-page|next|prev|pagination|has-more|offset|limit)|request-id$|correlation-id$/;

/** Limits on the headers that a program reads. */
const MAX_HEADERS = 50;
const MAX_HEADER_UNITS = 4_096;

/** Selects the headers that a program may read. */
export function selectHeaders(headers: AnswerHeaders): Readonly<Record<string, string>> {
  const shownNames = Object.keys(headers).filter((name) => SHOWN_NAMES.has(name) || SHOWN_PATTERN.test(name));
  return Object.fromEntries(
    shownNames.slice(0, MAX_HEADERS).map((name) => [name, (getHeader(headers, name) ?? "").slice(0, MAX_HEADER_UNITS)]),
  );
}

/** Headers in which servers name a request, the usual ones first. */
const REQUEST_IDS = [
  "x-request-id",
  "request-id",
  "x-github-request-id",
  "x-amzn-requestid",
  "x-amz-request-id",
  "x-ms-request-id",
  "x-correlation-id",
  "x-trace-id",
  "cf-ray",
] as const;

const MAX_ID_UNITS = 200;

export function findRequestId(headers: AnswerHeaders): string | undefined {
  const name = REQUEST_IDS.find((each) => getHeader(headers, each) !== undefined);
  return name === undefined ? undefined : getHeader(headers, name)?.slice(0, MAX_ID_UNITS);
}

/** Returns the milliseconds after which `Retry-After` allows the next request: seconds or a date. */
export function getRetryAfterMs(headers: AnswerHeaders): number | undefined {
  const value = getHeader(headers, "retry-after")?.trim() ?? "";
  if (/^\d{1,9}(?:\.\d{1,3})?$/.test(value)) return Number(value) * 1_000;
  const at = value.length > MAX_DATE_UNITS ? NaN : Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

const MAX_DATE_UNITS = 64;
