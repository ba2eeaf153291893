import type { AuditStore } from "../audit/audit-store.ts";
import { APPROVALS } from "../tables/approvals.ts";
import { pruneOccurrences } from "../tables/deliveries.ts";
import { COUNTERS } from "../tables/counters.ts";
import { pruneSpaces } from "../tables/program-values.ts";
import { createRunTable } from "../tables/runs.ts";
import type { StoreEngine } from "./table.ts";

/** Days after which records are deleted. */
export interface Retention {
  readonly auditDays: number;
  /** Applies to questions with an answer, and to those that have expired. */
  readonly approvalDays: number;
  /** Counts from the end of a run, or of an occurrence of an automation. */
  readonly runDays: number;
}

/** Numbers of deleted records. */
export interface SweepResult {
  readonly audit: number;
  readonly approvals: number;
  readonly counters: number;
  readonly runs: number;
  readonly occurrences: number;
}

const DAY_MS = 86_400_000;
/** Limits on the audit records of one step, which blocks other writers, and on the steps of one sweep. */
const STEP_ROWS = 2_000;
const MAX_STEPS = 500;

/** Deletes the records that are too old, at most a million audit records at a time. */
export async function sweep(
  engine: StoreEngine,
  audit: Pick<AuditStore, "prune">,
  { auditDays, approvalDays, runDays }: Retention,
  now: number,
): Promise<SweepResult> {
  let pruned = 0;
  for (let step = 0; step < MAX_STEPS; step++) {
    const deleted = await audit.prune(now - auditDays * DAY_MS, STEP_ROWS);
    pruned += deleted;
    if (deleted === 0) break;
  }
  const approvals = await engine.delete(APPROVALS, { expires: { lt: now - approvalDays * DAY_MS } });
  const counters = await engine.delete(COUNTERS, { expires: { lt: now } });
  const runs = await createRunTable(engine).prune(now - runDays * DAY_MS);
  const occurrences = await pruneOccurrences(engine, { time: now - runDays * DAY_MS, now });
  await pruneSpaces(engine, now - runDays * DAY_MS);
  return { audit: pruned, approvals, counters, runs, occurrences };
}
