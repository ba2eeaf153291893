import type { Caller } from "../../../model/caller.ts";
import { getValueJson } from "../../../shared/json/outcome-value.ts";
import type { Outcome } from "../../../model/outcome.ts";
import { toJson } from "../../../shared/values/value-encoding.ts";
import { truncateText } from "../../../shared/format-text.ts";

/** Maximum characters of a source, an output or a value in a record. */
const KEPT_CHARACTERS = 16_384;

const KEPT_RUNS = 200;

export interface SessionRun {
  readonly runId: string;
  readonly caller: string;
  /** End of the run, RFC 3339 in UTC. */
  readonly time: string;
  readonly kind: Outcome["kind"];
  /** The whole record as JSON. */
  readonly json: string;
}

/** Records of the newest runs, visible to their own caller only. */
export interface SessionRuns {
  add(caller: Caller, source: string, outcome: Outcome): void;
  /** Returns the records of a caller, newest first. */
  of(caller: Caller): readonly SessionRun[];
  find(caller: Caller, runId: string): SessionRun | undefined;
}

export function createSessionRuns(): SessionRuns {
  const records: SessionRun[] = [];
  const belongsTo = (caller: Caller) => (record: SessionRun) => record.caller === caller.id;
  return {
    add(caller, source, outcome) {
      const record = createRecord(caller, source, outcome);
      records.unshift(record);
      records.splice(KEPT_RUNS);
      // Serialize after the answer is sent, then release the outcome.
      setImmediate(() => record.json);
    },
    of: (caller) => records.filter(belongsTo(caller)),
    find: (caller, runId) => records.filter(belongsTo(caller)).find((record) => record.runId === runId),
  };
}

/** The beginning of a record. Times are RFC 3339 in UTC. */
interface RecordHead {
  readonly runId: string;
  readonly caller: string;
  readonly time: string;
  readonly kind: string;
}

/** Formats a record as JSON. A run that is executed or was cancelled has no outcome. */
export function formatRecord(head: RecordHead, source: string, outcome: Outcome | undefined): string {
  const summary = outcome === undefined ? {} : summarizeOutcome(outcome);
  return JSON.stringify({ ...head, source: truncateText(source, KEPT_CHARACTERS), ...summary });
}

function createRecord(caller: Caller, source: string, outcome: Outcome): SessionRun {
  const { runId, kind } = outcome;
  const time = new Date().toISOString();
  const head = { runId, caller: caller.id, time, kind };
  let record: string | Outcome = outcome;
  return {
    ...head,
    get json() {
      if (typeof record !== "string") record = formatRecord(head, source, record);
      return record;
    },
  };
}

function summarizeOutcome(outcome: Outcome): Readonly<Record<string, unknown>> {
  switch (outcome.kind) {
    case "completed": {
      const { output, notes, calls, usage } = outcome;
      const json = getValueJson(outcome) ?? toJson(outcome.value);
      const stored =
        json.length <= KEPT_CHARACTERS ? (JSON.parse(json) as unknown) : truncateText(json, KEPT_CHARACTERS);
      return { value: stored, output: truncateText(output, KEPT_CHARACTERS), notes, calls, usage };
    }
    case "refused":
      return { violations: outcome.violations.slice(0, 20) };
    case "waiting":
      return { approvals: outcome.approvals };
    case "failed": {
      const { error, output, calls, usage } = outcome;
      return { error, output: truncateText(output, KEPT_CHARACTERS), calls, usage };
    }
  }
}
