import { waitForChange } from "../../store/index.ts";
import { cancellableBy } from "../../../sandbox/index.ts";
import { SkillgateError } from "../../errors.ts";
import { requireCaller } from "../../model/caller.ts";
import type { ExecutorPool } from "../../executors/index.ts";
import type { RuntimeParts } from "../api/parts.ts";
import type { Runs } from "../execution/runs.ts";
import { requireMayChange } from "../execution/rights/view-run.ts";
import type { RuntimeServices } from "../services.ts";
import { createRunFollower } from "./follow-run.ts";

/** The time in which an executor ends a run that is cancelled. */
const CANCEL_MS = 10_000;

/** The recorded runs of a runtime whose runs are executed by executors: they continue and cancel them. */
export function createRemoteRuns(
  runs: Runs,
  {
    parts,
    services,
    executors,
  }: { readonly parts: RuntimeParts; readonly services: RuntimeServices; readonly executors: ExecutorPool },
): Runs {
  const open = (): ReturnType<RuntimeParts["database"]["open"]> => parts.database.open();
  const follower = createRunFollower({ services, executors, open });

  /** Asks the executor that has claimed a run to end it. */
  async function cancelAtExecutor(id: string, error: unknown): Promise<void> {
    const isBusy = error instanceof SkillgateError && error.code === "RUN_BUSY";
    const database = await open();
    const row = await database.runs.get(id);
    if (!isBusy || row?.claimedBy == null || !executors.cancelRun(row.claimedBy, id)) throw error;
    const until = performance.now() + CANCEL_MS;
    while ((await database.runs.get(id))?.ended === null) {
      if (performance.now() > until) throw error;
      await waitForChange(database);
    }
  }

  return {
    ...runs,
    async resume(id, { caller, signal, observer, approve, acceptsChanges } = {}) {
      const { header } = await runs.record(id, caller === undefined ? {} : { caller });
      requireMayChange(requireCaller(caller), { caller: header.caller.id });
      const outcome = await follower.follow(id, {
        // The own caller may come with a newer token than the recorded one.
        caller: caller?.id === header.caller.id ? caller : header.caller,
        observer,
        approve: approve || undefined,
        cancellable: signal === undefined || "onCancel" in signal ? signal : cancellableBy(signal),
        ...(acceptsChanges !== undefined && { acceptsChanges }),
      });
      parts.events.emit("run", outcome, { caller: header.caller.id });
      return outcome;
    },
    cancel: (id, options) => runs.cancel(id, options).catch((error: unknown) => cancelAtExecutor(id, error)),
    // Executors continue the runs of processes that have ended.
    follow: async () => () => {},
    settle: async () => {},
  };
}
