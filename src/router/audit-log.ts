import type { ErrorCode } from "../errors.ts";
import type { CallRecord } from "../model/outcome.ts";

/** What was decided about one call, and how it ended. Holds no value that was passed. */
export interface AuditEntry {
  /** When it ended, in milliseconds since 1970. */
  readonly time: number;
  readonly runId: string;
  readonly callId: number;
  /** Id of the caller. */
  readonly caller: string;
  /** `Skill.method`. */
  readonly path: string;
  readonly argumentsDigest: string;
  readonly decision: "allowed" | "refused";
  readonly outcome: CallRecord["outcome"];
  /** Why it was refused or failed. */
  readonly code?: ErrorCode;
  /** The answer came from the cache. */
  readonly cached: boolean;
  readonly durationMs: number;
}

/** How the calls of one method went, refused ones not counted (X6). */
export interface Statistics {
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly averageMs: number;
  /** Of the newest calls. */
  readonly p95Ms: number;
  /** In milliseconds since 1970. */
  readonly lastUsed: number;
}

/** The newest entries, and what all of them add up to. */
export interface AuditLog {
  add(entry: AuditEntry): void;
  /** The oldest first. */
  entries(): readonly AuditEntry[];
  /** By path. */
  statistics(): ReadonlyMap<string, Statistics>;
}

const MAX_ENTRIES = 10_000;

/** How many durations of a method are kept for its 95th percentile. */
const MAX_DURATIONS = 500;

export function createAuditLog(): AuditLog {
  const entries: AuditEntry[] = [];
  const tallies = new Map<string, CallStats>();
  return {
    add(entry) {
      entries.push(entry);
      // In large steps: taking off the first of many, each time, would move all the others.
      if (entries.length >= 2 * MAX_ENTRIES) entries.splice(0, MAX_ENTRIES);
      if (entry.decision === "allowed") tallies.set(entry.path, addCall(entry, tallies.get(entry.path)));
    },
    entries: () => entries.slice(-MAX_ENTRIES),
    statistics: () => new Map([...tallies].map(([path, tally]) => [path, statisticsFrom(tally)])),
  };
}

/** What the calls of one method add up to. */
export interface CallStats {
  succeeded: number;
  failed: number;
  totalMs: number;
  lastUsed: number;
  /** The newest, each in place of the oldest. */
  readonly durationsMs: number[];
}

/** Adds a call that was allowed to what the calls before it add up to. */
export function addCall(
  { outcome, durationMs, time }: AuditEntry,
  tally: CallStats = { succeeded: 0, failed: 0, totalMs: 0, lastUsed: 0, durationsMs: [] },
): CallStats {
  tally.durationsMs[(tally.succeeded + tally.failed) % MAX_DURATIONS] = durationMs;
  tally[outcome === "ok" ? "succeeded" : "failed"]++;
  tally.totalMs += durationMs;
  tally.lastUsed = time;
  return tally;
}

export function statisticsFrom({ succeeded, failed, totalMs, lastUsed, durationsMs }: CallStats): Statistics {
  const total = succeeded + failed;
  const sorted = durationsMs.toSorted((a, b) => a - b);
  const p95Ms = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0;
  return { total, succeeded, failed, averageMs: totalMs / total, p95Ms, lastUsed };
}
