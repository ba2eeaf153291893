import type { Caller } from "../model/caller.ts";
import type { Limits } from "../model/limits.ts";
import type { Outcome } from "../model/outcome.ts";
import type { Program } from "../model/program.ts";
import { cutText, truncateText } from "../shared/format-text.ts";
import { setBounded } from "../shared/lru.ts";
import { VERSION } from "../shared/version.ts";
import { createRunComparison, type RunRow, type RunSorting } from "../store/index.ts";
import type { StoredOutcome } from "./header.ts";
import { createTitle, hashProgram } from "./record-writer.ts";
import { toRunStatus } from "./recorder.ts";
import type { RunRecord } from "./run-record.ts";
import { toStoredOutcome } from "./stored-outcome.ts";

/** A run that has ended without a record. */
export interface UnrecordedRun {
  readonly id: string;
  readonly source: string;
  readonly program: Pick<Program, "paths" | "readOnly">;
  readonly caller: Caller;
  readonly limits: Limits;
  /** In milliseconds since 1970. */
  readonly started: number;
  readonly outcome: Extract<Outcome, { readonly kind: "completed" | "failed" }>;
}

/** The newest runs that the store does not have, in memory: their programs and errors, without calls and results. */
export interface RecentRuns {
  add(run: UnrecordedRun): void;
  get(id: string): RecentRun | undefined;
  /** The newest first. */
  list(): readonly RecentRun[];
}

export interface RecentRun {
  /** Its size is 0. */
  readonly row: RunRow;
  readonly record: RunRecord;
}

const MAX_RUNS = 200;
/** UTF-16 units of a program and of the text of an error. */
const MAX_SOURCE_UNITS = 16_384;
const MAX_TEXT_UNITS = 4_000;

export function createRecentRuns(): RecentRuns {
  const runs = new Map<string, RecentRun>();
  return {
    add: (run) => setBounded(runs, [run.id, createRecentRun(run, Date.now())], MAX_RUNS),
    get: (id) => runs.get(id),
    list: () => [...runs.values()].toReversed(),
  };
}

function createRecentRun(
  { id, source, caller, limits, started, outcome, ...run }: UnrecordedRun,
  now: number,
): RecentRun {
  const { paths, readOnly } = run.program;
  const program = { code: "", paths, readOnly, waits: [], segments: [] };
  const text = cutText(source, MAX_SOURCE_UNITS);
  const header = { version: VERSION, source: text, program, notes: [], seed: "", caller, limits, methods: {} };
  const row: RunRow = {
    id,
    caller: caller.id,
    state: toRunStatus(outcome),
    title: createTitle(source),
    program: hashProgram(source),
    created: started,
    updated: now,
    ended: now,
    duration: Math.max(0, now - started),
    continues: null,
    calls: outcome.calls.length,
    effects: outcome.calls.filter(({ skill, method }) => !readOnly.includes(`${skill}.${method}`)).length,
    size: 0,
    claimedBy: null,
    attempts: 0,
  };
  const nothing = { calls: new Map(), accounts: {}, deliveries: [], events: [], nextSeq: 0, lastHash: "" };
  const used = { cpuMs: 0, wallMs: 0, prints: 0 };
  return { row, record: { header: { ...header, time: started }, used, outcome: cutOutcome(outcome), ...nothing } };
}

/** The value and the output may be large, and are in the hands of the caller. */
function cutOutcome(outcome: UnrecordedRun["outcome"]): StoredOutcome {
  const { runId, usage } = outcome;
  const rest = { runId, usage, output: "", notes: [], calls: [] };
  if (outcome.kind === "completed") return { kind: "completed", text: NOT_KEPT, ...rest };
  const { error, text } = outcome;
  return toStoredOutcome({ kind: "failed", error, text: truncateText(text, MAX_TEXT_UNITS), ...rest });
}

const NOT_KEPT = "The calls and the result of this run are not recorded. With runs.record: full, they are";

/** The rows of a list from `offset` on: the stored ones begin at `first`, and `recent` has all that are only in memory, in order. */
export function mergeRuns(
  stored: readonly RunRow[],
  recent: readonly RunRow[],
  { first, offset, limit, ...sorting }: RunSorting & Record<"first" | "offset" | "limit", number>,
): readonly RunRow[] {
  const compare = createRunComparison(sorting);
  const [newest] = stored;
  if (newest === undefined && first > 0) return [];
  // Those before the first stored row belong to an earlier part of the list.
  const earlier = first === 0 || newest === undefined ? 0 : recent.filter((row) => compare(row, newest) < 0).length;
  const merged = [...stored, ...recent.slice(earlier)].toSorted(compare);
  const begin = offset - first - earlier;
  return merged.slice(begin, begin + limit);
}
