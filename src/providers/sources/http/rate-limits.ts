import { setTimeout as wait } from "node:timers/promises";

import { type AnswerHeaders, getHeader, getRetryAfterMs } from "../../../shared/http/headers.ts";

/** How many requests an API still takes before a moment of `performance.now()`. */
interface Quota {
  remaining: number;
  readonly until: number;
}

/** A longer pause is not believed: the next request shows whether it is still true. */
const MAX_PAUSE_MS = 3_600_000;

/** Limit on the names of quotas that an API may use. */
const MAX_QUOTAS = 100;

/** Ends of the same period may differ by this much, because they are given in seconds. */
const SAME_PERIOD_MS = 2_000;

/** Counts requests in the limits that the answers of an API name, so that none is sent that the API would refuse. */
export class RateLimits {
  readonly #quotas = new Map<string, Quota>();
  /** The names of the quotas of operations; most APIs have one without a name. */
  readonly #names = new Map<string, string>();

  /**
   * Waits until the API takes a request. Returns `undefined`, or the milliseconds until then, if they are more than `getTimeLeft` returns.
   */
  async take(operation: string, getTimeLeft: () => number, signal: AbortSignal): Promise<number | undefined> {
    for (;;) {
      const name = this.#names.get(operation) ?? "";
      const quota = this.#quotas.get(name);
      const pauseMs = quota === undefined ? 0 : quota.until - performance.now();
      if (quota === undefined || pauseMs <= 0) {
        this.#quotas.delete(name);
        return undefined;
      }
      if (quota.remaining > 0) {
        quota.remaining -= 1;
        return undefined;
      }
      if (pauseMs >= getTimeLeft()) return pauseMs;
      await wait(pauseMs, undefined, { signal });
    }
  }

  /** Takes what the headers of an answer say of the requests that follow. */
  note(operation: string, status: number, headers: AnswerHeaders): void {
    const retryAfterMs = status === 429 || status === 503 ? getRetryAfterMs(headers) : undefined;
    const { remaining, resetMs } =
      retryAfterMs === undefined ? readQuota(headers) : { remaining: 0, resetMs: retryAfterMs };
    if (remaining === undefined || resetMs === undefined || !(resetMs > 0)) return;
    const name = this.#findName(getHeader(headers, "x-ratelimit-resource") ?? "");
    if (name !== "") this.#names.set(operation, name);
    const until = performance.now() + Math.min(resetMs, MAX_PAUSE_MS);
    const last = this.#quotas.get(name);
    // Answers come in any order, and do not count the requests that are under way.
    const isSame = last !== undefined && Math.abs(last.until - until) < SAME_PERIOD_MS;
    this.#quotas.set(name, { remaining: isSame ? Math.min(last.remaining, remaining) : remaining, until });
  }

  #findName(name: string): string {
    return this.#quotas.has(name) || this.#quotas.size < MAX_QUOTAS ? name.slice(0, 100) : "";
  }
}

/** The rest of a quota, and the milliseconds until it is full again. */
interface ReadQuota {
  readonly remaining: number | undefined;
  readonly resetMs: number | undefined;
}

function readQuota(headers: AnswerHeaders): ReadQuota {
  const field = getHeader(headers, "ratelimit");
  if (field !== undefined) return readField(field.slice(0, MAX_FIELD_UNITS));
  for (const prefix of ["ratelimit", "x-ratelimit", "x-rate-limit"]) {
    const remaining = parseNumber(getHeader(headers, `${prefix}-remaining`));
    const reset = getHeader(headers, `${prefix}-reset`);
    if (remaining !== undefined && reset !== undefined) return { remaining, resetMs: parseReset(reset) };
  }
  return { remaining: undefined, resetMs: undefined };
}

const MAX_FIELD_UNITS = 1_000;

/** Reads `"burst";r=0;t=30, "daily";r=9;t=3600`, and the older `limit=100, remaining=0, reset=30`; returns the one that is used up. */
function readField(field: string): ReadQuota {
  const isOlder = /\bremaining\s*=/.test(field);
  const quotas = (isOlder ? [field] : field.split(",")).map((each) => ({
    remaining: parseNumber(/\b(?:r|remaining)\s*=\s*(\d+)/.exec(each)?.[1]),
    resetMs: parseReset(/\b(?:t|reset)\s*=\s*(\d+)/.exec(each)?.[1] ?? ""),
  }));
  const first = quotas.toSorted((a, b) => (a.remaining ?? Infinity) - (b.remaining ?? Infinity))[0];
  return first ?? { remaining: undefined, resetMs: undefined };
}

function parseNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*-?\d{1,15}(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

/** Reads seconds from now, seconds or milliseconds since 1970, or a date. */
function parseReset(text: string): number | undefined {
  const number = parseNumber(text);
  if (number === undefined) {
    const at = text.length > 64 ? NaN : Date.parse(text);
    return Number.isNaN(at) ? undefined : at - Date.now();
  }
  if (number > 1e11) return number - Date.now();
  return number > 1e8 ? number * 1_000 - Date.now() : number * 1_000;
}
