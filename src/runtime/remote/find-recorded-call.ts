import { createError, type SkillgateError } from "../../errors.ts";
import type { FrontCall } from "../../executors/index.ts";
import type { Caller } from "../../model/caller.ts";
import { readRunRecord, type RunRecord } from "../../runs/index.ts";
import { hashValue } from "../../shared/digest.ts";
import type { Database } from "../../store/index.ts";

/** A call of another machine that the record of its run has. */
export interface CallOfRun {
  /** The caller of the run, with the rights that it had when it began. */
  readonly caller: Caller;
}

interface CheckedCall {
  readonly sent: FrontCall;
  /** The arguments by name. */
  readonly input: unknown;
  /** True for a method of a saved program, which calls other methods. */
  readonly isSaved: (path: string) => boolean;
}

/**
 * Finds the call of another machine in the record of its run. Each machine of the network can ask for calls, and only executors write the
 * store: throws `ACCOUNT_UNAVAILABLE` for a call that no run has made just now, of this caller, this method and these arguments.
 */
export async function findRecordedCall(database: Pick<Database, "runs">, call: CheckedCall): Promise<CallOfRun> {
  const { runId } = call.sent.within ?? call.sent;
  const row = await database.runs.get(runId);
  if (row === undefined)
    throw refuse(
      call,
      "the store of this server has no record of its run; executors and servers need one store, and runs.record must not be off",
    );
  if (row.ended !== null || row.claimedBy === null) throw refuse(call, "no process executes its run");
  const record = await readRunRecord(runId, await database.runs.entries(runId));
  const { caller } = record.header;
  if (row.caller !== call.sent.caller.id || caller.id !== row.caller)
    throw refuse(call, "its run is of another caller");
  const flaw = findFlaw(record.calls.get((call.sent.within ?? call.sent).id), call);
  if (flaw !== undefined) throw refuse(call, flaw);
  return { caller };
}

type StoredCalls = RunRecord["calls"];

function findFlaw(recorded: ReturnType<StoredCalls["get"]>, { sent, input, isSaved }: CheckedCall): string | undefined {
  if (recorded?.state !== "begun") return "the record of its run does not have it as a call under way";
  if (sent.within !== undefined)
    return isSaved(recorded.path) ? undefined : "the call of its run is not that of a saved program";
  if (recorded.path !== sent.path) return "the record of its run has another method";
  return recorded.digest === hashValue(input) ? undefined : "the record of its run has other arguments";
}

function refuse({ sent }: CheckedCall, why: string): SkillgateError {
  const says = `${sent.path} is not called for another machine: ${why}`;
  return createError("ACCOUNT_UNAVAILABLE", says);
}
