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

interface CallerResults {
  readonly texts: Map<string, { readonly text: string; readonly until: number }>;
  bytes: number;
}

/**
 * Keeps results in memory: for an hour by default, and never more than `maxBytes` of them. Beyond that, the caller that has the most
 * loses its oldest.
 */
export function createKeptResults(ttlMs = 3_600_000, maxBytes = 128 << 20, now: () => number = Date.now): KeptResults {
  const callers = new Map<string, CallerResults>();

  function add(id: string, uri: string, text: string): void {
    const own = callers.get(id) ?? { texts: new Map(), bytes: 0 };
    callers.set(id, own);
    own.texts.set(uri, { text, until: now() + ttlMs });
    own.bytes += text.length * 2;
  }

  function forget(id: string, uri: string): void {
    const own = callers.get(id);
    const bytes = (own?.texts.get(uri)?.text.length ?? 0) * 2;
    own?.texts.delete(uri);
    if (own !== undefined) own.bytes -= bytes;
    if (own?.texts.size === 0) callers.delete(id);
  }

  function forgetExpired(): void {
    for (const [id, { texts }] of callers)
      for (const [uri, { until }] of texts) {
        if (until > now()) break;
        forget(id, uri);
      }
  }

  /** Forgets results until there is space, except for the newest. */
  function forgetExcess(newest: string): void {
    const getUsed = (): number => [...callers.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    while (getUsed() > maxBytes) {
      const oldest = [...callers].flatMap(([id, { texts, bytes }]) => {
        const [uri] = texts.keys();
        return uri === undefined || uri === newest ? [] : [{ id, uri, bytes }];
      });
      const [surplus] = oldest.toSorted((one, other) => other.bytes - one.bytes);
      if (surplus === undefined) return;
      forget(surplus.id, surplus.uri);
    }
  }

  return {
    keep(runId, text, { id } = OWNER) {
      forgetExpired();
      const own = callers.get(id)?.texts;
      let n = 1;
      while (own?.has(`result://${runId}/${n}`) === true) n++;
      const uri = `result://${runId}/${n}`;
      add(id, uri, text);
      forgetExcess(uri);
      return uri;
    },
    read(uri, offset = 0, length = 16_384, { id } = OWNER) {
      const entry = callers.get(id)?.texts.get(uri);
      if (entry === undefined || entry.until <= now()) return undefined;
      return { text: entry.text.slice(offset, offset + length), total: entry.text.length };
    },
  };
}
