import { isRecord } from "../model/json.ts";
import { type AuditEntry, addCall, type Statistics, statisticsFrom, type CallStats } from "../router/index.ts";
import type { Store } from "../store/index.ts";

/** How the calls of each method went, those of earlier runtimes on the same store included (X6). */
export interface LastingStatistics {
  add(entry: AuditEntry): void;
  /** By path. */
  all(): Promise<ReadonlyMap<string, Statistics>>;
  /** Writes what is not written yet. */
  close(): Promise<void>;
}

/** What was counted is written now and then, and at the end. */
const WRITE_AFTER_MS = 10_000;

/** How many durations of a method are kept from one runtime to the next. */
const KEPT_DURATIONS = 200;

export function createLastingStatistics(store: Store, onFailure: (error: unknown) => void): LastingStatistics {
  const space = store.space("statistics");
  let tallies = new Map<string, CallStats>();
  let timer: NodeJS.Timeout | undefined;

  async function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const counted = tallies;
    tallies = new Map();
    for (const [path, tally] of counted) await space.update(path, (kept) => merged(parseTally(kept), tally));
  }

  return {
    add(entry) {
      if (entry.decision !== "allowed") return;
      tallies.set(entry.path, addCall(entry, tallies.get(entry.path)));
      timer ??= setTimeout(() => void write().catch(onFailure), WRITE_AFTER_MS).unref();
    },
    async all() {
      await write();
      const entries = await space.entries();
      return new Map(entries.map(([path, kept]) => [path, statisticsFrom(parseTally(kept))]));
    },
    // That nothing can be written is no reason for a runtime not to close.
    close: () => write().catch(onFailure),
  };
}

function merged(before: CallStats, now: CallStats): CallStats {
  return {
    succeeded: before.succeeded + now.succeeded,
    failed: before.failed + now.failed,
    totalMs: before.totalMs + now.totalMs,
    lastUsed: Math.max(before.lastUsed, now.lastUsed),
    durationsMs: [...before.durationsMs, ...now.durationsMs].slice(-KEPT_DURATIONS),
  };
}

/** What the store holds may come from another version, or from nobody. */
function parseTally(kept: unknown): CallStats {
  const { succeeded, failed, totalMs, lastUsed, durationsMs } = isRecord(kept) ? kept : {};
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
