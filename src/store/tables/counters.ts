import { defineTable, integer, type RowOf, type Rows, type StoreEngine, text } from "../database/table.ts";

/** How often something happened in one window of time. */
export type CounterRow = RowOf<typeof COUNTERS>;

export const COUNTERS = defineTable({
  name: "counters",
  key: ["bucket", "start"],
  columns: {
    /** The subject that is counted, such as `key abc minute`. */
    bucket: text(),
    /** The beginning of the window, in milliseconds since 1970. */
    start: integer(),
    count: integer(),
    /** The row may be deleted after this time. */
    expires: integer(),
  },
  indexes: [["expires"]],
});

/** Parts of a window of time. A use leaves the window with the part that it was counted in, so up to one part later. */
const PARTS = 20;
/** Parts of a window for one use: a cooldown is at most one thousandth longer than it says. */
const PARTS_FOR_ONE_USE = 1_000;

/** Returns the length of the parts in which the uses of a window are counted, in milliseconds. */
export function getPartMs({ lengthMs, maxCalls }: { readonly lengthMs: number; readonly maxCalls?: number }): number {
  return lengthMs / (maxCalls === 1 ? PARTS_FOR_ONE_USE : PARTS);
}

/** The length of the parts in which uses without a limit are counted, in milliseconds: those of a minute. */
export const NOTED_PART_MS = getPartMs({ lengthMs: 60_000 });

/** Returns the bucket of the requests of a caller that count in a limit, or of its replays or checks. */
export function getCallerBucket(what: "minute" | "hour" | "replay" | "check", caller: string): string {
  return JSON.stringify(["caller", what, caller]);
}

/** Counters that all processes on the store share, for limits of rates. */
export interface CounterTable extends CountersInTurn {
  get(bucket: string, start: number): Promise<number>;
  /**
   * Runs `work` in a transaction; of several with one of the buckets, in whatever process, one after the other. `work` may run
   * again after a lost connection, so that a use may count twice.
   */
  useInTurn<Result>(buckets: readonly string[], work: (counters: CountersInTurn) => Promise<Result>): Promise<Result>;
  /** Deletes the windows that may be deleted by `time`, and returns how many these were. */
  expire(time: number): Promise<number>;
}

/** The part of the counters that a transaction needs. */
export interface CountersInTurn {
  /** Adds 1, or `amount`, to the counter of a window, and returns the new count. A negative amount takes calls back. */
  add(window: Omit<CounterRow, "count">, amount?: number): Promise<number>;
  /** The windows of a bucket that begin after a time, the oldest first. */
  list(bucket: string, after: number): Promise<readonly CounterRow[]>;
}

export function createCounterTable(engine: StoreEngine): CounterTable {
  return {
    ...createCounters(engine),
    get: async (bucket, start) => (await engine.select(COUNTERS, { bucket, start }))[0]?.count ?? 0,
    useInTurn: (buckets, work) =>
      engine.transaction(
        buckets.map((bucket) => `counter ${bucket}`),
        (rows) => work(createCounters(rows)),
      ),
    expire: (time) => engine.delete(COUNTERS, { expires: { lt: time } }),
  };
}

function createCounters(rows: Pick<Rows, "count" | "select">): CountersInTurn {
  return {
    add: (window, amount = 1) => rows.count(COUNTERS, { ...window, count: amount }, "count"),
    list: (bucket, after) => rows.select(COUNTERS, { bucket, start: { gt: after } }, { order: "start" }),
  };
}
