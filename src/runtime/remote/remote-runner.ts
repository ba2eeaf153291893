import { randomUUID } from "node:crypto";

import { cancellableBy } from "../../../sandbox/index.ts";
import { createError } from "../../errors.ts";
import type { ExecutorPool } from "../../executors/index.ts";
import { OWNER } from "../../model/caller.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { RunOptions } from "../../runtime.ts";
import { createCancelledOutcome } from "../execution/runs.ts";
import { createRunInput } from "../../shared/json/run-input.ts";
import type { RuntimeParts } from "../api/parts.ts";
import type { RuntimeServices } from "../services.ts";
import { executeJob } from "./execute-job.ts";
import { createRunFollower, type FollowedRun } from "./follow-run.ts";

/** A program that ends its executor each time is not executed for ever. */
const MAX_EXECUTIONS = 3;

/** Creates the function that lets executors run programs. */
export function createRemoteRunner(
  parts: RuntimeParts,
  services: RuntimeServices,
  executors: ExecutorPool,
): (source: string, options: RunOptions) => Promise<Outcome> {
  const remote = { services, executors, open: () => parts.database.open() };
  const follower = createRunFollower(remote);

  /** Continues a run whose executor has gone: by its record if it has one, else from its beginning. */
  async function recover(runId: string, process: string, run: FollowedRun): Promise<Outcome | "again"> {
    if (await follower.release(runId, process)) return follower.follow(runId, run);
    // A run writes its record before its first effect.
    if (parts.settings.runs.record !== "off") return "again";
    const why = `${process}; its runs are not recorded, and whether the program had an effect is unknown`;
    throw createError("EXECUTOR_GONE", why);
  }

  return async (source, options) => {
    const {
      caller = OWNER,
      limits,
      signal,
      observer,
      approve,
      asksForEffects,
      continue: previous,
      again,
      reuse,
      input,
      inputSchema,
      isForeignInput = false,
      automation,
    } = options;
    const runId = options.runId ?? randomUUID();
    const cancellable = signal === undefined || "onCancel" in signal ? signal : cancellableBy(signal);
    const run = { caller, cancellable, observer, approve: approve || undefined, isOwn: true };
    const job = {
      kind: "run",
      runId,
      source,
      ...(limits !== undefined && { limits }),
      ...(previous !== undefined && { continue: previous }),
      ...(again !== undefined && { again }),
      ...(reuse !== undefined && { reuse }),
      ...(asksForEffects === true && { asksForEffects }),
      ...(input !== undefined && { input: createRunInput(input, isForeignInput).value, isForeignInput }),
      ...(inputSchema !== undefined && { inputSchema }),
      ...(automation !== undefined && { automation }),
    } as const;
    for (let executions = 1; ; executions++) {
      const end = await executeJob(job, run, remote);
      if (end.kind === "outcome") return end.outcome;
      if (end.kind === "cancelled") return createCancelledOutcome(runId);
      if (end.kind === "left") return follower.follow(runId, run);
      if (end.kind === "offline") return follower.waitForEnd(runId, run);
      const recovered = await recover(runId, end.process, run);
      if (recovered !== "again") return recovered;
      if (executions === MAX_EXECUTIONS) throw createError("EXECUTOR_GONE", `${executions} executors have ${end.why}`);
    }
  };
}
