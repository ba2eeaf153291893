import { defineTable, integer, type RowOf, type StoreEngine, text } from "../database/table.ts";

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

/** Returns the bucket of the requests of a caller that count in a limit, or of its replays or checks. */
export function getCallerBucket(what: "minute" | "hour" | "replay" | "check", caller: string): string {
  return JSON.stringify(["caller", what, caller]);
}

/** Counters that all processes on the store share, for limits of rates. */
export interface CounterTable {
  /** Adds 1, or `amount`, to the counter of a window, and returns the new count. A negative amount takes calls back. */
  add(window: Omit<CounterRow, "count">, amount?: number): Promise<number>;
  get(bucket: string, start: number): Promise<number>;
  /** The windows of a bucket that begin after a time, the oldest first. */
  list(bucket: string, after: number): Promise<readonly CounterRow[]>;
  /** Deletes the windows that may be deleted by `time`, and returns how many these were. */
  expire(time: number): Promise<number>;
}

export function createCounterTable(engine: StoreEngine): CounterTable {
  return {
    add: (window, amount = 1) => engine.count(COUNTERS, { ...window, count: amount }, "count"),
    get: async (bucket, start) => (await engine.select(COUNTERS, { bucket, start }))[0]?.count ?? 0,
    list: (bucket, after) => engine.select(COUNTERS, { bucket, start: { gt: after } }, { order: "start" }),
    expire: (time) => engine.delete(COUNTERS, { expires: { lt: time } }),
  };
}
