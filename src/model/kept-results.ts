import { type Caller, OWNER } from "./caller.ts";

/** The largest result that is kept; beyond it a run ends with `RESULT_LIMIT`. */
export const KEPT_RESULT_BYTES = 16 << 20;

/** A value that was too large to hand out whole, kept for a while (S11). */
export interface KeptResults extends RunResults {
  read(...part: Parameters<RunResults["read"]>): ResultPart | undefined;
}

export interface ResultPart {
  readonly text: string;
  /** The length of the whole text in UTF-16 units. */
  readonly total: number;
}

/** The results that a run keeps and reads; another process may have them. */
export interface RunResults {
  /** Returns the name under which this caller can read the text in parts: `result://<runId>/<n>`. */
  keep(runId: string, text: string, caller?: Caller): string;
  /** A part of it, in UTF-16 units; `undefined` if this caller has no such result, or not any more. */
  read(
    uri: string,
    offset?: number,
    length?: number,
    caller?: Caller,
  ): ResultPart | undefined | Promise<ResultPart | undefined>;
}

/** A result that a later program of the same caller may use. */
export interface HandledResult {
  readonly json: string;
  /** True if the JSON holds tagged dates or bytes. */
  readonly tagged: boolean;
  /** Kind and size, for a message: `a list of 5,000 items`. */
  readonly summary: string;
}

/** Results that were too large to show whole, by a short name for each caller: `r1`, `r2`, …. */
export interface ResultHandles {
  /** Returns the handle; `undefined` if the result is too large to keep. */
  keep(caller: Caller, result: HandledResult): string | undefined;
  get(caller: Caller, handle: string): HandledResult | undefined | Promise<HandledResult | undefined>;
  list(caller: Caller): HandleList | Promise<HandleList>;
}

type HandleList = readonly { readonly handle: string; readonly summary: string }[];

/** Where a run keeps large results, and finds those of earlier runs. */
export interface ResultSpace {
  readonly results: RunResults;
  readonly handles: ResultHandles;
}

/** Keeps results in memory: for an hour by default, and never more than `maxBytes` of them; the oldest go first. */
export function createKeptResults(ttlMs = 3_600_000, maxBytes = 128 << 20, now: () => number = Date.now): KeptResults {
  const results = new Map<string, { readonly text: string; readonly until: number; readonly caller: string }>();
  let usedBytes = 0;

  function forget(uri: string): void {
    usedBytes -= (results.get(uri)?.text.length ?? 0) * 2;
    results.delete(uri);
  }

  return {
    keep(runId, text, caller = OWNER) {
      let n = 1;
      while (results.has(`result://${runId}/${n}`)) n++;
      const uri = `result://${runId}/${n}`;
      results.set(uri, { text, until: now() + ttlMs, caller: caller.id });
      usedBytes += text.length * 2;
      for (const [oldest, entry] of results) {
        if (oldest === uri || (usedBytes <= maxBytes && entry.until > now())) break;
        forget(oldest);
      }
      return uri;
    },
    read(uri, offset = 0, length = 16_384, caller = OWNER) {
      const entry = results.get(uri);
      if (entry?.caller !== caller.id) return undefined;
      if (entry.until <= now()) {
        forget(uri);
        return undefined;
      }
      return { text: entry.text.slice(offset, offset + length), total: entry.text.length };
    },
  };
}
