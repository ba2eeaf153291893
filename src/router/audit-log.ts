import type { ErrorCode } from "../errors.ts";
import type { Origin } from "../model/requests/origin.ts";
import type { CallRecord } from "../model/outcome.ts";

/** The record of one call: the decision and the outcome. Holds no argument values. */
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
  /** The error code of a refused or failed call. */
  readonly code?: ErrorCode;
  /** The key of the policy row that applied to the call, if one did. */
  readonly policyRow?: string;
  /** The parts of the arguments that came out of other methods, for a call of a sink; absent if there are none. */
  readonly origins?: readonly Origin[];
  /** The titles of the accounts with which the call makes requests; absent if there are none. */
  readonly accounts?: readonly string[];
  /** True if the answer came from the cache. */
  readonly cached: boolean;
  /** How often the provider was called; absent for once. */
  readonly attempts?: number;
  readonly durationMs: number;
}

/** Statistics of the calls of one method. Refused calls do not count. */
export interface Statistics {
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly averageMs: number;
  /** The 95th percentile of the newest calls. */
  readonly p95Ms: number;
  /** In milliseconds since 1970. */
  readonly lastUsed: number;
}

/** The newest entries, and statistics over all entries. */
export interface AuditLog {
  add(entry: AuditEntry): void;
  /** The oldest first. */
  entries(): readonly AuditEntry[];
  /** By path. */
  statistics(): ReadonlyMap<string, Statistics>;
}

/** Takes about 0.5 KB for each; the store has all of them. */
const MAX_ENTRIES = 1_000;

/** How many durations of a method are kept for its 95th percentile. */
const MAX_DURATIONS = 500;

export function createAuditLog(): AuditLog {
  const entries: AuditEntry[] = [];
  const tallies = new Map<string, CallStats>();
  return {
    add(entry) {
      entries.push(entry);
      // Drops entries in large steps: removing the first entry each time would move all others.
      if (entries.length >= 2 * MAX_ENTRIES) entries.splice(0, MAX_ENTRIES);
      if (entry.decision === "allowed") tallies.set(entry.path, addCall(entry, tallies.get(entry.path)));
    },
    entries: () => entries.slice(-MAX_ENTRIES),
    statistics: () => new Map([...tallies].map(([path, tally]) => [path, statisticsFrom(tally)])),
  };
}

/** Running totals of the calls of one method. */
export interface CallStats {
  succeeded: number;
  failed: number;
  totalMs: number;
  lastUsed: number;
  /** A ring buffer: each new duration replaces the oldest. */
  readonly durationsMs: number[];
}

/** Adds an allowed call to the totals of its method. */
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
