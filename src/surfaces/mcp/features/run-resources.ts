import type { Caller } from "../../../model/caller.ts";
import type { Runtime } from "../../../runtime.ts";
import { formatRecord, type SessionRuns } from "./session-runs.ts";

/** Number of runs listed; every stored run can be read. */
const LISTED_RUNS = 20;

/** Number of stored runs among which those of the caller are looked for. */
const SEARCHED_RUNS = 200;

/** Dependencies of reading and listing runs for one caller. */
export interface RunLibrary {
  readonly runtime: Runtime;
  readonly caller: Caller;
  readonly records: SessionRuns;
}

interface ListedRun {
  readonly runId: string;
  readonly kind: string;
  readonly time: string;
}

/** Lists the newest runs of a caller: those of this process, and the recorded ones, which outlive it. */
export async function listRuns({ runtime, caller, records }: RunLibrary): Promise<readonly ListedRun[]> {
  const stored = await runtime.runs.list({ caller, limit: SEARCHED_RUNS }).catch(() => []); // the store cannot be opened
  const own = stored.filter((run) => run.caller === caller.id);
  const runs = new Map<string, ListedRun>(records.of(caller).map((record) => [record.runId, record]));
  for (const { id, state, updated } of own) runs.set(id, { runId: id, kind: state, time: formatTime(updated) });
  return [...runs.values()].toSorted((a, b) => (a.time < b.time ? 1 : -1)).slice(0, LISTED_RUNS);
}

/** Returns the record of a run as JSON; `undefined` if the caller has no such run. */
export async function readRun(runId: string, library: RunLibrary): Promise<string | undefined> {
  const record = library.records.find(library.caller, runId);
  if (record !== undefined && record.kind !== "waiting") return record.json;
  return (await readStoredRun(runId, library).catch(() => undefined)) ?? record?.json; // not stored, or not readable
}

async function readStoredRun(runId: string, { runtime, caller }: RunLibrary): Promise<string | undefined> {
  const { runs } = runtime;
  const facts = await runs.get(runId, { caller });
  if (facts.caller !== caller.id) return undefined;
  const [outcome, { header }] = await Promise.all([runs.outcome(runId, { caller }), runs.record(runId, { caller })]);
  const kind = outcome?.kind ?? facts.state;
  const head = { runId, caller: caller.id, time: formatTime(facts.updated), kind };
  return formatRecord(head, runtime.secrets.maskText(header.source), outcome && runtime.secrets.maskValue(outcome));
}

function formatTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
