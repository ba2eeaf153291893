import type { RuntimeView } from "../../../runtime/api/view.ts";
import { formatRecord, type SessionRuns } from "./session-runs.ts";

/** Number of runs listed; every stored run can be read. */
const LISTED_RUNS = 20;

/** Number of stored runs among which those of the caller are looked for. */
const SEARCHED_RUNS = 200;

/** Dependencies of reading and listing runs for one caller. */
export interface RunLibrary {
  readonly view: RuntimeView;
  readonly records: SessionRuns;
}

interface ListedRun {
  readonly runId: string;
  readonly kind: string;
  readonly time: string;
}

/** Lists the newest runs of a caller: those of this process, and the recorded ones, which outlive it. */
export async function listRuns({ view, records }: RunLibrary): Promise<readonly ListedRun[]> {
  const stored = await view.runs.list({ runCaller: view.caller.id, limit: SEARCHED_RUNS }).catch(() => []); // the store cannot be opened
  const runs = new Map<string, ListedRun>(records.of(view.caller).map((record) => [record.runId, record]));
  for (const { id, state, updated } of stored) runs.set(id, { runId: id, kind: state, time: formatTime(updated) });
  return [...runs.values()].toSorted((a, b) => (a.time < b.time ? 1 : -1)).slice(0, LISTED_RUNS);
}

/** Returns the record of a run as JSON; `undefined` if the caller has no such run. */
export async function readRun(runId: string, library: RunLibrary): Promise<string | undefined> {
  const record = library.records.find(library.view.caller, runId);
  if (record !== undefined && record.kind !== "waiting") return record.json;
  return (await readStoredRun(runId, library).catch(() => undefined)) ?? record?.json; // not stored, or not readable
}

async function readStoredRun(runId: string, { view }: RunLibrary): Promise<string | undefined> {
  const { caller, secrets } = view;
  const { run, content } = await view.runs.show(runId);
  if (run.caller !== caller.id || content === undefined) return undefined;
  const { outcome, record } = content;
  const head = { runId, caller: caller.id, time: formatTime(run.updated), kind: outcome?.kind ?? run.state };
  return formatRecord(head, secrets.maskText(record.header.source), outcome && secrets.maskValue(outcome));
}

function formatTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
