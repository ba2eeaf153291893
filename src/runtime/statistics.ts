import { isRecord } from "../model/json.ts";
import { type AuditEntry, addCall, type Statistics, statisticsFrom, type CallStats } from "../router/index.ts";
import type { Store } from "../store/index.ts";

/** Statistics of the calls of each method, including those of earlier runtimes on the same store. */
export interface LastingStatistics {
  /** Does nothing after the end: a call may outlive its runtime. */
  add(entry: AuditEntry): void;
  /** By path. */
  all(): Promise<ReadonlyMap<string, Statistics>>;
  /** Writes what is not written yet. */
  close(): Promise<void>;
}

/** Interval between writes of the counts; they are written at the end, too. */
const WRITE_AFTER_MS = 10_000;

/** Durations of a method that are kept from one runtime to the next. */
const KEPT_DURATIONS = 200;

export function createLastingStatistics(store: Store, onFailure: (error: unknown) => void): LastingStatistics {
  const space = store.space("statistics");
  let tallies = new Map<string, CallStats>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  let last: Promise<void> = Promise.resolve();
  /** Writes after the writes that have begun, so that what was counted before is stored when it resolves. */
  function write(): Promise<void> {
    last = last.then(writeNow, writeNow);
    return last;
  }

  async function writeNow(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const counted = tallies;
    tallies = new Map();
    for (const [path, tally] of counted) await space.update(path, (stored) => merged(parseTally(stored), tally));
  }

  return {
    add(entry) {
      if (isClosed || entry.decision !== "allowed") return;
      tallies.set(entry.path, addCall(entry, tallies.get(entry.path)));
      timer ??= setTimeout(() => void write().catch(onFailure), WRITE_AFTER_MS).unref();
    },
    async all() {
      await write();
      const entries = await space.entries();
      return new Map(entries.map(([path, stored]) => [path, statisticsFrom(parseTally(stored))]));
    },
    close() {
      isClosed = true;
      return write().catch(onFailure); // a failed write must not keep a runtime from closing
    },
  };
}

/** Returns the paths of the methods that succeeded most often; none if the store cannot be read. */
export async function readUsedPaths(statistics: LastingStatistics): Promise<ReadonlySet<string>> {
  const all = await statistics.all().catch(() => new Map<string, Statistics>());
  const used = [...all].filter(([, { succeeded }]) => succeeded > 0);
  const sorted = used.toSorted(([a, one], [b, two]) => two.succeeded - one.succeeded || (a < b ? -1 : 1));
  return new Set(sorted.slice(0, MAX_USED_PATHS).map(([path]) => path));
}

const MAX_USED_PATHS = 50;

function merged(before: CallStats, now: CallStats): CallStats {
  return {
    succeeded: before.succeeded + now.succeeded,
    failed: before.failed + now.failed,
    totalMs: before.totalMs + now.totalMs,
    lastUsed: Math.max(before.lastUsed, now.lastUsed),
    durationsMs: [...before.durationsMs, ...now.durationsMs].slice(-KEPT_DURATIONS),
  };
}

/** Parses a stored value, which another version may have written, or which may be missing. */
function parseTally(stored: unknown): CallStats {
  const { succeeded, failed, totalMs, lastUsed, durationsMs } = isRecord(stored) ? stored : {};
  return {
    succeeded: toNumber(succeeded),
    failed: toNumber(failed),
    totalMs: toNumber(totalMs),
    lastUsed: toNumber(lastUsed),
    durationsMs: Array.isArray(durationsMs) ? durationsMs.map(toNumber) : [],
  };
}

function toNumber(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
