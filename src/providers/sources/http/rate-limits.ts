import { setTimeout as wait } from "node:timers/promises";

import { type AnswerHeaders, getHeader, getRetryAfterMs } from "../../../shared/http/headers.ts";
import type { RequestAccount } from "../../../shared/http/request-account.ts";
import { setBounded } from "../../../shared/lru.ts";

/** How many requests an API still takes before a moment of `performance.now()`. */
interface Quota {
  remaining: number;
  readonly until: number;
}

/** The facts of a request that decide which limits count for it. */
export interface LimitedRequest {
  readonly operation: string;
  /** Has the id of its connection: a service limits each one by itself. */
  readonly account: Pick<RequestAccount, "id"> | undefined;
}

/** A longer pause is not believed: the next request shows whether it is still true. */
const MAX_PAUSE_MS = 3_600_000;

/** Limit on the quotas of an API: of its operations, and those that it names, for each connection. */
const MAX_QUOTAS = 10_000;

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
  async take(request: LimitedRequest, getTimeLeft: () => number, signal: AbortSignal): Promise<number | undefined> {
    const keys = [this.#getSharedKey(request), getOwnKey(request)];
    for (;;) {
      const quotas = keys.flatMap((key) => this.#quotas.get(key) ?? []);
      const full = quotas.filter(({ remaining }) => remaining <= 0);
      const pauseMs = Math.max(0, ...full.map(({ until }) => until - performance.now()));
      if (pauseMs === 0) {
        for (const quota of quotas) quota.remaining -= 1;
        return undefined;
      }
      if (pauseMs >= getTimeLeft()) return pauseMs;
      await wait(pauseMs, undefined, { signal });
    }
  }

  /** Takes what the headers of an answer say of the requests that follow. */
  note(request: LimitedRequest, status: number, headers: AnswerHeaders): void {
    const retryAfterMs = status === 429 || status === 503 ? getRetryAfterMs(headers) : undefined;
    const quota = readQuota(headers);
    const name = getHeader(headers, "x-ratelimit-resource")?.slice(0, 100);
    if (name !== undefined) this.#names.set(request.operation, name);
    const isUsedUp = quota.remaining !== undefined && quota.remaining <= 0;
    if (retryAfterMs === undefined) this.#set(this.#getSharedKey(request), quota);
    // Without a word of a quota, the answer is about this operation: many APIs limit each one by itself.
    else
      this.#set(isUsedUp ? this.#getSharedKey(request) : getOwnKey(request), { remaining: 0, resetMs: retryAfterMs });
  }

  #set(key: string, { remaining, resetMs }: ReadQuota): void {
    if (remaining === undefined || resetMs === undefined || !(resetMs > 0)) return;
    const until = performance.now() + Math.min(resetMs, MAX_PAUSE_MS);
    const last = this.#quotas.get(key);
    // Answers come in any order, and do not count the requests that are under way.
    const isSame = last !== undefined && Math.abs(last.until - until) < SAME_PERIOD_MS;
    const next = { remaining: isSame ? Math.min(last.remaining, remaining) : remaining, until };
    setBounded(this.#quotas, [key, next], MAX_QUOTAS);
  }

  #getSharedKey({ operation, account }: LimitedRequest): string {
    return JSON.stringify([account?.id, "shared", this.#names.get(operation) ?? ""]);
  }
}

/** Identifies the limit that counts for one operation alone. */
function getOwnKey({ operation, account }: LimitedRequest): string {
  return JSON.stringify([account?.id, "own", operation]);
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
