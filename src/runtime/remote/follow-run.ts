import { createError, SkillgateError } from "../../errors.ts";
import type { Outcome } from "../../model/outcome.ts";
import { readRunRecord, restoreOutcome } from "../../runs/index.ts";
import { type Database, type RunRow, waitForChange } from "../../store/index.ts";
import { describeWaiting } from "../execution/execute-recorded.ts";
import { createCancelledOutcome } from "../execution/runs.ts";
import { executeJob, type RemoteRun, type RemoteServices } from "./execute-job.ts";

/** Follows recorded runs that executors execute. */
export interface RunFollower {
  /** Ends the claim of a process that has gone. Returns false if the run is not recorded. */
  release(runId: string, process: string): Promise<boolean>;
  /**
   * Resolves to the outcome of a run, or to that it waits for a person. Lets an executor continue it when no process executes
   * it.
   */
  follow(runId: string, run: FollowedRun): Promise<Outcome>;
  /** Resolves to the outcome of a run that ends soon. Rejects with `EXECUTORS_OFFLINE` if it does not, or is not recorded. */
  waitForEnd(runId: string, run: Pick<FollowedRun, "caller">): Promise<Outcome>;
}

export interface FollowedRun extends RemoteRun {
  readonly acceptsChanges?: boolean;
  /** True for the caller that began the run: its cancellation ends the run, and not only the wait for it. */
  readonly isOwn?: boolean;
}

/** The time in which the run of an executor without a connection is cancelled. */
const END_MS = 5_000;

export function createRunFollower(remote: RemoteServices): RunFollower {
  const { open, executors, services } = remote;
  const { claims, holdMs, released } = services.records;

  async function resume(runId: string, { acceptsChanges = false, ...run }: FollowedRun): Promise<Outcome | undefined> {
    try {
      const end = await executeJob({ kind: "resume", runId, acceptsChanges }, run, remote);
      if (end.kind === "gone") await release(runId, end.process);
      if (end.kind === "offline") return await waitForEnd(runId, run);
      return end.kind === "outcome" ? end.outcome : undefined;
    } catch (error) {
      // Another executor has claimed it in the meantime.
      if (error instanceof SkillgateError && error.code === "RUN_BUSY") return undefined;
      throw error;
    }
  }

  async function release(runId: string, process: string): Promise<boolean> {
    const { runs } = await open();
    const row = await runs.get(runId);
    if (row?.ended === null) await runs.release(runId, process);
    return row !== undefined;
  }

  async function waitForEnd(runId: string, run: Pick<FollowedRun, "caller">): Promise<Outcome> {
    const until = performance.now() + END_MS;
    for (;;) {
      const found = await findRun(runId, await open());
      if (found?.outcome !== undefined) return found.outcome;
      if (found?.row.state === "waiting") return describeOpen(runId, run, await open());
      if (found === undefined || performance.now() > until) {
        const says = `the connection was interrupted while run ${runId} was executed`;
        throw createError("EXECUTORS_OFFLINE", says);
      }
      await waitForChange(await open());
    }
  }

  return {
    release,
    waitForEnd,
    async follow(runId, run) {
      const until = performance.now() + holdMs;
      for (;;) {
        const found = await findRun(runId, await open());
        if (found?.outcome !== undefined) return found.outcome;
        if (found === undefined) throw createError("RUN_NOT_FOUND", `run ${runId} is not in the store any more`);
        const { row } = found;
        if (row.state === "waiting" && released.isCancelled) return describeOpen(runId, run, await open());
        const isCancelled = run.cancellable?.isCancelled === true;
        if (!isCancelled && (await claims.findFree([row])).has(row)) {
          const outcome = await resume(runId, run);
          if (outcome !== undefined) return outcome;
        } else if (isCancelled) {
          if (run.isOwn !== true) return describeOpen(runId, run, await open());
          if (row.claimedBy === null || !executors.cancelRun(row.claimedBy, runId))
            return createCancelledOutcome(runId);
          await waitForChange(await open());
        } else if (row.state === "waiting" && performance.now() >= until) return describeOpen(runId, run, await open());
        else await waitForChange(await open(), run.cancellable, released);
      }
    },
  };
}

interface FoundRun {
  readonly row: RunRow;
  /** Missing for a run that has not ended. */
  readonly outcome: Outcome | undefined;
}

async function findRun(runId: string, { runs }: Database): Promise<FoundRun | undefined> {
  const row = await runs.get(runId);
  if (row === undefined || row.ended === null) return row && { row, outcome: undefined };
  const { outcome } = await readRunRecord(runId, await runs.entries(runId));
  return { row, outcome: outcome === undefined ? createCancelledOutcome(runId) : restoreOutcome(outcome) };
}

/** Describes a run that waits for a person. */
async function describeOpen(
  runId: string,
  { caller }: Pick<FollowedRun, "caller">,
  { approvals }: Database,
): Promise<Outcome> {
  const questions = await approvals.listOfRun(runId);
  return describeWaiting(
    runId,
    questions.filter(({ state }) => state === "pending"),
    caller,
  );
}
