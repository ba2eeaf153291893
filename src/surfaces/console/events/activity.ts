import type { Outcome } from "../../../model/outcome.ts";
import type { AuditEntry } from "../../../router/index.ts";
import type { RunFacts, Runtime } from "../../../runtime.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import type { ActivityMinutes, CallSummary, RunSummary, ServerSummary } from "../messages.ts";

/** The runs and calls of the last hour, in memory. */
export interface Activity {
  /** Counts what a caller may see. */
  countMinutes(view: RuntimeView): ActivityMinutes;
  /** The newest first. */
  listRuns(view: RuntimeView, limit: number): readonly RunSummary[];
  /** The newest calls of a method first. */
  listCalls(view: RuntimeView, path: string, limit: number): readonly CallSummary[];
  close(): void;
}

const MINUTE_MS = 60_000;
const MINUTES = 60;

/** Entries beyond this number count no longer, the oldest first. */
const MAX_ENTRIES = 50_000;

export function createActivity(
  { on }: Pick<Runtime, "on">,
  { now = Date.now, maxEntries = MAX_ENTRIES }: { readonly now?: () => number; readonly maxEntries?: number } = {},
): Activity {
  const runs = createRing<RunSummary>(maxEntries);
  const calls = createRing<CallSummary>(maxEntries);
  const stops = [
    on("run", (outcome, facts) => runs.add(summarizeRun(outcome, facts, now()))),
    on("call", (entry) => calls.add(summarizeCall(entry))),
  ];
  return {
    countMinutes: (view) =>
      countByMinute(
        runs.list().filter((run) => view.seesRun(run)),
        calls.list().filter((call) => view.seesCall(call)),
        now(),
      ),
    listRuns: (view, limit) =>
      runs
        .list()
        .filter((run) => view.seesRun(run))
        .slice(-limit)
        .toReversed(),
    listCalls: (view, path, limit) =>
      calls
        .list()
        .filter((call) => call.path === path && view.seesCall(call))
        .slice(-limit)
        .toReversed(),
    close() {
      for (const stop of stops) stop();
    },
  };
}

interface Ring<Entry> {
  add(entry: Entry): void;
  /** The oldest first. */
  list(): readonly Entry[];
}

/** Removes old entries in batches, which costs less than one by one. */
function createRing<Entry>(max: number): Ring<Entry> {
  let entries: Entry[] = [];
  return {
    add(entry) {
      entries.push(entry);
      if (entries.length >= max * 2) entries = entries.slice(-max);
    },
    list: () => entries.slice(-max),
  };
}

function countByMinute(runs: readonly RunSummary[], calls: readonly CallSummary[], now: number): ActivityMinutes {
  const first = Math.floor(now / MINUTE_MS) - MINUTES + 1;
  const indexes = Array.from({ length: MINUTES }, (_, index) => index);
  const runsBy = groupByMinute(runs, first);
  const callsBy = groupByMinute(calls, first);
  const durations = callsBy.map((each) => each.map(({ durationMs }) => durationMs).toSorted((a, b) => a - b));
  return {
    times: indexes.map((index) => (first + index) * MINUTE_MS),
    runs: runsBy.map((each) => each.length),
    failedRuns: runsBy.map((each) => each.filter(({ kind }) => kind === "failed" || kind === "refused").length),
    calls: callsBy.map((each) => each.length),
    failedCalls: callsBy.map((each) => each.filter(({ outcome }) => outcome !== "ok").length),
    medianMs: durations.map((sorted) => findQuantile(sorted, 0.5)),
    p95Ms: durations.map((sorted) => findQuantile(sorted, 0.95)),
  };
}

function groupByMinute<Entry extends { readonly time: number }>(
  entries: readonly Entry[],
  first: number,
): readonly (readonly Entry[])[] {
  const groups: Entry[][] = Array.from({ length: MINUTES }, () => []);
  for (const entry of entries) groups[Math.floor(entry.time / MINUTE_MS) - first]?.push(entry);
  return groups;
}

function findQuantile(sorted: readonly number[], part: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? null;
}

export function summarizeRun(outcome: Outcome, { caller }: RunFacts, time: number): RunSummary {
  const { kind, runId } = outcome;
  const usage = "usage" in outcome ? outcome.usage : undefined;
  return {
    runId,
    caller,
    kind,
    time,
    durationMs: usage?.wallMs ?? 0,
    calls: usage?.calls ?? 0,
    code: findErrorCode(outcome),
  };
}

function findErrorCode(outcome: Outcome): string | null {
  if (outcome.kind === "failed") return outcome.error.code;
  return outcome.kind === "refused" ? (outcome.violations[0]?.code ?? null) : null;
}

export function summarizeCall(entry: AuditEntry): CallSummary {
  const { runId, callId, caller, path, time, durationMs, outcome, code } = entry;
  return { runId, callId, caller, path, time, durationMs, outcome, code: code ?? null };
}

export function summarizeServer({
  name,
  skill,
  status,
  error,
  transport,
  toolCount,
}: Runtime["servers"][number]): ServerSummary {
  return { name, skill, status, error: error ?? null, transport, toolCount };
}
